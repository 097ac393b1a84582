package target

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/weirhq/weir/internal/loop"
)

// guard stands beside a run, with a connection of its own. It sees whom a
// statement waits for, and when the context ends it has the server stop the run
// (rule 8): first the statement, after a grace the session.
type guard struct {
	a *attempt
	// cut ends the context of the run's driver: the last resort, when the server
	// cannot be reached to end the session.
	cut  context.CancelFunc
	done chan struct{} // the run has ended
	gone chan struct{} // the guard has

	mu sync.Mutex
	// since is when the statement began that runs now; zero: none does.
	since time.Time
	limit time.Duration
	// seen is since when it was found waiting, waited the sum for this statement.
	seen   time.Time
	waited time.Duration
	// by is whom it waited for last.
	by string

	side session // only the guard's goroutine uses it
}

const (
	// look is how often a statement that runs is looked at, for the first time
	// soon: a lock timeout is a second.
	lookEvery = 200 * time.Millisecond
	// sideTimeout bounds what the guard asks the server.
	sideTimeout = 5 * time.Second
	// goneWait is how long a canceled backend may take to vanish.
	goneWait = 30 * time.Second
)

// watchOver starts the guard of a run.
func (a *attempt) watchOver(ctx context.Context) *guard {
	g := &guard{a: a, done: make(chan struct{}), gone: make(chan struct{})}
	a.calm, g.cut = context.WithCancel(context.WithoutCancel(ctx))
	go g.watch(ctx)
	return g
}

// busy and idle are the run's: a statement begins, and it has ended.
func (g *guard) busy(limit time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.since, g.limit, g.seen, g.waited = time.Now(), limit, time.Time{}, 0
}

func (g *guard) idle() (waited time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.seen.IsZero() {
		g.waited += time.Since(g.seen)
	}
	g.since, g.seen = time.Time{}, time.Time{}
	return g.waited
}

// blocker is whom the last statement waited for.
func (g *guard) blocker() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.by
}

// conclude ends the guard and says how the run ended. A canceled run is over only
// when its backend is gone.
func (g *guard) conclude(err error) error {
	close(g.done)
	<-g.gone
	defer g.cut()
	defer func() {
		if g.side != nil {
			g.side.close()
		}
	}()
	var f *Failure
	if !errors.As(err, &f) || f.Code != CodeCanceled {
		return err
	}
	if !g.vanished() {
		f.Unknown = true
		f.Next = "Its session could not be seen to end. Look at the target's sessions named " + ApplicationName(g.a.run.Task, g.a.run.Attempt) + "."
	}
	return f
}

// watch is the guard's goroutine.
func (g *guard) watch(ctx context.Context) {
	defer close(g.gone)
	for loop.Wait(ctx, lookEvery, g.done) {
		if g.over() {
			return
		}
		g.look(ctx)
	}
	if g.over() {
		return
	}
	g.halt()
}

func (g *guard) over() bool {
	select {
	case <-g.done:
		return true
	default:
		return false
	}
}

// look sees whom the statement waits for that runs now, and stops one that the
// server itself lets run on beyond its time.
func (g *guard) look(ctx context.Context) {
	g.mu.Lock()
	since, limit := g.since, g.limit
	g.mu.Unlock()
	if since.IsZero() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, sideTimeout)
	defer cancel()
	s, err := g.connection(ctx)
	if err != nil {
		return // it is seen again soon
	}
	if limit > 0 && time.Since(since) > limit+time.Second {
		_, _ = s.stop(ctx, g.a.s.backend(), false) // it is seen again soon
	}
	list, err := s.blockers(ctx, g.a.s.backend())
	if err != nil {
		g.drop()
		return
	}
	names := make([]string, len(list))
	for i, b := range list {
		names[i] = b.String()
	}
	if by := g.note(since, strings.Join(names, ", ")); by != "" {
		g.a.tell.waiting(ctx, "waits for "+by)
	}
}

// note adds up the time that a statement waits.
func (g *guard) note(since time.Time, by string) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.since != since { // it ended while we looked
		return ""
	}
	switch {
	case by != "" && g.seen.IsZero():
		// It began to wait at some time since we looked last.
		g.seen = time.Now()
	case by == "" && !g.seen.IsZero():
		g.waited += time.Since(g.seen)
		g.seen = time.Time{}
	}
	if by != "" {
		g.by = by
	}
	return by
}

// halt has the server stop the run, and asks until it has ended: a request that
// comes between two statements stops nothing.
func (g *guard) halt() {
	background := context.Background()
	began := time.Now()
	for !g.over() {
		ctx, cancel := context.WithTimeout(background, sideTimeout)
		late := time.Since(began) > g.a.o.Grace
		s, err := g.connection(ctx)
		if err == nil {
			var reached bool
			if reached, err = s.stop(ctx, g.a.s.backend(), late); err == nil && late && !reached {
				g.cut() // the server has ended it, and we did not hear
			}
		}
		if err != nil {
			g.drop()
			if late {
				g.cut() // there is nobody to ask
			}
		}
		cancel()
		loop.Wait(background, lookEvery, g.done)
	}
}

// vanished waits until the run's backend is gone, and reports whether it is.
func (g *guard) vanished() bool {
	ctx, cancel := context.WithTimeout(context.Background(), goneWait)
	defer cancel()
	name := ApplicationName(g.a.run.Task, g.a.run.Attempt)
	for n := 1; ; n++ {
		s, err := g.connection(ctx)
		if err == nil {
			var here bool
			if here, err = s.alive(ctx, g.a.s.backend(), name); err == nil && !here {
				return true
			}
		}
		if err != nil {
			g.drop()
		}
		if n > 3 && err != nil || !loop.Wait(ctx, min(poll(n), lookEvery), nil) {
			return false
		}
	}
}

// connection is the guard's own, made when it is needed first.
func (g *guard) connection(ctx context.Context) (session, error) {
	if g.side == nil {
		s, err := g.a.e.open(ctx, g.a.o.ApplicationName)
		if err != nil {
			return nil, fmt.Errorf("connect beside the run: %w", err)
		}
		g.side = s
	}
	return g.side, nil
}

// drop forgets a connection that failed.
func (g *guard) drop() {
	if g.side != nil {
		g.side.close()
		g.side = nil
	}
}
