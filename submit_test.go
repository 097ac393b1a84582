package weir_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir"
)

func TestSubmitTx(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	task := weir.Task{Service: "a", IdempotencyKey: "once", Pool: "p"}
	if err := w.client.SetPool(t.Context(), weir.Pool{Name: "p", Size: weir.Size(1)}); err != nil {
		t.Fatal(err)
	}
	before := w.count(t, `select count(*) from weir.events`)
	fail := errors.New("the rest of the transaction failed")
	err := pgx.BeginFunc(t.Context(), w.Pool, func(tx pgx.Tx) error {
		if _, err := w.client.SubmitTx(t.Context(), tx, task); err != nil {
			return err
		}
		if _, err := w.client.SubmitJobTx(t.Context(), tx, weir.Job{Name: "j", Tasks: []weir.Task{{Service: "a"}}}); err != nil {
			return err
		}
		return fail
	})
	if !errors.Is(err, fail) {
		t.Fatal(err)
	}
	for _, table := range []string{"tasks", "pending", "available", "idempotency", "jobs", "job_live"} {
		if n := w.count(t, `select count(*) from weir.`+table); n != 0 {
			t.Errorf("the rolled back submission left %d rows in %s", n, table)
		}
	}
	if n := w.count(t, `select count(*) from weir.events`); n != before {
		t.Errorf("the rolled back submission left %d events", n-before)
	}

	// Committed, it reaches a worker, also through a gate.
	worker := weir.NewWorker(w.client, weir.WorkerConfig{})
	handle(worker, "a", nothing)
	w.run(t, worker)
	var receipts []weir.Receipt
	err = pgx.BeginFunc(t.Context(), w.Pool, func(tx pgx.Tx) (err error) {
		receipts, err = w.client.SubmitTx(t.Context(), tx, task, weir.Task{Service: "a"})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range receipts {
		if got := w.wait(t, r.ID); got.State != weir.Done {
			t.Errorf("got %+v", got)
		}
	}
}

func TestIdempotencyAndUniqueKeys(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first, err := w.client.Submit(t.Context(), weir.Task{Service: "a", IdempotencyKey: "k"})
	if err != nil || first.Existed {
		t.Fatal(first, err)
	}
	if again, err := w.client.Submit(t.Context(), weir.Task{Service: "a", IdempotencyKey: "k"}); err != nil || !again.Existed || again.ID != first.ID {
		t.Errorf("the same key again: %+v, %v", again, err)
	}
	unique, err := w.client.Submit(t.Context(), weir.Task{Service: "b", UniqueKey: "u"})
	if err != nil {
		t.Fatal(err)
	}
	if again, err := w.client.Submit(t.Context(), weir.Task{Service: "b", UniqueKey: "u"}); err != nil || again.ID != unique.ID || !again.Existed {
		t.Errorf("a second live one: %+v, %v", again, err)
	}
	if other, err := w.client.Submit(t.Context(), weir.Task{Service: "c", UniqueKey: "u"}); err != nil || other.Existed {
		t.Errorf("another service: %+v, %v", other, err)
	}
	worker := weir.NewWorker(w.client, weir.WorkerConfig{})
	handle(worker, "a", nothing)
	handle(worker, "b", nothing)
	w.run(t, worker)
	w.wait(t, unique.ID)
	w.wait(t, first.ID)
	if next, err := w.client.Submit(t.Context(), weir.Task{Service: "b", UniqueKey: "u"}); err != nil || next.Existed {
		t.Errorf("after the first has ended: %+v, %v", next, err)
	}
	if again, err := w.client.Submit(t.Context(), weir.Task{Service: "a", IdempotencyKey: "k"}); err != nil || again.ID != first.ID {
		t.Errorf("the key is forgotten: %+v, %v", again, err)
	}
	job := weir.Job{Name: "j", IdempotencyKey: "jk", Tasks: []weir.Task{{Service: "c"}}}
	one, err1 := w.client.SubmitJob(t.Context(), job)
	two, err2 := w.client.SubmitJob(t.Context(), job)
	if err1 != nil || err2 != nil || one != two {
		t.Errorf("jobs %s and %s, %v, %v", one, two, err1, err2)
	}
}

func TestSubmitManyIsAllOrNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tasks := make([]weir.Task, 2500)
	for i := range tasks {
		tasks[i] = weir.Task{Service: "a", Params: map[string]int{"n": i}}
	}
	receipts, err := w.client.SubmitMany(t.Context(), tasks)
	if err != nil || len(receipts) != len(tasks) {
		t.Fatal(len(receipts), err)
	}
	for _, i := range []int{0, 999, 1000, 2499} {
		if got := w.task(t, receipts[i].ID); string(got.Params) != fmt.Sprintf(`{"n": %d}`, i) {
			t.Errorf("receipt %d leads to %s", i, got.Params)
		}
	}
	tasks[2400].Priority = 1000
	if _, err := w.client.SubmitMany(t.Context(), tasks); !errors.Is(err, weir.ErrInvalid) {
		t.Errorf("got %v", err)
	}
	if n := w.count(t, `select count(*) from weir.tasks`); n != 2500 {
		t.Errorf("%d tasks", n)
	}
	if receipts, err := w.client.SubmitMany(t.Context(), nil); err != nil || len(receipts) != 0 {
		t.Errorf("nothing: %v, %v", receipts, err)
	}
}

// Bad input is a named error that says what is wrong, and nothing is written.
func TestBadInput(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	submit := func(task weir.Task) error {
		_, err := w.client.Submit(ctx, task)
		return err
	}
	job := func(tasks ...weir.Task) error {
		_, err := w.client.SubmitJob(ctx, weir.Job{Name: "j", Tasks: tasks})
		return err
	}
	unknown, _ := weir.ParseID("01890a5d-ac96-774b-bcce-b302099a8057")
	before := w.count(t, `select count(*) from weir.events`)
	for name, c := range map[string]struct {
		err  error
		want error
		says string
	}{
		"no service":       {submit(weir.Task{}), weir.ErrInvalid, "service"},
		"unknown pool":     {submit(weir.Task{Service: "a", Pool: "nowhere"}), weir.ErrInvalid, "nowhere"},
		"17 MB of params":  {submit(weir.Task{Service: "a", Params: strings.Repeat("x", 17<<20)}), weir.ErrInvalid, "16 MiB"},
		"NUL in params":    {submit(weir.Task{Service: "a", Params: "a\x00b"}), weir.ErrInvalid, "u0000"},
		"params not JSON":  {submit(weir.Task{Service: "a", Params: rawJSON("{")}), weir.ErrInvalid, "JSON"},
		"params a channel": {submit(weir.Task{Service: "a", Params: make(chan int)}), weir.ErrInvalid, "params"},
		"priority":         {submit(weir.Task{Service: "a", Priority: -101}), weir.ErrInvalid, "priority"},
		"priority over":    {submit(weir.Task{Service: "a", Priority: -1 << 40}), weir.ErrInvalid, "range"},
		"rank, no lane":    {submit(weir.Task{Service: "a", Rank: weir.Rank(1)}), weir.ErrInvalid, "lane"},
		"orphan":           {submit(weir.Task{Service: "a", Orphan: "adopt"}), weir.ErrInvalid, "orphan"},
		"negative timeout": {submit(weir.Task{Service: "a", Timeout: -time.Second}), weir.ErrInvalid, "timeout"},
		"needs, no job":    {submit(weir.Task{Service: "a", Needs: []string{"b"}}), weir.ErrInvalid, "job"},
		"empty job":        {job(), weir.ErrInvalid, "at least one"},
		"duplicate key":    {job(weir.Task{Service: "a", Key: "k"}, weir.Task{Service: "a", Key: "k"}), weir.ErrInvalid, "two tasks"},
		"missing need":     {job(weir.Task{Service: "a", Key: "k", Needs: []string{"z"}}), weir.ErrInvalid, "'z'"},
		"cycle": {
			job(weir.Task{Service: "a", Key: "k", Needs: []string{"l"}}, weir.Task{Service: "a", Key: "l", Needs: []string{"k"}}),
			weir.ErrInvalid, "ring",
		},
		"pool without limit": {w.client.SetPool(ctx, weir.Pool{Name: "p"}), weir.ErrInvalid, "size"},
		"drop no pool":       {w.client.DropPool(ctx, "nowhere", false, ""), weir.ErrNotFound, "nowhere"},
		"cancel nothing":     {second(w.client.Cancel(ctx, unknown, weir.Decision{})), weir.ErrNotFound, unknown.String()},
		"retry nothing":      {w.client.Retry(ctx, unknown, ""), weir.ErrNotFound, "no task"},
		"release nothing":    {w.client.Release(ctx, unknown, ""), weir.ErrNotFound, "no task"},
		"why nothing":        {second(w.client.Why(ctx, unknown)), weir.ErrNotFound, "no task"},
		"read nothing":       {second(w.client.Task(ctx, unknown)), weir.ErrNotFound, "no task"},
		"read no job":        {second(w.client.Job(ctx, unknown)), weir.ErrNotFound, "no job"},
		"wait for nothing":   {second(w.client.Wait(ctx, unknown)), weir.ErrNotFound, "no task"},
		"bad cron":           {w.client.SetSchedule(ctx, weir.Schedule{Name: "s", Spec: "often", Task: weir.Task{Service: "a"}}), weir.ErrInvalid, "cron"},
		"bad zone":           {w.client.SetSchedule(ctx, weir.Schedule{Name: "s", Spec: "@daily", Zone: "Mars", Task: weir.Task{Service: "a"}}), weir.ErrInvalid, "zone"},
		"bad cursor":         {w.client.Follow(ctx, "yesterday", weir.Filter{}, nil), weir.ErrInvalid, "yesterday"},
	} {
		var e *weir.Error
		if !errors.Is(c.err, c.want) || !errors.As(c.err, &e) || !strings.Contains(c.err.Error(), c.says) {
			t.Errorf("%s: %v", name, c.err)
		}
	}
	for _, table := range []string{"tasks", "pending", "available", "jobs", "job_live", "pools", "schedules", "idempotency", "unique_keys"} {
		if n := w.count(t, `select count(*) from weir.`+table); n != 0 {
			t.Errorf("%d rows in %s", n, table)
		}
	}
	if n := w.count(t, `select count(*) from weir.events`); n != before {
		t.Errorf("%d events", n-before)
	}
}

func second[T any](_ T, err error) error { return err }

// A stale token changes nothing but the timeline, where it is recorded.
func TestStaleTokenIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	worker := weir.NewWorker(w.client, weir.WorkerConfig{})
	begun, release, event := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	handle(worker, "a", func(ctx context.Context, run *weir.Run[struct{}]) (any, error) {
		if run.Attempt > 1 {
			return "second", nil
		}
		close(begun)
		<-release
		event <- run.Event("info", "am I alive?", nil)
		return "first", nil
	})
	w.run(t, worker)
	id := w.submit(t, weir.Task{Service: "a"})
	receive(t, "the handler begins", begun)
	// As if the worker had been silent for long. A lease that is being renewed at this instant is passed over.
	until(t, "the task left its worker", func() bool {
		if _, err := w.Pool.Exec(t.Context(), `select weir.expire(at => clock_timestamp() + interval '1 hour')`); err != nil {
			t.Fatal(err)
		}
		return w.count(t, `select count(*) from weir.event where task = $1 and type = 'expired'`, id) == 1
	})
	close(release)
	if err := receive(t, "the event is answered", event); !errors.Is(err, weir.ErrLeaseLost) {
		t.Errorf("an event under a stale token: %v", err)
	}
	if got := w.wait(t, id); string(got.Result) != `"second"` || got.Attempt != 2 {
		t.Errorf("got %+v", got)
	}
	if n := w.count(t, `select count(*) from weir.event where task = $1 and type = 'stale'`, id); n == 0 {
		t.Error("the refusal is not on the timeline")
	}
	if worker.Stats().Lost != 1 || !slices.ContainsFunc(w.log.all(), func(s string) bool { return strings.Contains(s, "lost") }) {
		t.Errorf("the loss is not counted and logged: %+v", worker.Stats())
	}
}
