package rollout

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/coordinator"
	"github.com/weirhq/weir/internal/engine"
	"github.com/weirhq/weir/internal/listen"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/rollout/script"
	"github.com/weirhq/weir/internal/tending"
)

// led runs the loops of a leader as a server does, until the test ends.
func (r *rig) led() {
	r.Helper()
	hints := listen.New(r.db.Pool.Config().ConnConfig, r.store.log)
	gates, wakes := hints.Listen(tending.GatesChannel), hints.Listen(Channel)
	c := coordinator.New(coordinator.Config{Pool: r.db.Pool, Loops: func(term *coordinator.Term) []loop.Loop {
		return append(engine.Loops(engine.Config{Pool: r.db.Pool, Gates: gates}, term), Loops(Config{Pool: r.db.Pool, Store: r.store, Hints: wakes.C()}, term)...)
	}})
	ctx, stop := context.WithCancel(context.Background())
	var run sync.WaitGroup
	run.Go(func() { _ = hints.Run(ctx) }) // its error is that we end
	run.Go(func() { c.Run(ctx) })
	r.Cleanup(func() { stop(); run.Wait() })
}

// With a leader and an executor everything goes by itself: three stages, one after
// the other, and a run whose executor was lost after it had committed.
func TestByItself(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.target("one", "test")
	r.target("two", "staging")
	r.target("three", "prod")
	stages := []Stage{{Name: "test"}, {Name: "staging", Canary: 1}, {Name: "prod"}}
	x := r.started(Plan{Stages: stages, Changes: []script.Change{ddl(1), ddl(2)}, Parallel: 2})
	l := r.claim("test/one/1")
	r.apply(l)
	r.lose(l, "applied")
	r.want(x.ID, "test/one/1 UNKNOWN", "test/one/2 PENDING", "staging/two/1 NOT_STARTED", "staging/two/2 NOT_STARTED", "prod/three/1 NOT_STARTED", "prod/three/2 NOT_STARTED")
	began := time.Now()
	r.led()
	r.executes(4)
	r.until("the end", func() bool {
		out, err := r.store.Rollout(t.Context(), x.ID)
		if err != nil {
			t.Fatal(err)
		}
		return out.State == StateDone
	})
	t.Logf("it took %s", time.Since(began))
	run, err := r.store.Run(t.Context(), l.task, 1)
	if err != nil || len(run.Attempts) != 2 || run.Attempts[0].ResolvedBy != "resolver" || run.Attempts[1].Status != Done {
		t.Fatalf("%+v %v", run.Attempts, err)
	}
}
