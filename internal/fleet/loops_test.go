package fleet

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/coordinator"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/testwait"
)

// TestLoops has a leader end a job whose device never appears, which only its loop can
// do.
func TestLoops(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("a", 1)...)
	r.exec(`update weir.nodes set seen_at = clock_timestamp() - interval '1 h'`)
	r.now = time.Now()
	id := r.submit("nobody", func(s *Spec) { s.Linger = new(node.Span) })

	ctx, stop := context.WithCancel(context.Background())
	c := coordinator.New(coordinator.Config{Pool: r.db.Pool, Loops: func(term *coordinator.Term) []loop.Loop { return Loops(Config{Pool: r.db.Pool}, term) }})
	var run sync.WaitGroup
	run.Go(func() { c.Run(ctx) })
	t.Cleanup(func() { stop(); run.Wait() })
	testwait.Every(t, 20*time.Millisecond, "somebody ends it", func() bool {
		return r.count(`select count(*) from weir.fleet_jobs where job = $1 and state = 'ended'`, id) > 0
	})
	r.units(id, "1 missed")
	r.want("offline", r.count(`select count(*) from weir.devices where not online`), 1)
}

func TestTidy(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("a", 1)...)
	id := r.submit("old", nil)
	r.done(r.claim("PC-01", 1)...)
	r.job(id, JobDone)
	r.want("not yet", r.count(`select weir.fleet_tidy(at => $1)`, r.now.Add(48*time.Hour)), 0)
	r.db.SkipDoctor("a job is dropped as retention drops it, but alone")
	r.exec(`delete from weir.jobs where id = $1`, id)
	r.want("forgotten", r.count(`select weir.fleet_tidy(at => $1)`, r.now.Add(48*time.Hour)), 1)
	r.want("units", r.count(`select count(*) from weir.fleet_units`), 0)
}
