package weir_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/testdb"
)

// twice is a worker that is given one task twice: its first attempt goes on,
// whatever its context says, when another one begins.
type twice struct {
	// zombie has the context of the first attempt, live that of the other.
	zombie, live chan context.Context
	// bury lets the first one return, finish the other.
	bury, finish chan struct{}
}

func handleTwice(worker *weir.Worker, service string) twice {
	h := twice{make(chan context.Context, 1), make(chan context.Context, 1), make(chan struct{}), make(chan struct{})}
	handle(worker, service, func(ctx context.Context, run *weir.Run[struct{}]) (any, error) {
		if run.Attempt == 1 {
			h.zombie <- ctx
			<-h.bury
			return "the zombie's", nil
		}
		h.live <- ctx
		select {
		case <-h.finish:
			return "the live one's", nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	})
	return h
}

// expire ends the lease of a task's first attempt, as if its time were over.
func (w *world) expire(t *testing.T, id weir.ID) {
	t.Helper()
	const first = `from weir.running where task = $1 and attempt = 1`
	until(t, "the lease is ended", func() bool {
		// In one transaction, else a renewal may come between; a pass does nothing
		// while another one is under way.
		err := pgx.BeginFunc(t.Context(), w.Pool, func(tx pgx.Tx) error {
			if _, err := tx.Exec(t.Context(), `update weir.running set until = '-infinity' where ctid = any (array(select ctid `+first+`))`, id); err != nil {
				return err
			}
			_, err := tx.Exec(t.Context(), `select weir.tend()`)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return w.count(t, `select count(*) `+first, id) == 0
	})
}

// A worker that was cut off loses its task and then claims it again itself,
// while its first handler still runs. That one is told to stop; the new one is
// not disturbed.
func TestAWorkerThatClaimsItsLostTaskAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	wire := newWire(t, w.URL)
	const lease = 6 * time.Second // enough to renew it on a busy machine
	worker := weir.NewWorker(w.open(t, wire.url), weir.WorkerConfig{Lease: lease})
	h := handleTwice(worker, "a")
	w.run(t, worker)
	id := w.submit(t, weir.Task{Service: "a", MaxAttempts: 1})
	zombie := receive(t, "the first attempt begins", h.zombie)

	heal := wire.cut(t)
	until(t, "the lease has run out", func() bool {
		return w.count(t, `select count(*) from weir.running where task = $1 and until < clock_timestamp()`, id) == 1
	})
	w.expire(t, id)
	heal()
	live := receive(t, "the second attempt begins", h.live)
	receive(t, "the context of the first one ends", zombie.Done())
	if cause := context.Cause(zombie); !errors.Is(cause, weir.ErrLeaseLost) {
		t.Errorf("the cause is %v", cause)
	}
	until(t, "the second one is renewed, the first one is refused", func() bool {
		return worker.Stats().Lost == 1 && w.count(t, `select count(*) from weir.running where task = $1 and until > claimed_at + $2`, id, lease+time.Second) == 1
	})
	close(h.bury)
	if err := live.Err(); err != nil {
		t.Errorf("the context of the second one ended: %v", context.Cause(live))
	}
	close(h.finish)
	if got := w.wait(t, id); got.State != weir.Done || string(got.Result) != `"the live one's"` {
		t.Errorf("got %+v: %s", got, w.types(t, id))
	}
	until(t, "the worker knows", func() bool { return worker.Stats().Done == 1 })
	if n := worker.Stats().Lost; n != 1 {
		t.Errorf("%d attempts were lost: %v", n, w.log.all())
	}
}

// The answer to one renewal names both attempts: one is lost, the other should
// stop because somebody cancelled the task.
func TestCancelReachesTheLiveAttempt(t *testing.T) {
	t.Parallel()
	testdb.Direct(t, "it waits for a session that listens")
	w := newWorld(t)
	worker := weir.NewWorker(w.client, weir.WorkerConfig{Lease: time.Minute})
	h := handleTwice(worker, "a")
	w.run(t, worker)
	defer close(h.bury)
	// When it begins to listen it asks about all its leases: now it has none.
	until(t, "it listens", func() bool {
		return w.count(t, `select count(*) from pg_stat_activity where datname = current_database() and application_name = 'weir listen' and state = 'idle'`) == 1
	})
	id := w.submit(t, weir.Task{Service: "a", MaxAttempts: 1})
	zombie := receive(t, "the first attempt begins", h.zombie)
	w.expire(t, id)
	// Who ended the lease did not tell the worker.
	if _, err := w.Pool.Exec(t.Context(), `select pg_notify('weir_available', '')`); err != nil {
		t.Fatal(err)
	}
	live := receive(t, "the second attempt begins", h.live)
	if _, err := w.client.Cancel(t.Context(), id, weir.Decision{By: "ann"}); err != nil {
		t.Fatal(err)
	}
	receive(t, "the context of the second one ends", live.Done())
	receive(t, "the context of the first one ends", zombie.Done())
	if cause := context.Cause(live); !errors.Is(cause, weir.ErrCanceled) {
		t.Errorf("the second one's cause is %v", cause)
	}
	if cause := context.Cause(zombie); !errors.Is(cause, weir.ErrLeaseLost) {
		t.Errorf("the first one's cause is %v", cause)
	}
	if got := w.wait(t, id); got.State != weir.Canceled {
		t.Errorf("got %+v: %s", got, w.types(t, id))
	}
}
