package leasing

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// Untold is the number of lease lengths for which a lease is renewed only because the end
// of its work could not be reported: time for an operator to fix a server, a grant or an
// upgrade. After that the task goes to a worker that can report.
const Untold = 5

// guardEvery is the longest time between two looks at the clock.
const guardEvery = 250 * time.Millisecond

// Keeper keeps leases of one length. All fields are required.
type Keeper struct {
	Length time.Duration
	// Clock is uptime.Now; a test may simulate a sleeping machine.
	Clock func() time.Duration
	// Look requests a renewal before it is due. Its capacity is one.
	Look chan struct{}
	// Renew extends the leases that are due, and logs why it could not.
	Renew func(ctx context.Context) error
	// Guard stops work whose lease is unsure.
	Guard func(now time.Duration)
}

// Margin returns how long before the end of its lease work stops if the lease was not
// renewed, so that it ends before another worker may start the task.
func (k *Keeper) Margin() time.Duration { return k.Length / 6 }

// Due reports whether a renewal must be sent.
func (k *Keeper) Due(asked, now time.Duration) bool { return now-asked >= k.Length/3 }

// Ripe reports whether the lease is renewed together with one that is due.
func (k *Keeper) Ripe(asked, now time.Duration) bool { return now-asked >= k.Length/6 }

// Unsure reports whether another worker may soon have the task.
func (k *Keeper) Unsure(asked, now time.Duration) bool { return now-asked >= k.Length-k.Margin() }

// Within returns the timeout of a renewal: a sixth of the length, or until work must
// stop.
func (k *Keeper) Within(asked, now time.Duration) time.Duration {
	within := k.Length / 6
	if left := asked + k.Length - k.Margin() - now; left > 0 {
		within = min(within, left)
	}
	return within
}

// Run keeps leases until ctx ends.
func (k *Keeper) Run(ctx context.Context) {
	var guard sync.WaitGroup
	guard.Go(func() { k.guard(ctx) })
	defer guard.Wait()
	wait := k.Length / 6
	for failures := 0; k.rest(ctx, wait); {
		wait = k.Length / 6
		if err := k.Renew(ctx); err == nil {
			failures = 0
		} else if ctx.Err() == nil {
			failures++
			wait = k.backoff(failures)
		}
	}
}

// rest waits for d or until a renewal is requested. It returns false if ctx has ended.
func (k *Keeper) rest(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-k.Look:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}

// guard checks the clock of leases often. Timers stop while a machine sleeps and that
// clock does not: work that wakes up with an expired lease must not continue.
func (k *Keeper) guard(ctx context.Context) {
	tick := time.NewTicker(min(k.Length/60, guardEvery))
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			k.Guard(k.Clock())
		case <-ctx.Done():
			return
		}
	}
}

// backoff returns the time to the next try after a number of failures in a row.
func (k *Keeper) backoff(failures int) time.Duration {
	d := min(k.Length/60<<min(failures-1, 10), k.Length/20)
	return d/2 + rand.N(d/2+1) // #nosec G404 -- jitter is no secret
}
