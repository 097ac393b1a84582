package weir

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weirhq/weir/internal/coordinator"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/tending"
)

const (
	// tendLeast and tendMost bound how long one client has the duty before
	// another may take it; see term.
	tendLeast, tendMost = 2 * time.Second, 15 * time.Second
	// tendLock is the name of that duty in weir.system_locks.
	tendLock = "library"
	// tendGap is short, because a task that a handler put off by a moment is waited for.
	tendGap = 5 * time.Millisecond
	// untendedFor is how long the word of a heartbeat counts: longer than the
	// time to the next.
	untendedFor = 25 * time.Second
)

// tender tends the engine (see internal/tending) as long as no coordinator of a server
// does. So a program that only uses this package needs no server. Of all such programs on
// a database one has the duty, or each if the database user may not lead, as role
// weir_worker.
type tender struct {
	client *Client

	mu sync.Mutex
	// active says that run runs.
	active bool
	// wanted is until when we know of no coordinator, and idle the timer that calls stop
	// then. stop ends the lead that run has or waits for.
	wanted time.Time
	idle   *time.Timer
	stop   context.CancelFunc
	// length is that of its terms.
	length time.Duration
	// passes are those of the last term; nil: there was none.
	passes atomic.Pointer[tending.Tender]
}

// want says that no coordinator tends the engine.
func (t *tender) want() {
	length := term(t.client.shortestLease())
	t.mu.Lock()
	defer t.mu.Unlock()
	t.wanted = time.Now().Add(untendedFor)
	switch {
	case !t.active:
		t.active = t.client.background(t.run)
	case t.idle != nil:
		t.idle.Reset(untendedFor)
		if length < t.length {
			t.stop() // and begins again with shorter terms
		}
	}
}

// due says that a task will be due in d. Only who tends need know.
func (t *tender) due(d time.Duration) {
	if passes := t.passes.Load(); passes != nil {
		passes.Expect(time.Now().Add(d))
	}
}

// term is how long a client keeps the duty that is not heard of any more: half
// a lease of its workers, so that what it leaves behind runs again within two.
func term(lease time.Duration) time.Duration { return min(max(lease/2, tendLeast), tendMost) }

func (t *tender) run(life context.Context) {
	c := t.client
	gates := c.subscribe(tending.GatesChannel)
	defer gates.Close()
	for {
		ctx, length := t.begin(life)
		if ctx == nil {
			return
		}
		coordinator.New(coordinator.Config{
			Pool: c.pool, Lock: tendLock, TTL: length, Unled: true, Quiet: true, Log: c.log,
			Loops: func(term *coordinator.Term) []loop.Loop {
				config := tending.Config{Pool: c.pool, Term: term, Gates: gates, Gap: tendGap, Due: dueRuns, Ready: func() { c.wake() }, Log: c.log}
				passes := tending.New(config)
				t.passes.Store(passes)
				if term.Epoch() == 0 {
					return []loop.Loop{passes.Loop()} // who may not lead may not fire schedules either
				}
				return []loop.Loop{passes.Loop(), tending.Schedules(config)}
			},
		}).Run(ctx)
	}
}

// begin is the context of a lead and the length of its terms; nil: it is not wanted
// any more.
func (t *tender) begin(life context.Context) (context.Context, time.Duration) {
	length := term(t.client.shortestLease())
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.idle != nil {
		t.idle.Stop()
	}
	left := time.Until(t.wanted)
	if t.active = life.Err() == nil && left > 0; !t.active {
		t.idle = nil
		return nil, 0
	}
	ctx, stop := context.WithCancel(life)
	t.stop, t.length, t.idle = stop, length, time.AfterFunc(left, stop)
	return ctx, length
}

func dueRuns(s tending.Schedule) (runs []time.Time, next time.Time, err error) {
	return Schedule{Spec: s.Spec, Zone: s.Zone, Missed: Missed(s.Missed), CatchUp: s.CatchUp}.Due(s.NextAt, s.Now)
}
