package weir_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/weirhq/weir"
)

var timeZero time.Time

// A reader that comes back with its cursor misses nothing, also of transactions
// that commit late.
func TestFollow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	tail, err := w.client.Tail(ctx)
	if err != nil {
		t.Fatal(err)
	}
	// The late one takes its number first and commits last.
	late, err := w.Pool.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	receipts, err := w.client.SubmitTx(ctx, late, weir.Task{Service: "late"})
	if err != nil {
		t.Fatal(err)
	}
	many := make([]weir.Task, 50)
	for i := range many {
		many[i] = weir.Task{Service: "a"}
	}
	batch, err := w.client.SubmitMany(ctx, many)
	if err != nil {
		t.Fatal(err)
	}
	want := map[weir.ID]bool{receipts[0].ID: true}
	for _, r := range batch {
		want[r.ID] = true
	}

	// Break off in the middle of a batch, and go on from the last cursor.
	stop, cursor, seen := errors.New("enough"), tail, map[weir.ID]bool{}
	if err := late.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	read := func(limit int) error {
		return w.client.Follow(ctx, cursor, weir.Filter{}, func(e weir.Event) error {
			if e.Type == "submitted" {
				seen[e.Task] = true
			}
			cursor = e.Cursor
			if len(seen) >= limit {
				return stop
			}
			return nil
		})
	}
	for _, limit := range []int{10, len(want)} {
		if err := read(limit); !errors.Is(err, stop) {
			t.Fatalf("%d of %d seen: %v", len(seen), len(want), err)
		}
	}
	for id := range want {
		if !seen[id] {
			t.Errorf("task %s was left out", id)
		}
	}
}

func TestFollowOneTaskLive(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	worker := weir.NewWorker(w.client, weir.WorkerConfig{})
	handle(worker, "a", nothing)
	id := w.submit(t, weir.Task{Service: "a"})
	w.submit(t, weir.Task{Service: "a"})
	stop := errors.New("enough")
	events := make(chan weir.Event, 10)
	ended := make(chan error, 1)
	go func() {
		ended <- w.client.Follow(ctx, "", weir.Filter{Task: id}, func(e weir.Event) error {
			events <- e
			if e.Type == "done" {
				return stop
			}
			return nil
		})
	}()
	if e := receive(t, "the first event", events); e.Type != "submitted" || e.Task != id {
		t.Errorf("got %+v", e)
	}
	w.run(t, worker)
	if e := receive(t, "the second event", events); e.Type != "claimed" || e.Worker != worker.Name() || e.Attempt != 1 {
		t.Errorf("got %+v", e)
	}
	if e := receive(t, "the third event", events); e.Type != "done" || e.At.IsZero() {
		t.Errorf("got %+v", e)
	}
	if err := receive(t, "Follow returns", ended); !errors.Is(err, stop) {
		t.Error(err)
	}
}

func TestFollowEndsWithItsContext(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.client.Follow(ctx, "", weir.Filter{}, func(weir.Event) error { return nil }) }()
	cancel()
	if err := receive(t, "Follow returns", ended); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A cursor that the database cannot have given is refused: it was restored, or a
// standby took over.
func TestFollowAheadOfTheDatabase(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	err := w.client.Follow(t.Context(), "999999999999.1", weir.Filter{}, func(weir.Event) error { return nil })
	if !errors.Is(err, weir.ErrConflict) {
		t.Errorf("got %v, want a conflict", err)
	}
}
