package loop

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"
)

// Runner runs loops and remembers how they went. The zero value works.
type Runner struct {
	// Log hears of a loop that begins to fail and of one that works again.
	Log *slog.Logger

	mu    sync.Mutex
	stats []*Stats
}

// Run runs the loops until ctx ends, and returns when the last tick has. A
// loop of the same name as in an earlier Run goes on with its statistics.
func (r *Runner) Run(ctx context.Context, loops ...Loop) {
	var group sync.WaitGroup
	for _, l := range loops {
		if l.Every <= 0 || l.Tick == nil {
			panic("loop: " + l.Name + " needs Every and Tick")
		}
		s := r.enter(l.Name, l.Every)
		group.Go(func() { r.run(ctx, l, s) })
	}
	group.Wait()
}

func (r *Runner) run(ctx context.Context, l Loop, s *Stats) {
	for failed := 0; ctx.Err() == nil; {
		start := time.Now()
		more, err := r.burst(ctx, &l, s)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			failed++
			Wait(ctx, l.backoff(failed), nil)
			continue
		}
		failed = 0
		if more {
			Wait(ctx, breath, nil)
			continue
		}
		now := time.Now()
		if woken, good := wait(ctx, l.pause(start, now), l.Wake); woken && good {
			if rest := l.Gap - time.Since(start); rest > 0 {
				Wait(ctx, rest, nil)
			}
		}
	}
}

// burst ticks until there is no more to do, or for a while.
func (r *Runner) burst(ctx context.Context, l *Loop, s *Stats) (more bool, err error) {
	for range burst {
		now := time.Now()
		r.begin(s, now)
		more, err = tick(ctx, l, now)
		if ctx.Err() != nil {
			err = nil // we ended it
		}
		r.end(s, time.Since(now), err)
		if !more || err != nil || ctx.Err() != nil {
			return false, err
		}
	}
	return more, nil
}

// tick calls the Tick. A panic is an error of this tick.
func tick(ctx context.Context, l *Loop, now time.Time) (more bool, err error) {
	timeout := l.Timeout
	if timeout == 0 {
		timeout = patience
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	defer func() {
		if v := recover(); v != nil {
			more, err = false, fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	return l.Tick(ctx, now)
}
