package weir_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir"
)

// Of two workers with one name the second is refused, and its end hands back nothing
// of the first.
func TestSecondOfOneNameIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one := weir.NewWorker(w.client, weir.WorkerConfig{Name: "twin"})
	begun, release := make(chan struct{}), make(chan struct{})
	handle(one, "a", func(context.Context, *weir.Run[struct{}]) (any, error) {
		close(begun)
		<-release
		return nil, nil
	})
	w.run(t, one)
	id := w.submit(t, weir.Task{Service: "a"})
	receive(t, "the handler begins", begun)
	two := weir.NewWorker(w.open(t, w.URL), weir.WorkerConfig{Name: "twin"})
	two.SetNameFor(time.Millisecond)
	handle(two, "a", nothing)
	if err := two.Run(t.Context()); !errors.Is(err, weir.ErrConflict) || !strings.Contains(err.Error(), "another process") {
		t.Errorf("the second one ends with %v", err)
	}
	if err := two.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	close(release)
	if got := w.wait(t, id); got.State != weir.Done || got.Attempt != 1 {
		t.Errorf("got %+v: %s", got, w.types(t, id))
	}
}

// The name of a process that died is free when it was not heard for 30 s; that of one
// that stopped is free at once.
func TestNameOfADeadWorkerIsFree(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.exec(t, `select weir.register_worker('phoenix', array['a'], holder => 'an earlier life')`)
	worker := weir.NewWorker(w.client, weir.WorkerConfig{Name: "phoenix"})
	handle(worker, "a", nothing)
	w.run(t, worker)
	until(t, "it was refused", func() bool { return strings.Contains(strings.Join(w.log.all(), "\n"), "another worker has the name") })
	w.exec(t, `update weir.workers set seen_at = seen_at - interval '30 s'`)
	w.wait(t, w.submit(t, weir.Task{Service: "a"}))
	if err := worker.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	next := weir.NewWorker(w.client, weir.WorkerConfig{Name: "phoenix"})
	next.SetNameFor(0)
	handle(next, "a", nothing)
	w.run(t, next)
	w.wait(t, w.submit(t, weir.Task{Service: "a"}))
}

// A worker that was not heard for so long that another one took its name stops, and
// hands back nothing of the other.
func TestReplacedWorkerStops(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	worker := weir.NewWorker(w.client, weir.WorkerConfig{Name: "twin"})
	handle(worker, "a", nothing)
	ended := make(chan error, 1)
	go func() { ended <- worker.Run(context.WithoutCancel(t.Context())) }()
	w.wait(t, w.submit(t, weir.Task{Service: "a"}))
	if err := worker.Miss(time.Minute); err != nil {
		t.Fatalf("nobody took the name: %v", err)
	}
	w.exec(t, `update weir.workers set seen_at = seen_at - interval '1 hour'`,
		`select weir.register_worker('twin', array['b'], holder => 'another one')`, `select weir.submit('b')`, `select weir.claim('twin', array['b'])`)
	if err := worker.Miss(time.Minute); !errors.Is(err, weir.ErrConflict) {
		t.Errorf("it hears %v", err)
	}
	if err := receive(t, "it stops", ended); !errors.Is(err, weir.ErrConflict) {
		t.Errorf("it ends with %v", err)
	}
	if n := w.count(t, `select count(*) from weir.running`); n != 1 {
		t.Error("it handed back what the other one holds")
	}
}
