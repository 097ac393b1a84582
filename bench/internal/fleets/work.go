package fleets

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/node"
)

// Beside is the load while PCs work.
type Beside struct {
	// Lives means that every PC reports, renews and beats as an agent does, and a leader
	// tends.
	Lives bool
	// Plain is how many tasks of a plain queue are submitted and worked per second.
	Plain int
}

// Worked is the measurement of PCs at work.
type Worked struct {
	// Turns are ends followed by a claim. Each frees one slot and fills it.
	Turns   int
	Elapsed time.Duration
	// Next is from the call that ends a run to the answer with the next one, in
	// milliseconds.
	Next []float64
	// Plain is how many tasks of the plain queue were done in the meantime.
	Plain int
	// Calls is how many reports, renewals and heartbeats were made in the meantime.
	Calls int
}

// warmTurns is how often a statement is planned before PostgreSQL keeps a plan.
const warmTurns = 6

// Rate returns turns per second.
func (w Worked) Rate() float64 { return float64(w.Turns) / w.Elapsed.Seconds() }

// Work has PCs end a run and claim the next, one PC after the other, for the given time
// and at most most turns; a pace above zero is how many turns begin per second.
func (l *Lab) Work(ctx context.Context, length time.Duration, most int, pace float64, beside Beside) (w Worked, err error) {
	besides, stop := context.WithCancel(ctx)
	side := l.start(besides, beside)
	began := time.Now()
	var mu sync.Mutex
	var turn atomic.Int64
	err = l.crew(func() error {
		var next []float64
		defer func() {
			mu.Lock()
			w.Next = append(w.Next, next...)
			mu.Unlock()
		}()
		for {
			n := turn.Add(1) - 1
			due := began
			if pace > 0 {
				due = began.Add(time.Duration(float64(n) / pace * float64(time.Second)))
			}
			if time.Until(due) > 0 && !loop.Wait(ctx, time.Until(due), nil) {
				return ctx.Err()
			}
			if n >= int64(most) || time.Since(began) > length || ctx.Err() != nil {
				return ctx.Err()
			}
			if pace == 0 {
				due = time.Now()
			}
			if err := l.turn(ctx, l.pcs[int(n)%len(l.pcs)]); err != nil {
				return err
			}
			// A turn that began late because all connections were busy includes that
			// wait.
			next = append(next, ms(time.Since(due)))
		}
	})
	w.Turns, w.Elapsed = len(w.Next), time.Since(began)
	stop()
	plain, calls, sideErr := side()
	w.Plain, w.Calls = plain, calls
	switch {
	case err != nil:
		return w, fmt.Errorf("work: %w", err)
	case sideErr != nil:
		return w, fmt.Errorf("work beside it: %w", sideErr)
	}
	return w, l.check(ctx)
}

// Warm has every connection work a few turns that do not count, because the first calls
// of a session plan their statements, and sessions are long.
func (l *Lab) Warm(ctx context.Context) error {
	var next atomic.Int64
	return l.crew(func() error {
		for range warmTurns {
			if err := l.turn(ctx, l.pcs[int(next.Add(1))%len(l.pcs)]); err != nil {
				return err
			}
		}
		return nil
	})
}

// turn ends the oldest run of a PC and claims the next.
func (l *Lab) turn(ctx context.Context, p *pc) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.held[0]
	refused, err := p.desk.End(ctx, []node.Outcome{{Lease: node.Lease{Task: h.Task, Attempt: h.Attempt, Token: h.Token.String()}, Verdict: node.Done, Quiet: true}})
	if err != nil {
		return fmt.Errorf("%s ends a run: %w", p.name, err)
	}
	if len(refused) > 0 {
		return fmt.Errorf("%s ends a run: it was refused", p.name)
	}
	p.held = p.held[1:]
	l.ended.Add(1)
	n, err := l.claim(ctx, p, 1)
	if err == nil && n != 1 {
		err = fmt.Errorf("it got %d, wanted 1", n)
	}
	if err != nil {
		return fmt.Errorf("%s claims: %w", p.name, err)
	}
	return nil
}

func ms(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }
