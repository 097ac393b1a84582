package leasing

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// Untold is for how many lengths of a lease it is renewed only because the end of its
// work could not be told: time for a person to mend a server, a grant or an upgrade.
// After that the task goes to a worker that can tell.
const Untold = 5

// guardEvery is the longest time between two looks at the clock.
const guardEvery = 250 * time.Millisecond

// Keeper keeps leases of one length. All fields are needed.
type Keeper struct {
	Length time.Duration
	// Clock is uptime.Now; a test may let the machine sleep.
	Clock func() time.Duration
	// Look asks for a renewal before its time. It has room for one.
	Look chan struct{}
	// Renew prolongs the leases that are due, and logs why it could not.
	Renew func(ctx context.Context) error
	// Guard stops work whose lease is unsure.
	Guard func(now time.Duration)
}

// Margin is how long before the end of its lease work stops that was not renewed: time
// to stop, before another may start the task.
func (k *Keeper) Margin() time.Duration { return k.Length / 6 }

// Due says that a renewal is to be sent.
func (k *Keeper) Due(asked, now time.Duration) bool { return now-asked >= k.Length/3 }

// Ripe says that the lease is renewed with one that is due.
func (k *Keeper) Ripe(asked, now time.Duration) bool { return now-asked >= k.Length/6 }

// Unsure says that another may soon have the task.
func (k *Keeper) Unsure(asked, now time.Duration) bool { return now-asked >= k.Length-k.Margin() }

// Within is how long the renewal of a lease may take: a sixth, or until work must stop.
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

// rest waits for d or until somebody asks for a renewal. False: ctx has ended.
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

// guard looks at the clock of leases often. Timers stop while a machine sleeps and that
// clock does not: work that wakes up with a lease that is over must not go on.
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

// backoff is the time to the next try after a number of failures in a row.
func (k *Keeper) backoff(failures int) time.Duration {
	d := min(k.Length/60<<min(failures-1, 10), k.Length/20)
	return d/2 + rand.N(d/2+1) // #nosec G404 -- jitter is no secret
}
