package weir_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir"
)

// closedGate is the one gate that is closed.
func (w *world) closedGate(t testing.TB, id weir.ID) weir.Reason {
	t.Helper()
	reasons, err := w.client.Why(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range reasons {
		if !r.Open {
			return r
		}
	}
	return weir.Reason{}
}

func TestCommands(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	held := w.submit(t, weir.Task{Service: "a", Hold: "the release manager"})
	if r := w.closedGate(t, held); r.Gate != "hold" || !strings.Contains(r.Text, "the release manager") || r.Since.IsZero() {
		t.Errorf("a held task: %+v", r)
	}
	must(w.client.Release(ctx, held, "ann"))
	if got := w.task(t, held); got.State != weir.Available {
		t.Errorf("released: %+v", got)
	}
	must(w.client.Hold(ctx, held, weir.Decision{By: "bob", Reason: "not on Friday"}))
	if r := w.closedGate(t, held); !strings.Contains(r.Text, "bob: not on Friday") {
		t.Errorf("held again: %+v", r)
	}
	must(w.client.SetPriority(ctx, held, 50, "ann"))
	if got := w.task(t, held); got.Priority != 50 || got.State != weir.Pending {
		t.Errorf("another priority: %+v", got)
	}
	if ended, err := w.client.Cancel(ctx, held, weir.Decision{By: "ann"}); err != nil || !ended {
		t.Errorf("canceled: %v, %v", ended, err)
	}
	for name, err := range map[string]error{
		"hold": w.client.Hold(ctx, held, weir.Decision{By: "ann"}), "release": w.client.Release(ctx, held, ""),
		"skip": w.client.Skip(ctx, held, weir.Decision{Reason: "x"}), "priority": w.client.SetPriority(ctx, held, 1, ""),
	} {
		if !errors.Is(err, weir.ErrConflict) {
			t.Errorf("%s of a canceled task: %v", name, err)
		}
	}
	must(w.client.Retry(ctx, held, "ann"))
	if got := w.task(t, held); got.State.Ended() {
		t.Errorf("retried: %+v", got)
	}
	if r := w.closedGate(t, w.submit(t, weir.Task{Service: "nobody"})); r.Gate != "worker" || !strings.Contains(r.Text, "no live worker") {
		t.Errorf("nobody serves it: %+v", r)
	}
	if r := w.closedGate(t, w.submit(t, weir.Task{Service: "a", RunAt: time.Now().Add(time.Hour)})); r.Gate != "time" {
		t.Errorf("later: %+v", r)
	}
}

func TestRetryRunsAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	worker := weir.NewWorker(w.client, weir.WorkerConfig{})
	handle(worker, "moody", func(_ context.Context, run *weir.Run[struct{}]) (any, error) {
		if run.Attempt == 1 {
			return nil, errors.New("not today")
		}
		return nil, nil
	})
	w.run(t, worker)
	id := w.submit(t, weir.Task{Service: "moody", MaxAttempts: 1})
	if got := w.wait(t, id); got.State != weir.Failed || got.Err() == nil {
		t.Fatalf("got %+v", got)
	}
	if err := w.client.Retry(t.Context(), id, "ann"); err != nil {
		t.Fatal(err)
	}
	if got := w.wait(t, id); got.State != weir.Done || got.Attempt != 2 {
		t.Errorf("got %+v", got)
	}
	if err := w.client.Retry(t.Context(), id, "ann"); !errors.Is(err, weir.ErrConflict) {
		t.Errorf("retry of a done task: %v", err)
	}
}

func TestDelayedTasksRunWithoutAServer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	worker := weir.NewWorker(w.client, weir.WorkerConfig{})
	handle(worker, "a", nothing)
	w.run(t, worker)
	due := time.Now().Add(300 * time.Millisecond)
	id := w.submit(t, weir.Task{Service: "a", RunAt: due})
	if got := w.wait(t, id); got.State != weir.Done {
		t.Errorf("got %+v", got)
	}
	if started := w.task(t, id).StartedAt; started.Before(due.Truncate(time.Microsecond)) {
		t.Errorf("it ran at %s, before %s", started, due)
	}
}

func TestScheduleFiresWithoutAServer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	worker := weir.NewWorker(w.client, weir.WorkerConfig{})
	handle(worker, "tick", nothing)
	w.run(t, worker)
	s := weir.Schedule{Name: "clock", Spec: "@every 1s", Task: weir.Task{Service: "tick"}}
	for range 2 {
		if err := w.client.SetSchedule(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	until(t, "it fires twice", func() bool { return worker.Stats().Done >= 2 })
	if n := w.count(t, `select count(*) from weir.events where kind = 'schedule' and type = 'set'`); n != 1 {
		t.Errorf("the same call again changed it: %d", n)
	}
	if err := w.client.DropSchedule(t.Context(), "clock", "ada"); err != nil {
		t.Fatal(err)
	}
	if err := w.client.DropSchedule(t.Context(), "clock", "ada"); !errors.Is(err, weir.ErrNotFound) {
		t.Errorf("dropped twice: %v", err)
	}
}

// TestRetryJob cancels a job, brings it back and asks why it waits.
func TestRetryJob(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	client := w.client
	job, err := client.SubmitJob(t.Context(), weir.Job{Name: "pair", Tasks: []weir.Task{
		{Service: "s", Key: "a", Run: json.RawMessage(`{"driver": "exec"}`)}, {Service: "s", Key: "b", Needs: []string{"a"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.RetryJob(t.Context(), job, weir.Decision{}); !errors.Is(err, weir.ErrConflict) {
		t.Errorf("a job that runs: %v", err)
	}
	if _, _, err := client.CancelJob(t.Context(), job, weir.Decision{By: "ann"}); err != nil {
		t.Fatal(err)
	}
	if n, err := client.RetryJob(t.Context(), job, weir.Decision{By: "ann", Reason: "by mistake"}); err != nil || n != 2 {
		t.Errorf("%d tasks, %v", n, err)
	}
	reasons, err := client.WhyJob(t.Context(), job)
	if err != nil || len(reasons) != 2 || reasons[0].Gate != "worker" || reasons[1].Gate != "needs" {
		t.Errorf("%+v %v", reasons, err)
	}
}
