package workflow

import (
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/workflow/definition"
)

func TestRerun(t *testing.T) {
	for _, c := range []struct {
		name    string
		request RerunRequest
		ran     string
	}{
		{"all of it", RerunRequest{}, "a b d c"},
		{"from a step", RerunRequest{From: "b"}, "b c"},
		{"only what failed", RerunRequest{Failed: true}, "c"},
		{"from the first", RerunRequest{From: "a"}, "a b d c"},
		{"from a step beside it", RerunRequest{From: "d"}, "d c"},
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
			job, err := r.store.Rerun(t.Context(), old, c.request)
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

func TestRerunsThatAreRefused(t *testing.T) {
	r := newRig(t)
	r.put(oneStep)
	job := r.run("w", nil)
	refused := func(want string, job weir.ID, ask RerunRequest) {
		t.Helper()
		if _, err := r.store.Rerun(t.Context(), job, ask); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", ask, err, want)
		}
	}
	refused("is running", job, RerunRequest{})
	refused("there is no job", weir.ID{7}, RerunRequest{})
	refused("exclude each other", job, RerunRequest{From: "a", Failed: true})
	r.ends(job, "done", "a done")
	refused("has no step", job, RerunRequest{From: "z"})
	refused("nothing failed", job, RerunRequest{Failed: true})
	r.exec(`select weir.submit_job('[{"key": "a", "service": "s"}]', 'plain')`)
	r.until("the plain job ends", func() bool { return r.count(`select count(*) from weir.job_live`) == 0 })
	plain, err := weir.ParseID(r.text(`select id::text from weir.job where name = 'plain'`))
	if err != nil {
		t.Fatal(err)
	}
	refused("not a run of a workflow", plain, RerunRequest{})
}

func TestBackfill(t *testing.T) {
	r := newRig(t)
	r.put("name: w\nsteps:\n  - {key: a, service: s, params: {day: '{{ .job.scheduled_at }}'}}\nschedules:\n  - {name: nightly, spec: '0 3 * * *', overlap: queue_all}")
	from := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	ask := BackfillRequest{Schedule: "workflow/w/nightly", From: from, To: from.AddDate(0, 0, 3), DryRun: true, By: "ann"}
	times, jobs, err := r.store.Backfill(t.Context(), ask)
	if err != nil || len(times) != 3 || len(jobs) != 0 || times[0].Hour() != 3 {
		t.Fatal(times, jobs, err)
	}
	ask.DryRun = false
	if _, jobs, err = r.store.Backfill(t.Context(), ask); err != nil || len(jobs) != 3 {
		t.Fatal(jobs, err)
	}
	r.does["a"] = echoes
	for i, job := range jobs {
		r.ends(job, "done", "a done")
		if got, want := r.result(job, "a"), times[i].Format(time.RFC3339); !strings.Contains(got, want) {
			t.Errorf("run %d got %s, want %s", i, got, want)
		}
	}
	// The same days again are the same jobs.
	ask.To = from.AddDate(0, 0, 4)
	times, again, err := r.store.Backfill(t.Context(), ask)
	if err != nil || len(times) != 4 || again[0] != jobs[0] || again[2] != jobs[2] {
		t.Fatal(times, again, jobs, err)
	}
	r.ends(again[3], "done", "a done")
	spec := BackfillRequest{Workflow: "w", Spec: "@every 1m", From: from, To: from.AddDate(0, 0, 1), Options: &definition.Options{}}
	if _, _, err := r.store.Backfill(t.Context(), spec); err == nil || !strings.Contains(err.Error(), "more than 1000") {
		t.Errorf("a flood: %v", err)
	}
	spec.To = time.Now().Add(time.Hour)
	if _, _, err := r.store.Backfill(t.Context(), spec); err == nil || !strings.Contains(err.Error(), "future") {
		t.Errorf("the future: %v", err)
	}
}
