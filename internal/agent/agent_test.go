package agent_test

import (
	"slices"
	"strings"
	"testing"
)

func TestAStepRunsAndItsResultFollows(t *testing.T) {
	w := newWorld(t)
	w.run(w.config("n1", map[string]int{"sh": 2}))
	job := w.submit(
		sh("a", `echo hello; echo oops >&2; echo '::progress 40'; echo '::event warn look here'; echo '::result {"n": 7}'; echo "$WEIR_ATTEMPT" > "$WEIR_OUT/attempt.txt"; cat "$WEIR_PARAMS"`).
			with("params", map[string]int{"x": 5}),
		sh("b", `cat "$WEIR_IN/a/attempt.txt"`).with("needs", []string{"a"}).running("inputs", []any{map[string]string{"from": "a"}}),
	)
	if got := w.end(job, "a"); got.State != "done" || got.Result != `{"n": 7}` {
		t.Fatalf("got %+v", got)
	}
	if got := w.end(job, "b"); got.State != "done" {
		t.Fatalf("got %+v", got)
	}
	log := w.logOf(job, "a", 1)
	for _, want := range []string{"stdout: hello", "stderr: oops", `stdout: {"x": 5}`} {
		if !slices.Contains(log, want) {
			t.Errorf("%q is not in the log: %q", want, log)
		}
	}
	if got := w.logOf(job, "b", 1); !slices.Contains(got, "stdout: 1") {
		t.Errorf("the input did not come: %q", got)
	}
	a := w.task(job, "a").ID
	if n := one[int](w, `select count(*) from weir.events where task = $1 and type = 'note' and level = 'warn' and message = 'look here'`, a); n != 1 {
		t.Errorf("%d notes", n)
	}
	if n := one[int](w, `select count(*) from weir.events where task = $1 and type = 'progress' and data ->> 'percent' = '40'`, a); n != 1 {
		t.Errorf("%d reports of progress", n)
	}
	if n := one[int](w, `select count(*) from weir.artifacts where task = $1 and kind = 'output' and name = 'attempt.txt' and size = 2`, a); n != 1 {
		t.Errorf("%d artifacts", n)
	}
	if n := one[int](w, `select count(*) from weir.events where type = 'stale'`); n != 0 {
		t.Errorf("%d stale calls", n)
	}
}

func TestAFailureIsTriedAgain(t *testing.T) {
	w := newWorld(t)
	w.run(w.config("n1", map[string]int{"sh": 2}))
	job := w.submit(
		sh("again", `test "$WEIR_ATTEMPT" -gt 1 || { echo first >&2; exit 3; }`).with("max_attempts", 3),
		sh("other", `exit 4`).with("max_attempts", 3).running("retry_on", []int{3}),
		sh("never", `echo bad luck >&2; exit 7`),
		sh("missing", "").running("argv", []string{"no-such-program"}),
	)
	if got := w.end(job, "again"); got.State != "done" || got.Attempt != 2 {
		t.Errorf("got %+v", got)
	}
	if got := w.end(job, "other"); got.State != "failed" || got.Attempt != 1 || !strings.Contains(got.Cause, "exit code 4") {
		t.Errorf("got %+v", got)
	}
	if got := w.end(job, "never"); got.State != "failed" || got.Cause != "exit code 7: bad luck" {
		t.Errorf("got %+v", got)
	}
	if got := w.end(job, "missing"); got.State != "failed" || !strings.Contains(got.Cause, "not in PATH") {
		t.Errorf("got %+v", got)
	}
}
