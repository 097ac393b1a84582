package agent_test

import (
	"context"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/agent"
	"github.com/weirhq/weir/internal/problem"
)

func TestAStepRunsAndItsResultFollows(t *testing.T) {
	t.Parallel()
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
	t.Parallel()
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

// Work does not get an input whose content differs from what was recorded, whatever
// happened to the bucket.
func TestAnInputThatChangedIsNotGiven(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.run(w.config("n1", map[string]int{"sh": 2}))
	job := w.submit(
		sh("a", `printf good > "$WEIR_OUT/x"`),
		sh("b", `cat "$WEIR_IN/a/x"`).with("needs", []string{"a"}).with("hold", "wait").running("inputs", []any{map[string]string{"from": "a"}}),
	)
	if got := w.end(job, "a"); got.State != "done" {
		t.Fatalf("got %+v", got)
	}
	key := one[string](w, `select key from weir.artifacts where task = $1`, w.task(job, "a").ID)
	if _, err := w.bucket.Put(t.Context(), key, strings.NewReader("evil"), 4, "text/plain"); err != nil {
		t.Fatal(err)
	}
	one[bool](w, `select weir.release($1) is null`, w.task(job, "b").ID)
	if got := w.end(job, "b"); got.State != "failed" || !strings.Contains(got.Cause, "fetch input x of step a") || !strings.Contains(got.Cause, "not what was stored") {
		t.Errorf("got %+v", got)
	}
	if log := w.logOf(job, "b", 1); slices.Contains(log, "stdout: evil") {
		t.Errorf("it was given: %q", log)
	}
}

// A folder belongs to one agent, and so does a name as long as its agent is heard from.
// The same agent, started again, keeps both.
func TestTwoAgentsAreNotOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.config("n1", map[string]int{"sh": 2})
	first := agent.New(c)
	over := make(chan error, 1)
	go func() { over <- first.Run(context.Background()) }()
	w.until("the first works", func() bool { return one[int](w, `select count(*) from weir.workers`) == 1 })

	same := c
	same.Transport = w.desk("n2")
	same.Info.Name = "n2"
	err := agent.New(same).Run(context.Background())
	if p := problem.Explain(err); err == nil || p.Kind != problem.Conflict || !strings.Contains(p.What, c.Dir) || !strings.Contains(p.What, strconv.Itoa(os.Getpid())) {
		t.Errorf("in the same folder: %v", err)
	}
	guest := w.config("n1", map[string]int{"foo": 1})
	guest.Patience = 300 * time.Millisecond
	err = agent.New(guest).Run(context.Background())
	if p := problem.Explain(err); err == nil || p.Kind != problem.Conflict || !strings.Contains(p.What, "agent@n1 is another process") || !strings.Contains(p.Next, "another name") {
		t.Errorf("under the same name: %v", err)
	}
	if got := one[string](w, `select n.capacity::text || ' ' || w.services::text from weir.nodes n join weir.workers w on w.node = n.id`); got != `{"sh": 2} {sh}` {
		t.Errorf("the guest changed the node: %s", got)
	}
	job := w.submit(sh("a", "true"))
	if got := w.end(job, "a"); got.State != "done" {
		t.Errorf("got %+v", got)
	}
	first.Leave()
	if err := <-over; err != nil {
		t.Error(err)
	}
	// The first agent has said goodbye, so another agent may take the name at once.
	guest.Patience = time.Minute
	w.run(guest)
	w.until("the guest works", func() bool { return one[string](w, `select services::text from weir.workers`) == "{foo}" })
}
