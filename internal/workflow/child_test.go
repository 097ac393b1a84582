package workflow

import (
	"strings"
	"testing"

	"github.com/weirhq/weir"
)

const parentOfInner = `
name: outer
steps:
  - {key: first, service: s}
  - {key: sub, workflow: inner, needs: [first], params: {x: "{{ .needs.first.result }}"}}
  - {key: last, service: s, needs: [sub], params: {got: "{{ .needs.sub.result.steps.work.y }}"}}`

const inner = `
name: inner
params: {x: {type: integer}}
steps:
  - {key: work, service: t, params: {x: "{{ .params.x }}"}}`

// childOf returns the newest job of a step.
func (r *rig) childOf(job weir.ID, key string) weir.ID {
	id, err := weir.ParseID(r.text(`select coalesce((select id::text from weir.job where parent = $1 order by id desc limit 1), '')`, r.task(job, key)))
	if err != nil {
		r.Fatalf("%s has no job: %v\n%s", key, err, r.table())
	}
	return id
}

func TestASubWorkflowIsAStep(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put(inner)
	r.put(parentOfInner)
	r.does["first"], r.does["last"] = gives(7), echoes
	r.does["work"] = func(params map[string]any) (any, error) { return map[string]any{"y": params["x"].(float64) + 1}, nil }
	job := r.run("outer", nil)
	r.ends(job, "done", "first done, sub done, last done")
	if got := r.result(job, "last"); got != `{"got": 8}` {
		t.Errorf("last got %s", got)
	}
	child := r.childOf(job, "sub")
	if got := r.text(`select name || ' ' || state from weir.job where id = $1`, child); got != "inner done" {
		t.Errorf("the child is %s", got)
	}
}

func TestASubWorkflowThatFailsFailsItsStep(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put(inner)
	r.put(parentOfInner)
	r.does["first"] = gives(1)
	r.does["work"] = fails("boom")
	job := r.run("outer", nil)
	r.ends(job, "failed", "first done, sub failed, last skipped")
	if got := r.cause(job, "sub"); !containsAll(got, r.childOf(job, "sub").String(), "failed", "work: boom") {
		t.Errorf("cause %q", got)
	}
	// Another attempt makes another job.
	r.does["work"], r.does["last"] = gives(map[string]any{"y": 5}), echoes
	r.exec(`select weir.retry($1)`, r.task(job, "sub"))
	r.ends(job, "done", "first done, sub done, last done")
	if got := r.count(`select count(*) from weir.job where name = 'inner'`); got != 2 {
		t.Errorf("%d jobs of the inner workflow, want 2", got)
	}
}

func TestWhatASubWorkflowIsRefusedForFailsItsStep(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put(inner)
	r.put(parentOfInner)
	r.put("name: lonely\nsteps:\n  - {key: sub, workflow: nobody}")
	r.does["first"] = gives("not a number")
	job := r.run("outer", nil)
	r.ends(job, "failed", "first done, sub failed, last skipped")
	if got := r.cause(job, "sub"); !containsAll(got, "inner", "params.x") {
		t.Errorf("cause %q", got)
	}
	job = r.run("lonely", nil)
	r.ends(job, "failed", "sub failed")
	if got := r.cause(job, "sub"); !containsAll(got, "nobody") {
		t.Errorf("cause %q", got)
	}
}

func TestCancelingEitherSideOfASubWorkflow(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put("name: inner\nsteps:\n  - {key: work, service: nobody}")
	r.put("name: outer\nsteps:\n  - {key: sub, workflow: inner}")
	job := r.run("outer", nil)
	r.tick()
	child := r.childOf(job, "sub")
	r.exec(`select weir.cancel_job($1)`, job)
	r.ends(child, "canceled", "work canceled")
	r.ends(job, "canceled", "sub canceled")

	job = r.run("outer", nil)
	r.tick()
	r.exec(`select weir.cancel_job($1, 'ann', 'not today')`, r.childOf(job, "sub"))
	r.ends(job, "failed", "sub failed")
	if got := r.cause(job, "sub"); !containsAll(got, "was canceled", "not today") {
		t.Errorf("cause %q", got)
	}

	job = r.run("outer", nil)
	r.tick()
	child = r.childOf(job, "sub")
	r.exec(`select weir.skip($1, 'no need', 'ann')`, r.task(job, "sub"))
	r.ends(child, "canceled", "work canceled")
	r.ends(job, "done", "sub skipped")
}

func TestAWorkflowInsideItselfEnds(t *testing.T) {
	t.Parallel()
	for _, limit := range []string{"", "max_running: 1\n"} {
		r := newRig(t)
		r.put("name: loop\n" + limit + "steps:\n  - {key: again, workflow: loop, when: \"1 < 2\"}")
		job := r.run("loop", nil)
		r.ends(job, "failed", "again failed")
		if got := r.count(`select count(*) from weir.job where state = 'failed'`); got != depthMost {
			t.Errorf("%d jobs, want %d", got, depthMost)
		}
		deepest := r.text(`select cause from weir.task order by order_seq desc limit 1`)
		if !containsAll(deepest, "contain itself") {
			t.Errorf("cause %q", deepest)
		}
	}
}

func TestAMapOverAWorkflow(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put(inner)
	r.put("name: outer\nsteps:\n  - {key: each, workflow: inner, map: {over: [1, 2, 3], limit: 2}, params: {x: '{{ .item }}'}}")
	r.does["work"] = func(params map[string]any) (any, error) { return params["x"], nil }
	job := r.run("outer", nil)
	r.ends(job, "done", "each done, each[0] done, each[1] done, each[2] done")
	if got := r.text(`select string_agg(i -> 'steps' ->> 'work', ' ') from weir.task, jsonb_array_elements(result -> 'items') i where job = $1 and key = 'each'`, job); strings.Join(strings.Fields(got), " ") != "1 2 3" {
		t.Errorf("results %s", got)
	}
}
