package workflow

import (
	"slices"
	"strings"
	"testing"
)

const cleanedUp = `name: w
steps:
  - {key: a, service: s}
  - {key: b, service: s, needs: [a]}
  - {key: off, service: s, finally: true, retry: {max_attempts: 2, backoff: 1h}}
  - {key: tell, service: s, finally: true, needs: [off], params: {b: "{{ .needs.b.state }}"}}
`

// TestFinally checks that the finally steps run after all others, in order, however the
// job ends, and once more when it is run again.
func TestFinally(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put(cleanedUp)
	r.does["tell"] = echoes
	tells := func(job, want string) {
		t.Helper()
		if want = `{"b": "` + want + `"}`; job != want {
			t.Errorf("tell was given %s, want %s", job, want)
		}
	}
	done := r.run("w", nil)
	r.ends(done, "done", "a done, b done, off done, tell done")
	if want := []string{"a", "b", "off", "tell"}; !slices.Equal(r.ran, want) {
		t.Errorf("ran %v, want %v", r.ran, want)
	}
	tells(r.result(done, "tell"), "done")

	r.does["a"] = fails("broken")
	failed := r.run("w", nil)
	r.ends(failed, "failed", "a failed, b skipped, off done, tell done")
	tells(r.result(failed, "tell"), "skipped")

	// What was canceled before it began.
	r.ran = nil
	waiting := r.run("w", nil)
	r.exec(`select weir.cancel_job($1)`, waiting)
	r.exec(`select weir.tend(sweep => true)`)
	r.ends(waiting, "canceled", "a canceled, b canceled, off done, tell done")
	if want := []string{"off", "tell"}; !slices.Equal(r.ran, want) {
		t.Errorf("ran %v, want %v", r.ran, want)
	}
	tells(r.result(waiting, "tell"), "canceled")

	// What was canceled while it ran.
	r.holds = func(l lease) {
		if l.key == "a" {
			r.exec(`select weir.cancel_job(job) from weir.task where id = $1`, l.task)
		}
	}
	running := r.run("w", nil)
	r.ends(running, "canceled", "a canceled, b canceled, off done, tell done")
	r.holds = nil

	// Again, in the same job and as another one.
	r.does["a"], r.ran = nil, nil
	r.exec(`select weir.retry_job($1)`, failed)
	r.ends(failed, "done", "a done, b done, off done, tell done")
	if want := []string{"a", "b", "off", "tell"}; !slices.Equal(r.ran, want) {
		t.Errorf("the retry ran %v, want %v", r.ran, want)
	}
	r.ran = nil
	again, _, err := r.store.Rerun(t.Context(), waiting, RerunRequest{RerunBody: RerunBody{Failed: true}})
	if err != nil {
		t.Fatal(err)
	}
	r.ends(again, "done", "a done, b done, off done, tell done")
	r.ran = nil
	from, _, err := r.store.Rerun(t.Context(), again, RerunRequest{RerunBody: RerunBody{From: "b"}})
	if err != nil {
		t.Fatal(err)
	}
	r.ends(from, "done", "a done, b done, off done, tell done")
	if want := []string{"b", "off", "tell"}; !slices.Equal(r.ran, want) {
		t.Errorf("the rerun from b ran %v, want %v", r.ran, want)
	}
}

// TestSecondCancel checks that a cancel that is repeated at once leaves the finally steps
// alone, and that a later one stops them, wherever they are.
func TestSecondCancel(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put(cleanedUp)
	job := r.run("w", nil)
	r.exec(`select weir.cancel_job($1)`, job)
	r.exec(`select weir.cancel_job($1)`, job)
	if got := r.states(job); !strings.HasSuffix(got, "off available, tell pending") {
		t.Fatalf("a cancel that is repeated: %s", got)
	}
	r.exec(`select weir.cancel_job($1, at => now() + interval '4 seconds')`, job)
	r.ends(job, "canceled", "a canceled, b canceled, off canceled, tell canceled")

	// While one runs: it is asked to stop, and what it left waiting is swept.
	job = r.run("w", nil)
	r.exec(`select weir.cancel_job($1, at => now() - interval '4 seconds')`, job)
	r.does["off"] = fails("stopped")
	r.holds = func(l lease) {
		if l.key == "off" {
			r.exec(`select weir.cancel_job($1)`, job)
		}
	}
	r.ends(job, "canceled", "a canceled, b canceled, off canceled, tell canceled")
	r.holds = nil

	// A step that waits for its next attempt is not swept with the job, until the second
	// cancel.
	job = r.run("w", nil)
	r.exec(`select weir.cancel_job($1, at => now() - interval '4 seconds')`, job)
	r.exec(`select weir.register_worker('w', services => array['s'])`)
	r.exec(`select weir.fail(c.task, c.attempt, c.token, 'once more') from weir.claim('w', array['s'], 1) c`)
	r.exec(`select weir.tend(sweep => true)`)
	if got := r.states(job); strings.Contains(got, "off canceled") || strings.Contains(got, "tell canceled") {
		t.Fatalf("a step between two attempts: %s", got)
	}
	r.exec(`update weir.job_live set stop_at = now() where job = $1`, job)
	r.exec(`select weir.tend(sweep => true)`)
	r.ends(job, "canceled", "a canceled, b canceled, off canceled, tell canceled")
}
