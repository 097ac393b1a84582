package flow

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// stall is the timeout of a run.
const stall = 5 * time.Minute

// Gather collects the times at which work began.
type Gather struct {
	mu    sync.Mutex
	times []time.Time
	seen  map[string]bool
	left  int
	all   chan struct{}
}

// Expect resets and waits for n pieces of work.
func (g *Gather) Expect(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.times, g.seen, g.left, g.all = make([]time.Time, 0, n), map[string]bool{}, n, make(chan struct{})
}

// Began is called by the work itself. Named work that begins again because its first
// attempt was lost counts once.
func (g *Gather) Began(name string) {
	now := time.Now()
	g.mu.Lock()
	defer g.mu.Unlock()
	if name != "" && g.seen[name] {
		return
	}
	g.seen[name] = true
	g.times = append(g.times, now)
	if g.left--; g.left == 0 {
		close(g.all)
	}
}

// Await waits until all work has begun, and returns when each began.
func (g *Gather) Await(ctx context.Context) ([]time.Time, error) {
	g.mu.Lock()
	all := g.all
	g.mu.Unlock()
	select {
	case <-all:
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(stall):
		g.mu.Lock()
		defer g.mu.Unlock()
		return nil, fmt.Errorf("%d of %d pieces of work have begun after %s", len(g.times), len(g.times)+g.left, stall)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.times, nil
}

// Late returns how long after the instant each time is.
func Late(times []time.Time, instant time.Time) []time.Duration {
	late := make([]time.Duration, len(times))
	for i, t := range times {
		late[i] = t.Sub(instant)
	}
	return late
}

// Each calls f for 0 … n-1, Submitters at a time, and returns the first error.
func Each(ctx context.Context, n int, f func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var group sync.WaitGroup
	for range min(Submitters, n) {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				if err := f(ctx, i); err != nil {
					cancel(err)
				}
			}
		})
	}
	group.Wait()
	return context.Cause(ctx)
}

// Poll calls done at the given interval until it returns true.
func Poll(ctx context.Context, every time.Duration, done func(context.Context) (bool, error)) error {
	ctx, cancel := context.WithTimeoutCause(ctx, stall, fmt.Errorf("no end after %s", stall))
	defer cancel()
	for {
		if ok, err := done(ctx); ok || err != nil {
			return err
		}
		select {
		case <-time.After(every):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
