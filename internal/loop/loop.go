package loop

import (
	"context"
	"math/rand/v2"
	"time"
)

const (
	// burst is how many ticks follow one another while there is more to do.
	burst = 64
	// breath is the rest after a burst, so that one loop does not starve the others.
	breath = 10 * time.Millisecond
	// backoffFirst is the wait after the first error.
	backoffFirst = 100 * time.Millisecond
	// backoffLeast and backoffMost bound how far the wait grows: to Every, but
	// not so short that a dead database is hammered, nor so long that nobody
	// notices that it is back.
	backoffLeast, backoffMost = 5 * time.Second, time.Minute
	// patience is how long a tick may take unless its loop says otherwise.
	patience = time.Minute
)

// Tick does one bounded piece of work. More asks for another tick at once.
type Tick func(ctx context.Context, now time.Time) (more bool, err error)

// Loop says when a Tick is called. The first call is at once.
type Loop struct {
	// Name is unique among the loops of a Runner.
	Name string
	Tick Tick
	// Every is the longest time between two ticks. It must be positive: hints
	// get lost, so every loop has a floor.
	Every time.Duration
	// Wake calls for a tick before that, if it is not nil.
	Wake <-chan struct{}
	// Gap is the least time between two ticks when Wake calls for the second
	// one. What is said meanwhile is dealt with together.
	Gap time.Duration
	// Next, if not nil, is asked after each tick when the next one is due, for
	// what is known to happen before Every is over. Zero: nothing is.
	Next func() time.Time
	// Timeout ends the context of a tick. Zero: one minute.
	Timeout time.Duration
}

// pause is how long to wait after a tick that began at start and ended now.
func (l *Loop) pause(start, now time.Time) time.Duration {
	wait := l.Every - rand.N(l.Every/10+1) // #nosec G404 -- jitter is no secret
	if l.Next != nil {
		if next := l.Next(); !next.IsZero() {
			// The millisecond makes sure that it is due when we look.
			wait = min(wait, max(next.Sub(now)+time.Millisecond, breath-now.Sub(start)))
		}
	}
	return wait
}

// backoff is how long to wait after so many errors in a row.
func (l *Loop) backoff(failed int) time.Duration {
	wait := min(max(l.Every, backoffLeast), backoffMost)
	if shift := failed - 1; shift < 16 {
		wait = min(wait, backoffFirst<<shift)
	}
	return wait/2 + rand.N(wait/2) // #nosec G404 -- jitter is no secret
}

// Wait waits for d, for wake or for the end of ctx, and reports whether ctx is
// still good.
func Wait(ctx context.Context, d time.Duration, wake <-chan struct{}) bool {
	_, good := wait(ctx, d, wake)
	return good
}

func wait(ctx context.Context, d time.Duration, wake <-chan struct{}) (woken, good bool) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-wake:
		woken = true
	case <-ctx.Done():
	}
	return woken, ctx.Err() == nil
}
