package weir_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirhq/weir"
)

func TestWorkerRunsWhatIsSubmitted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	worker := weir.NewWorker(w.client, weir.WorkerConfig{})
	type args struct{ A, B int }
	weir.Handle(worker, "add", func(_ context.Context, run *weir.Run[args]) (any, error) {
		return run.Args.A + run.Args.B, nil
	})
	w.run(t, worker)
	id := w.submit(t, weir.Task{Service: "add", Params: args{2, 3}})
	var sum int
	if err := w.wait(t, id).Decode(&sum); err != nil || sum != 5 {
		t.Errorf("got %d, %v", sum, err)
	}
}

// How a handler ends decides how the attempt ends.
func TestEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	worker := weir.NewWorker(w.client, weir.WorkerConfig{})
	first := func(err error) func(context.Context, *weir.Run[struct{}]) (any, error) {
		return func(_ context.Context, run *weir.Run[struct{}]) (any, error) {
			if run.Attempt == 1 {
				return nil, err
			}
			return run.Attempt, nil
		}
	}
	handle(worker, "ok", nothing)
	handle(worker, "retry", first(weir.RetryAfter(0, errors.New("busy"))))
	handle(worker, "backoff", first(errors.New("busy")))
	handle(worker, "snooze", first(weir.Snooze(10*time.Millisecond)))
	handle(worker, "permanent", first(fmt.Errorf("no use: %w", weir.Permanent(errors.New("gone")))))
	handle(worker, "panic", func(context.Context, *weir.Run[struct{}]) (any, error) { panic("ouch") })
	handle(worker, "unencodable", func(context.Context, *weir.Run[struct{}]) (any, error) { return make(chan int), nil })
	handle(worker, "slow", func(ctx context.Context, _ *weir.Run[struct{}]) (any, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}, weir.Timeout(20*time.Millisecond))
	weir.Handle(worker, "typed", func(context.Context, *weir.Run[struct{ N int }]) (any, error) { return nil, nil })
	w.run(t, worker)

	quick := time.Millisecond
	for _, c := range []struct {
		task    weir.Task
		state   weir.State
		attempt int
		cause   string
	}{
		{weir.Task{Service: "ok"}, weir.Done, 1, ""},
		{weir.Task{Service: "retry"}, weir.Done, 2, ""},
		{weir.Task{Service: "backoff", Backoff: quick}, weir.Done, 2, ""},
		{weir.Task{Service: "backoff", MaxAttempts: 1}, weir.Failed, 1, "busy"},
		{weir.Task{Service: "snooze", MaxAttempts: 1}, weir.Done, 2, ""},
		{weir.Task{Service: "permanent"}, weir.Failed, 1, "no use: gone"},
		{weir.Task{Service: "panic", MaxAttempts: 2, Backoff: quick}, weir.Failed, 2, "panic: ouch"},
		{weir.Task{Service: "unencodable"}, weir.Failed, 1, "does not become JSON"},
		{weir.Task{Service: "slow", MaxAttempts: 1}, weir.Failed, 1, "timed out after 20ms"},
		{weir.Task{Service: "slow", MaxAttempts: 1, Timeout: 10 * time.Millisecond}, weir.Failed, 1, "timed out after 10ms"},
		{weir.Task{Service: "typed", Params: map[string]string{"N": "x"}}, weir.Failed, 1, "params do not fit"},
		{weir.Task{Service: "typed", Params: map[string]int{"N": 1}}, weir.Done, 1, ""},
	} {
		t.Run(c.task.Service, func(t *testing.T) {
			got := w.wait(t, w.submit(t, c.task))
			if got.State != c.state || got.Attempt != c.attempt || !strings.Contains(got.Cause, c.cause) {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestPanicKeepsTheStack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	worker := weir.NewWorker(w.client, weir.WorkerConfig{})
	handle(worker, "panic", func(context.Context, *weir.Run[struct{}]) (any, error) { panic(strings.Repeat("x", 20_000)) })
	handle(worker, "stack", func(context.Context, *weir.Run[struct{}]) (any, error) { panic("ouch") })
	w.run(t, worker)
	if got := w.wait(t, w.submit(t, weir.Task{Service: "stack", MaxAttempts: 1})); !strings.Contains(got.Cause, "worker_test.go") {
		t.Errorf("no stack in %q", got.Cause)
	}
	if got := w.wait(t, w.submit(t, weir.Task{Service: "panic", MaxAttempts: 1})); len(got.Cause) > 8<<10 || !strings.Contains(got.Cause, "cut") {
		t.Errorf("%d bytes were kept", len(got.Cause))
	}
}

// A handler that ignores the end of its time cannot spoil the next attempt.
func TestLateResultIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	worker := weir.NewWorker(w.client, weir.WorkerConfig{})
	release := make(chan struct{})
	handle(worker, "stubborn", func(_ context.Context, run *weir.Run[struct{}]) (any, error) {
		if run.Attempt == 1 {
			<-release
		}
		return run.Attempt, nil
	})
	w.run(t, worker)
	id := w.submit(t, weir.Task{Service: "stubborn", Timeout: 50 * time.Millisecond, Backoff: time.Millisecond, MaxAttempts: 20})
	got := w.wait(t, id)
	close(release)
	// On a busy machine the second attempt may run out of its time, too.
	if got.State != weir.Done || got.Attempt < 2 || string(got.Result) != strconv.Itoa(got.Attempt) {
		t.Errorf("got %+v", got)
	}
	until(t, "the late result is logged", func() bool { return strings.Contains(strings.Join(w.log.all(), "\n"), "late result") })
	if after := w.task(t, id); string(after.Result) != string(got.Result) || after.Attempt != got.Attempt {
		t.Errorf("the late result changed it: %+v", after)
	}
}

func TestCancelInFlight(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	worker := weir.NewWorker(w.client, weir.WorkerConfig{})
	begun, cause := make(chan struct{}), make(chan error, 1)
	handle(worker, "long", func(ctx context.Context, _ *weir.Run[struct{}]) (any, error) {
		close(begun)
		<-ctx.Done()
		cause <- context.Cause(ctx)
		return nil, ctx.Err()
	})
	w.run(t, worker)
	id := w.submit(t, weir.Task{Service: "long"})
	receive(t, "the handler begins", begun)
	ended, err := w.client.Cancel(t.Context(), id, weir.Decision{By: "ann", Reason: "wrong customer"})
	if err != nil || ended {
		t.Fatalf("ended %v, %v", ended, err)
	}
	if got := receive(t, "the context ends", cause); !errors.Is(got, weir.ErrCanceled) {
		t.Errorf("the cause is %v", got)
	}
	got := w.wait(t, id)
	if got.State != weir.Canceled || !strings.Contains(got.Cause, "ann") || !strings.Contains(got.Cause, "wrong customer") {
		t.Errorf("got %+v", got)
	}
}

func TestConcurrencyOfAHandlerHolds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	worker := weir.NewWorker(w.client, weir.WorkerConfig{Concurrency: 50})
	const limit = 3
	var now, most atomic.Int64
	step := make(chan struct{})
	handle(worker, "narrow", func(context.Context, *weir.Run[struct{}]) (any, error) {
		n := now.Add(1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		<-step
		now.Add(-1)
		return nil, nil
	}, weir.Concurrency(limit))
	handle(worker, "wide", nothing)
	tasks := make([]weir.Task, 40)
	for i := range tasks {
		tasks[i] = weir.Task{Service: []string{"narrow", "wide"}[i%2]}
	}
	if _, err := w.client.SubmitMany(t.Context(), tasks); err != nil {
		t.Fatal(err)
	}
	w.run(t, worker)
	until(t, "the wide ones are not kept", func() bool { return worker.Stats().Done >= 20 })
	until(t, "the narrow ones run", func() bool { return now.Load() == limit })
	close(step)
	until(t, "all are done", func() bool { return worker.Stats().Done == 40 })
	if most.Load() != limit {
		t.Errorf("%d ran at once, the limit is %d", most.Load(), limit)
	}
}

func TestProgressAndEvents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	worker := weir.NewWorker(w.client, weir.WorkerConfig{})
	handle(worker, "chatty", func(_ context.Context, run *weir.Run[struct{}]) (any, error) {
		for i := range 50 {
			run.Progress(float64(i), "working")
		}
		if err := run.Event("loud", "no such level", nil); !errors.Is(err, weir.ErrInvalid) {
			t.Errorf("a bad level: %v", err)
		}
		return nil, run.Event("warn", "odd \x00 input", map[string]string{"file": "a\x00b"})
	})
	w.run(t, worker)
	id := w.submit(t, weir.Task{Service: "chatty"})
	if got := w.wait(t, id); got.State != weir.Done {
		t.Fatalf("got %+v", got)
	}
	if n := w.count(t, `select count(*) from weir.events where task = $1 and type = 'progress'`, id); n < 1 || n > 3 {
		t.Errorf("%d reports of progress were written", n)
	}
	if n := w.count(t, `select count(*) from weir.events where task = $1 and type = 'note' and level = 'warn' and data ->> 'file' = 'a' || chr(65533) || 'b'`, id); n != 1 {
		t.Errorf("%d notes", n)
	}
}

// What jsonb cannot hold must not stop the batch it is in.
func TestResultsThatPostgresRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	worker := weir.NewWorker(w.client, weir.WorkerConfig{})
	results := map[string]any{
		"nul": "a\x00b", "bad": "a\xffb", "raw": rawJSON(`{"a": "\u0000", "b": "\ud800", "c": "\ud83d\ude00", "d": "\\u0000"}`),
		"huge": rawJSON(`1e400000`), "broken": rawJSON(`{`), "fine": 7,
	}
	weir.Handle(worker, "echo", func(_ context.Context, run *weir.Run[string]) (any, error) { return results[run.Args], nil })
	var tasks []weir.Task
	var names []string
	for name := range results {
		tasks = append(tasks, weir.Task{Service: "echo", Params: name})
		names = append(names, name)
	}
	receipts, err := w.client.SubmitMany(t.Context(), tasks)
	if err != nil {
		t.Fatal(err)
	}
	w.run(t, worker)
	want := map[string]string{
		"nul": `"a�b"`, "bad": `"a�b"`, "raw": `{"a": "�", "b": "�", "c": "😀", "d": "\\u0000"}`, "fine": "7",
	}
	for i, r := range receipts {
		got := w.wait(t, r.ID)
		switch name := names[i]; name {
		case "huge", "broken":
			if got.State != weir.Failed || !strings.Contains(got.Cause, "result") {
				t.Errorf("%s: %+v", name, got)
			}
		default:
			if string(got.Result) != want[name] {
				t.Errorf("%s: %s, want %s", name, got.Result, want[name])
			}
		}
	}
}
