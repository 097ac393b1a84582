package workflow

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/workflow/definition"
)

func TestRerun(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		request RerunRequest
		ran     string
	}{
		{"all of it", RerunRequest{}, "a b d c"},
		{"from a step", RerunRequest{RerunBody: RerunBody{From: "b"}}, "b c"},
		{"only what failed", RerunRequest{RerunBody: RerunBody{Failed: true}}, "c"},
		{"from the first", RerunRequest{RerunBody: RerunBody{From: "a"}}, "a b d c"},
		{"from a step beside it", RerunRequest{RerunBody: RerunBody{From: "d"}}, "d c"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			r.put(`
name: w
steps:
  - {key: a, service: s}
  - {key: never, service: s, when: "false"}
  - {key: b, service: s, needs: [a, never]}
  - {key: d, service: s, needs: [a]}
  - {key: c, service: s, needs: [b, d], params: {b: "{{ .needs.b.result.n }}", x: "{{ .params.x }}"}}
  - {key: alarm, service: s, needs: [c], rule: one_failed}`)
			n := 0
			r.does["b"] = func(map[string]any) (any, error) { n++; return map[string]any{"n": n}, nil }
			r.does["c"] = fails("boom")
			old := r.run("w", map[string]any{"x": "kept"})
			r.ends(old, "failed", "a done, never skipped, b done, d done, c failed, alarm done")
			r.ran, r.does["c"] = nil, echoes
			c.request.By = "ann"
			job, _, err := r.store.Rerun(t.Context(), old, c.request)
			if err != nil {
				t.Fatal(err)
			}
			r.ends(job, "done", "a done, never skipped, b done, d done, c done, alarm skipped")
			if got := strings.Join(r.ran, " "); got != c.ran {
				t.Errorf("ran %s, want %s", got, c.ran)
			}
			want := `{"b": 1, "x": "kept"}`
			if strings.Contains(c.ran, "b") {
				want = `{"b": 2, "x": "kept"}`
			}
			if got := r.result(job, "c"); got != want {
				t.Errorf("c got %s, want %s", got, want)
			}
			if got := r.text(`select origin::text || ' ' || (options ->> 'by') from weir.job where id = $1`, job); got != old.String()+" ann" {
				t.Errorf("origin and asker: %s", got)
			}
		})
	}
}

// mapped is a map whose list may come from a step before it.
const mapped = `
name: w
steps:
  - {key: first, service: s}
  - {key: scan, service: s, needs: [first]}
  - {key: m, service: s, needs: [scan], rule: all_done, map: {over: "needs.scan.result?.files ?? [\"a\", \"b\", \"c\"]", limit: 2}, params: {file: "{{ .item }}", job: "{{ .job.id }}"}}
  - {key: join, service: t, needs: [m, scan], params: {all: "{{ .needs.m.items }}"}}`

func TestRerunOfAMap(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		request    RerunRequest
		// scan returns its list only in the second run, if at all.
		scan []string
		ran  string
	}{
		{"what failed", mapped, RerunRequest{RerunBody: RerunBody{Failed: true}}, nil, "m[1] join"},
		{"what failed, and the same list again", mapped, RerunRequest{RerunBody: RerunBody{Failed: true}}, []string{"a", "b", "c"}, "scan m[1] join"},
		{"another list", mapped, RerunRequest{RerunBody: RerunBody{Failed: true}}, []string{"a", "b", "d"}, "scan m[0] m[1] m[2] join"},
		{"a shorter list", mapped, RerunRequest{RerunBody: RerunBody{Failed: true}}, []string{"a", "b"}, "scan m[0] m[1] join"},
		{"from a step before it", mapped, RerunRequest{RerunBody: RerunBody{From: "scan"}}, nil, "scan m[0] m[1] m[2] join"},
		{"from the map", mapped, RerunRequest{RerunBody: RerunBody{From: "m"}}, nil, "m[0] m[1] m[2] join"},
		{"from a step after it", mapped, RerunRequest{RerunBody: RerunBody{From: "join"}}, nil, "m[1] join"},
		{"files of a step that ran again", strings.Replace(mapped, "rule: all_done", "rule: all_done, inputs: [scan]", 1), RerunRequest{RerunBody: RerunBody{Failed: true}}, []string{"a", "b", "c"}, "scan m[0] m[1] m[2] join"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			r.put(c.text)
			bad := true
			r.does["m"] = func(params map[string]any) (any, error) {
				if bad && params["file"] == "b" {
					return nil, errors.New("boom")
				}
				return params["file"].(string) + "!", nil
			}
			r.does["join"] = echoes
			if c.scan != nil {
				r.does["scan"] = fails("no list")
			}
			old := r.run("w", nil)
			r.until("it failed", func() bool { return r.text(`select state from weir.job where id = $1`, old) == "failed" })
			if got := r.states(old); !containsAll(got, "m failed", "m[0] done", "m[1] failed", "m[2] done") {
				t.Fatal(got)
			}
			r.ran, bad = nil, false
			list := []string{"a", "b", "c"}
			if c.scan != nil {
				list, r.does["scan"] = c.scan, gives(map[string]any{"files": c.scan})
			}
			job, _, err := r.store.Rerun(t.Context(), old, c.request)
			if err != nil {
				t.Fatal(err)
			}
			r.until("it is done", func() bool { return r.text(`select state from weir.job where id = $1`, job) == "done" })
			if got := strings.Join(r.ran, " "); got != c.ran {
				t.Errorf("ran %s, want %s", got, c.ran)
			}
			want := `{"all": ["` + strings.Join(list, `!", "`) + `!"]}`
			if got := r.result(job, "join"); got != want {
				t.Errorf("join got %s, want %s", got, want)
			}
			if got := r.count(`select count(*) from weir.pools`); got != 0 {
				t.Errorf("%d pools are left", got)
			}
		})
	}
}

// The files of items that did not run again are where they were made, two jobs back if
// necessary.
func TestFilesOfReusedItemsAreInputs(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put(`
name: w
steps:
  - {key: one, service: s}
  - {key: m, service: s, needs: [one], map: {over: [a, b, c]}, params: {x: "{{ .item }}"}}
  - {key: join, service: s, needs: [m], inputs: [m, one], run: {driver: func}}`)
	r.node = "pc1"
	var got string
	r.holds = func(l lease) {
		r.exec(`select weir.record_artifact($1, $2, $3, 'output', 'out', 'b', $4 || ' of ' || (select job from weir.tasks where id = $1), 1)`, l.task, l.attempt, l.token, l.key)
		if l.key == "join" {
			got = r.text(`select string_agg(step || ' is ' || object, ', ' order by step) from weir.inputs('pc1', $1, $2, $3)`, l.task, l.attempt, l.token)
		}
	}
	bad := "bc"
	r.does["m"] = func(params map[string]any) (any, error) {
		if strings.Contains(bad, params["x"].(string)) {
			return nil, errors.New("boom")
		}
		return nil, nil
	}
	first := r.run("w", nil)
	r.ends(first, "failed", "one done, m failed, join skipped, m[0] done, m[1] failed, m[2] failed")
	again := func(job weir.ID) weir.ID {
		t.Helper()
		next, _, err := r.store.Rerun(t.Context(), job, RerunRequest{RerunBody: RerunBody{Failed: true}})
		if err != nil {
			t.Fatal(err)
		}
		return next
	}
	bad = "c"
	second := again(first)
	r.ends(second, "failed", "one done, m failed, join skipped, m[0] done, m[1] done, m[2] failed")
	bad = ""
	third := again(second)
	r.ends(third, "done", "one done, m done, join done, m[0] done, m[1] done, m[2] done")
	want := fmt.Sprintf("m[0] is m[0] of %s, m[1] is m[1] of %s, m[2] is m[2] of %s, one is one of %s", first, second, third, first)
	if got != want {
		t.Errorf("join was given\n%s, want\n%s", got, want)
	}
	if ran := strings.Join(r.ran, " "); ran != "one m[0] m[1] m[2] m[1] m[2] m[2] join" {
		t.Errorf("ran %s", ran)
	}
	// If the step runs again as a whole, the files are its own.
	fourth, _, err := r.store.Rerun(t.Context(), third, RerunRequest{RerunBody: RerunBody{From: "join"}})
	if err != nil {
		t.Fatal(err)
	}
	r.ends(fourth, "done", "one done, m done, join done")
	if got != want {
		t.Errorf("join was given\n%s, want\n%s", got, want)
	}
}

func TestAReusedStepStillHasItsNode(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put("name: w\nsteps:\n  - {key: a, service: s}\n  - {key: b, service: s, needs: [a], sticky: {to: a, hard: true}, params: {on: '{{ .needs.a.node }}'}}")
	r.node, r.does["b"] = "pc1", fails("boom")
	job := r.run("w", nil)
	r.ends(job, "failed", "a done, b failed")
	for range 2 {
		next, _, err := r.store.Rerun(t.Context(), job, RerunRequest{RerunBody: RerunBody{Failed: true}})
		if err != nil {
			t.Fatal(err)
		}
		job = next
		r.ends(job, "failed", "a done, b failed")
		if got := r.cause(job, "b"); got != "boom" {
			t.Errorf("b: %s", got)
		}
	}
	r.does["b"] = echoes
	r.exec(`select weir.retry($1)`, r.task(job, "b"))
	r.ends(job, "done", "a done, b done")
	if got := r.result(job, "b"); got != `{"on": "pc1"}` {
		t.Errorf("b got %s", got)
	}
}

func TestRerunsThatAreRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put(oneStep)
	job := r.run("w", nil)
	refused := func(want string, job weir.ID, ask RerunRequest) {
		t.Helper()
		if _, _, err := r.store.Rerun(t.Context(), job, ask); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", ask, err, want)
		}
	}
	refused("is running", job, RerunRequest{})
	refused("there is no job", weir.ID{7}, RerunRequest{})
	refused("exclude each other", job, RerunRequest{RerunBody: RerunBody{From: "a", Failed: true}})
	r.ends(job, "done", "a done")
	refused("has no step", job, RerunRequest{RerunBody: RerunBody{From: "z"}})
	refused("nothing failed", job, RerunRequest{RerunBody: RerunBody{Failed: true}})
	r.exec(`select weir.submit_job('[{"key": "a", "service": "s"}]', 'plain')`)
	r.until("the plain job ends", func() bool { return r.count(`select count(*) from weir.job_live`) == 0 })
	plain, err := weir.ParseID(r.text(`select id::text from weir.job where name = 'plain'`))
	if err != nil {
		t.Fatal(err)
	}
	refused("not a run of a workflow", plain, RerunRequest{})
}

func TestBackfill(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put("name: w\nsteps:\n  - {key: a, service: s, params: {day: '{{ .job.scheduled_at }}'}}\nschedules:\n  - {name: nightly, spec: '0 3 * * *', overlap: queue_all}")
	from := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	ask := &Backfilling{Body: BackfillBody{Schedule: "workflow/w/nightly", From: from.Format(time.RFC3339), To: from.AddDate(0, 0, 3).Format(time.RFC3339), DryRun: true}}
	backfill := func(in *Backfilling) ([]time.Time, []weir.ID, error) {
		out, err := r.store.Backfill(t.Context(), auth.System("ann"), in)
		return out.Times, out.Jobs, err
	}
	times, jobs, err := backfill(ask)
	if err != nil || len(times) != 3 || len(jobs) != 0 || times[0].Hour() != 3 {
		t.Fatal(times, jobs, err)
	}
	ask.Body.DryRun = false
	if _, jobs, err = backfill(ask); err != nil || len(jobs) != 3 {
		t.Fatal(jobs, err)
	}
	r.does["a"] = echoes
	for i, job := range jobs {
		r.ends(job, "done", "a done")
		if got, want := r.result(job, "a"), times[i].Format(time.RFC3339); !strings.Contains(got, want) {
			t.Errorf("run %d got %s, want %s", i, got, want)
		}
	}
	// The same days give the same jobs again, and a plan says so.
	ask.Body.To, ask.Body.DryRun = "2026-01-05", true
	plan, err := r.store.Backfill(t.Context(), auth.System("ann"), ask)
	slices.SortFunc(plan.Existed, func(x, y weir.ID) int { return strings.Compare(x.String(), y.String()) })
	if err != nil || len(plan.Times) != 4 || len(plan.Jobs) != 0 || !slices.Equal(plan.Existed, jobs) {
		t.Error(plan, jobs, err)
	}
	ask.Body.DryRun = false
	out, err := r.store.Backfill(t.Context(), auth.System("ann"), ask)
	if err != nil || !slices.Equal(out.Existed, jobs) {
		t.Error(out.Existed, jobs, err)
	}
	times, again, err := backfill(ask)
	if err != nil || len(times) != 4 || again[0] != jobs[0] || again[2] != jobs[2] {
		t.Fatal(times, again, jobs, err)
	}
	r.ends(again[3], "done", "a done")
	spec := &Backfilling{Named{"w"}, BackfillBody{Spec: "@every 1m", From: from.Format(time.RFC3339), To: from.AddDate(0, 0, 1).Format(time.RFC3339), Options: &definition.Options{}}}
	if _, _, err := backfill(spec); err == nil || !strings.Contains(err.Error(), "more than 1000") {
		t.Errorf("a flood: %v", err)
	}
	spec.Body.To = time.Now().Add(time.Hour).Format(time.RFC3339)
	if _, _, err := backfill(spec); err == nil || !strings.Contains(err.Error(), "future") {
		t.Errorf("the future: %v", err)
	}
}

// Rerunning a job that left out a step requires the right to skip, because the new job
// leaves it out too.
func TestRerunAsksBeforeItSkips(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put(oneStep)
	skip := definition.Options{Steps: map[string]definition.StepOptions{"a": {Skip: true}}}
	no := func() error { return problem.New(problem.Forbidden, "", "you may not") }
	if _, err := r.store.Run(t.Context(), RunRequest{Workflow: "w", Options: skip, MaySkip: no}); problem.Explain(err).Field != "steps.a.skip" {
		t.Errorf("run: %v", err)
	}
	job, err := r.store.Run(t.Context(), RunRequest{Workflow: "w", Options: skip})
	if err != nil {
		t.Fatal(err)
	}
	r.until("it ends", func() bool { return r.count(`select count(*) from weir.job_live`) == 0 })
	if _, _, err := r.store.Rerun(t.Context(), job, RerunRequest{MaySkip: no}); problem.Explain(err).Field != "steps.a.skip" || problem.Explain(err).Kind != problem.Forbidden {
		t.Errorf("rerun: %v", err)
	}
	if _, _, err := r.store.Rerun(t.Context(), job, RerunRequest{}); err != nil {
		t.Errorf("rerun by who may: %v", err)
	}
	r.until("it ends", func() bool { return r.count(`select count(*) from weir.job_live`) == 0 })
}
