package weir_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/weirhq/weir"
)

func rawJSON(s string) json.RawMessage { return json.RawMessage(s) }

// A worker that stops hands back what it holds and spends no attempt.
func TestStopHandsBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, stubborn := range map[string]bool{"handler obeys": false, "handler ignores it": true} {
		t.Run(name, func(t *testing.T) {
			worker := weir.NewWorker(w.client, weir.WorkerConfig{Grace: time.Millisecond})
			begun, cause, release := make(chan struct{}), make(chan error, 1), make(chan struct{})
			handle(worker, "long", func(ctx context.Context, _ *weir.Run[struct{}]) (any, error) {
				close(begun)
				<-ctx.Done()
				cause <- context.Cause(ctx)
				if stubborn {
					<-release
				}
				return nil, errors.New("interrupted")
			})
			ended := make(chan error, 1)
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			go func() { ended <- worker.Run(ctx) }()
			id := w.submit(t, weir.Task{Service: "long", MaxAttempts: 1})
			receive(t, "the handler begins", begun)
			stop()
			if got := receive(t, "the context ends", cause); !errors.Is(got, weir.ErrStopped) {
				t.Errorf("the cause is %v", got)
			}
			if err := receive(t, "the worker ends", ended); err != nil {
				t.Error(err)
			}
			close(release)
			info := w.task(t, id)
			if info.State != weir.Available {
				t.Errorf("the task is %+v", info)
			}
			again := weir.NewWorker(w.client, weir.WorkerConfig{})
			handle(again, "long", nothing)
			w.run(t, again)
			if got := w.wait(t, id); got.State != weir.Done || got.Attempt != 2 {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// waited tells when somebody begins to wait for its end.
type waited struct {
	context.Context
	begun chan struct{}
	once  sync.Once
}

func (w *waited) Done() <-chan struct{} {
	w.once.Do(func() { close(w.begun) })
	return w.Context.Done()
}

// Within the grace handlers finish, and their ends are told. There is one slot: what a
// claim takes that is under way when the worker stops, is still run.
func TestStopWaitsForHandlers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	worker := weir.NewWorker(w.client, weir.WorkerConfig{Grace: soon, Concurrency: 1})
	begun, release := make(chan struct{}), make(chan struct{})
	handle(worker, "long", func(context.Context, *weir.Run[struct{}]) (any, error) {
		close(begun)
		<-release
		return "done in time", nil
	})
	ended := make(chan error, 1)
	go func() { ended <- worker.Run(t.Context()) }()
	id := w.submit(t, weir.Task{Service: "long"})
	receive(t, "the handler begins", begun)
	stopped, waits := make(chan error, 1), &waited{Context: t.Context(), begun: make(chan struct{})}
	go func() { stopped <- worker.Stop(waits) }()
	receive(t, "Stop waits for the handler", waits.begun)
	second := w.submit(t, weir.Task{Service: "long"})
	close(release)
	if err := receive(t, "Stop returns", stopped); err != nil {
		t.Error(err)
	}
	if err := receive(t, "Run returns", ended); err != nil {
		t.Error(err)
	}
	if got := w.task(t, id); got.State != weir.Done {
		t.Errorf("the task is %+v", got)
	}
	if got := w.task(t, second); got.State != weir.Available {
		t.Errorf("a stopping worker took %+v", got)
	}
	var stopped1 bool
	if err := w.Pool.QueryRow(t.Context(), `select stopped_at is not null from weir.workers where name = $1`, worker.Name()).Scan(&stopped1); err != nil || !stopped1 {
		t.Errorf("the worker did not say goodbye: %v, %v", stopped1, err)
	}
}

// Stop with a context that has ended interrupts handlers at once.
func TestStopInAHurry(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	worker := weir.NewWorker(w.client, weir.WorkerConfig{Grace: time.Hour})
	begun := make(chan struct{})
	handle(worker, "long", func(ctx context.Context, _ *weir.Run[struct{}]) (any, error) {
		close(begun)
		<-ctx.Done()
		return nil, ctx.Err()
	})
	ended := make(chan error, 1)
	go func() { ended <- worker.Run(t.Context()) }()
	w.submit(t, weir.Task{Service: "long"})
	receive(t, "the handler begins", begun)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := worker.Stop(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Stop: %v", err)
	}
	if err := receive(t, "Run returns", ended); err != nil {
		t.Error(err)
	}
}

// The hurry may come at any moment of the end, and ends nothing but the grace. Many
// rounds, since the moment is what matters.
func TestStopInAHurryWhenIdle(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range 20 {
		worker := weir.NewWorker(w.client, weir.WorkerConfig{Grace: time.Hour})
		handle(worker, "idle", nothing)
		ended := make(chan error, 1)
		go func() { ended <- worker.Run(t.Context()) }()
		until(t, "it runs", func() bool {
			return w.count(t, `select count(*) from weir.workers where name = $1`, worker.Name()) == 1
		})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := worker.Stop(ctx); err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("Stop: %v", err)
		}
		if err := receive(t, "Run returns", ended); err != nil {
			t.Error(err)
		}
	}
}

func TestRunNeedsHandlersAndRunsOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	worker := weir.NewWorker(w.client, weir.WorkerConfig{})
	if err := worker.Run(t.Context()); err == nil {
		t.Error("a worker without handlers runs")
	}
	handle(worker, "a", nothing)
	w.run(t, worker)
	until(t, "it runs", func() bool {
		return w.count(t, `select count(*) from weir.workers where name = $1`, worker.Name()) == 1
	})
	if err := worker.Run(t.Context()); err == nil {
		t.Error("a worker runs twice")
	}
	defer func() {
		if recover() == nil {
			t.Error("Handle is accepted while the worker runs")
		}
	}()
	handle(worker, "b", nothing)
}
