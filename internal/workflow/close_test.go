package workflow

import (
	"strings"
	"testing"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/workflow/definition"
)

// ending is a workflow and how its job ends.
type ending struct {
	name, steps string
	does        works
	state       string
	tasks       string
	// check, if set, checks more.
	check func(r *rig, job weir.ID)
}

type works = map[string]func(map[string]any) (any, error)

// endings is every case.
var endings = []ending{
	{
		"done", `
  - {key: a, service: s}
  - {key: b, service: s, needs: [a]}`,
		nil, "done", "a done, b done", nil,
	},
	{
		"a step fails: what needs it is skipped", `
  - {key: a, service: s}
  - {key: b, service: s, needs: [a]}
  - {key: c, service: s, needs: [b]}
  - {key: d, service: s}`,
		works{"a": fails("boom")},
		"failed", "a failed, b skipped, c skipped, d done", nil,
	},
	{
		"when is false: dependents go on", `
  - {key: a, service: s, when: "params.x == 1"}
  - {key: b, service: s, needs: [a]}`,
		nil, "done", "a skipped, b done", nil,
	},
	{
		"all are skipped", `
  - {key: a, service: s, when: "false"}
  - {key: b, service: s, needs: [a], when: "false"}`,
		nil, "done", "a skipped, b skipped", nil,
	},
	{
		"when reads a result", `
  - {key: a, service: s}
  - {key: b, service: s, needs: [a], when: "needs.a.result.ok"}
  - {key: c, service: s, needs: [a], when: "not needs.a.result.ok"}`,
		works{"a": gives(map[string]any{"ok": true})},
		"done", "a done, b done, c skipped", nil,
	},
	{
		"a need that was skipped does not block for ever", `
  - {key: a, service: s}
  - {key: b, service: s, needs: [a]}
  - {key: c, service: s, needs: [b], rule: all_done, params: {was: "{{ .needs.b.state }}"}}`,
		works{"a": fails("boom"), "c": echoes},
		"failed", "a failed, b skipped, c done",
		func(r *rig, job weir.ID) {
			if got := r.result(job, "c"); got != `{"was": "skipped"}` {
				r.Errorf("c was told %s", got)
			}
		},
	},
	{
		"a failure handler runs", `
  - {key: a, service: s}
  - {key: b, service: s, needs: [a]}
  - {key: alarm, service: t, needs: [a, b], rule: one_failed, params: {why: "{{ .needs.a.error }}"}}`,
		works{"a": fails("boom"), "alarm": echoes},
		"failed", "a failed, b skipped, alarm done",
		func(r *rig, job weir.ID) {
			if got := r.result(job, "alarm"); got != `{"why": "boom"}` {
				r.Errorf("the handler was told %s", got)
			}
		},
	},
	{
		"a failure handler is skipped", `
  - {key: a, service: s}
  - {key: alarm, service: t, needs: [a], rule: one_failed}`,
		nil, "done", "a done, alarm skipped", nil,
	},
	{
		"an empty map", `
  - {key: a, service: s, map: {over: []}}
  - {key: b, service: s, needs: [a], params: {n: "{{ .needs.a.result.failed }}"}}`,
		nil, "done", "a done, b done", nil,
	},
	{
		"a template fails", `
  - {key: a, service: s}
  - {key: b, service: s, needs: [a], params: {x: "{{ .needs.a.result.file }}"}}
  - {key: c, service: s, needs: [b]}`,
		works{"a": gives(map[string]any{"files": 1})},
		"failed", "a done, b failed, c skipped",
		func(r *rig, job weir.ID) {
			if got := r.cause(job, "b"); !containsAll(got, "file", "files") {
				r.Errorf("cause: %s", got)
			}
		},
	},
}

// A job fails with the error of the task that failed it, whatever was repaired before or
// after.
func TestAJobFailsWithTheErrorOfItsTask(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put(`
name: w
steps:
  - {key: z, service: s}
  - {key: m, service: s, map: {over: [1, 2], tolerate: 1}, params: {x: "{{ .item }}"}}
  - {key: a, service: s, needs: [m]}
  - {key: after, service: s, needs: [a, z]}`)
	r.does["z"], r.does["m[1]"], r.does["a"] = fails("boom"), fails("tolerable"), fails("later")
	job := r.run("w", nil)
	cause := func() string { return r.text(`select coalesce(cause, 'none') from weir.job where id = $1`, job) }
	r.ends(job, "failed", "z failed, m done, a failed, after skipped, m[0] done, m[1] skipped")
	if got := cause(); got != "z: boom" {
		t.Errorf("the job failed because of %s", got)
	}
	delete(r.does, "z")
	r.exec(`select weir.retry($1)`, r.task(job, "z"))
	r.ends(job, "failed", "z done, m done, a failed, after skipped, m[0] done, m[1] skipped")
	if got := cause(); got != "a: later" {
		t.Errorf("the job failed because of %s", got)
	}
	delete(r.does, "a")
	r.exec(`select weir.retry_job($1)`, job)
	r.ends(job, "done", "z done, m done, a done, after done, m[0] done, m[1] skipped")
	if got := cause(); got != "none" {
		t.Errorf("the job is done in spite of %s", got)
	}
}

func TestJobsEnd(t *testing.T) {
	t.Parallel()
	for _, c := range endings {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			r.put("name: w\nparams: {x: {type: integer, default: 0}}\nsteps:" + c.steps)
			if c.does != nil {
				r.does = c.does
			}
			job := r.run("w", nil)
			r.ends(job, c.state, c.tasks)
			if c.check != nil {
				c.check(r, job)
			}
		})
	}
}

func TestACanceledJobEnds(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put(`
name: w
steps:
  - {key: a, service: s, approval: "ann must look"}
  - {key: b, service: s, needs: [a], params: {x: "{{ .needs.a.result }}"}}
  - {key: c, service: s, needs: [b], rule: all_done}`)
	job := r.run("w", nil)
	r.tick()
	r.exec(`select weir.cancel_job($1)`, job)
	r.ends(job, "canceled", "a canceled, b canceled, c canceled")
}

func TestAnApprovalHoldsAStep(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put(`
name: w
steps:
  - {key: build, service: s}
  - {key: deploy, service: s, needs: [build], approval: "release of {{ .needs.build.result.version }}"}
  - {key: plain, service: s, approval: somebody}`)
	r.does["build"] = gives(map[string]any{"version": "1.2"})
	job := r.run("w", nil)
	r.until("deploy is held", func() bool {
		return r.text(`select coalesce(string_agg(key || ': ' || hold, ', ' order by position), '') from weir.task where job = $1 and gate = 'hold'`, job) == "deploy: release of 1.2, plain: somebody"
	})
	for _, key := range []string{"deploy", "plain"} {
		r.exec(`select weir.release($1, 'ann')`, r.task(job, key))
	}
	r.ends(job, "done", "build done, deploy done, plain done")
}

func TestADelayIsWaited(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put(`
name: w
steps:
  - {key: a, service: s}
  - {key: b, service: s, needs: [a], delay: 300ms}`)
	job := r.run("w", nil)
	r.ends(job, "done", "a done, b done")
	if !scan[bool](r, `select b.started_at - a.finished_at >= interval '300 ms' from weir.task a, weir.task b where a.job = $1 and b.job = $1 and a.key = 'a' and b.key = 'b'`, job) {
		t.Error("b did not wait")
	}
}

func TestEveryServiceFollowsTheGlobalOrder(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put("name: w\nsteps:\n  - {key: a, service: s, params: {n: '{{ .params.n }}'}}\n  - {key: b, service: s, needs: [a], params: {n: '{{ .params.n }}', from: '{{ .needs.a.result }}'}}")
	var order []float64
	note := func(params map[string]any) (any, error) {
		order = append(order, params["n"].(float64))
		return nil, nil
	}
	r.does["a"], r.does["b"] = note, note
	first, second := r.run("w", map[string]any{"n": 1}), r.run("w", map[string]any{"n": 2})
	r.ends(first, "done", "a done, b done")
	r.ends(second, "done", "a done, b done")
	if order[0] != 1 || order[1] != 2 || order[2] != 1 || order[3] != 2 {
		t.Errorf("order %v", order)
	}
}

// The order of tasks that may start is priority, then the order of the jobs, then the
// position of the step in the file.
func TestPriorityComesBeforeTheOrder(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put(`
name: w
steps:
  - {key: z, service: s, params: {n: "{{ .params.n }}"}}
  - {key: y, service: s, params: {n: "{{ .params.n }}"}}
  - {key: x, service: s, priority: 9, params: {n: "{{ .params.n }}"}}
  - {key: w, service: s, priority: 0, params: {n: "{{ .params.n }}"}}`)
	urgent := 5
	first := r.run("w", map[string]any{"n": "first"})
	second, err := r.store.Run(t.Context(), RunRequest{Workflow: "w", Priority: &urgent, Options: definition.Options{Params: map[string]any{"n": "second"}}})
	if err != nil {
		t.Fatal(err)
	}
	third := r.run("w", map[string]any{"n": "third"})
	var order []string
	for _, key := range []string{"w", "x", "y", "z"} {
		r.does[key] = func(params map[string]any) (any, error) {
			order = append(order, params["n"].(string)+" "+key)
			return nil, nil
		}
	}
	for _, job := range []weir.ID{first, second, third} {
		r.ends(job, "done", "z done, y done, x done, w done")
	}
	want := "first x, second x, third x, second z, second y, first z, first y, first w, second w, third z, third y, third w"
	if got := strings.Join(order, ", "); got != want {
		t.Errorf("ran %s\nwant %s", got, want)
	}
}
