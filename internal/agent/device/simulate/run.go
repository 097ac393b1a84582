package simulate

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/weirhq/weir/internal/agent/driver"
	"github.com/weirhq/weir/internal/loop"
)

// The exit codes of attempts. The code of a break is the one that sysexits uses for a
// failure that a retry may fix.
const (
	exitFail, exitBreak    = 1, 75
	exitAsked, exitKilled  = 128 + 15, 128 + 9
	stepsMost, stepShortly = 10, 100 * time.Millisecond
)

// run is one attempt on a device.
type run struct {
	lab   *Lab
	phone *phone
	mark  string
	fate  fate
	out   driver.Output

	// ctx ends when the attempt is killed; wake ends a wait, so that the attempt sees
	// what has changed.
	ctx   context.Context
	cut   context.CancelFunc
	wake  chan struct{}
	asked atomic.Bool
	// leash is when the attempt must be over, in Unix nanoseconds; 0 means never.
	leash atomic.Int64

	done chan struct{}
	exit driver.Exit
}

func newRun(l *Lab, p *phone, work driver.Work, f fate, out driver.Output) *run {
	r := &run{lab: l, phone: p, mark: work.Mark(), fate: f, out: out, wake: make(chan struct{}, 1), done: make(chan struct{})}
	r.ctx, r.cut = context.WithCancel(context.Background())
	_ = r.Leash(work.Leash) // it cannot fail
	return r
}

// live runs the attempt from its start to its end.
func (r *run) live() {
	defer close(r.done)
	defer r.cut()
	r.exit = r.act()
	r.lab.over(r, r.exit)
}

func (r *run) act() driver.Exit {
	steps := max(1, min(stepsMost, int(r.fate.after/stepShortly)))
	r.say(r.out.Stdout(), "begins on %s at %s", r.phone.Serial, r.phone.Target)
	begun := time.Now()
	for step := 1; step <= steps; step++ {
		until := begun.Add(r.fate.after * time.Duration(step) / time.Duration(steps))
		for left := time.Until(until); left > 0; left = time.Until(until) {
			r.pause(left)
			if e, over := r.interrupted(); over {
				return e
			}
		}
		if e, over := r.interrupted(); over {
			return e
		}
		if r.fate.end == succeeds {
			r.say(r.out.Stdout(), "::progress %d", 100*step/steps)
		}
	}
	switch r.fate.end {
	case fails:
		r.say(r.out.Stderr(), "simulated failure: the screen did not show what was expected")
		return driver.Exit{Code: exitFail}
	case breaks:
		r.say(r.out.Stderr(), "simulated trouble: error: protocol fault (connection reset)")
		return driver.Exit{Code: exitBreak, Reason: "simulated trouble with the connection", Infra: true}
	case hangs:
		r.say(r.out.Stdout(), "hangs")
		for {
			r.pause(time.Hour)
			if e, over := r.interrupted(); over {
				return e
			}
		}
	}
	result, err := json.Marshal(map[string]any{"serial": r.phone.Serial, "seconds": time.Since(begun).Seconds()})
	if err != nil {
		return driver.Exit{Code: exitFail, Reason: err.Error()}
	}
	r.say(r.out.Stdout(), "::result %s", result)
	return driver.Exit{}
}

// interrupted checks whether something ends the attempt early. A hanging attempt does not
// react to a request to end.
func (r *run) interrupted() (driver.Exit, bool) {
	now := time.Now()
	if at := r.leash.Load(); at > 0 && now.UnixNano() >= at {
		return driver.Exit{Code: exitKilled, Signal: "killed", Leashed: true}, true
	}
	if r.ctx.Err() != nil {
		return driver.Exit{Code: exitKilled, Signal: "killed"}, true
	}
	if r.asked.Load() && r.fate.end != hangs {
		return driver.Exit{Code: exitAsked, Signal: "terminated"}, true
	}
	r.lab.mu.Lock()
	lost := r.lab.lost(r.phone, now)
	r.lab.mu.Unlock()
	if lost {
		r.say(r.out.Stderr(), "error: device '%s' not found", r.phone.Serial)
		return driver.Exit{Code: exitBreak, Reason: "the device is lost", Infra: true}, true
	}
	return driver.Exit{}, false
}

// pause waits, but not beyond the leash.
func (r *run) pause(d time.Duration) {
	if at := r.leash.Load(); at > 0 {
		d = min(d, max(time.Until(time.Unix(0, at)), time.Millisecond))
	}
	loop.Wait(r.ctx, d, r.wake)
}

func (r *run) say(to io.Writer, format string, args ...any) {
	_, _ = fmt.Fprintf(to, format+"\n", args...) // an output never fails
}

// stir wakes the attempt, so that it sees what has changed.
func (r *run) stir() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Wait returns when the attempt is over.
func (r *run) Wait(ctx context.Context) (driver.Exit, error) {
	select {
	case <-r.done:
		return r.exit, nil
	case <-ctx.Done():
		return driver.Exit{}, ctx.Err()
	}
}

// Stop asks the attempt to end, waits for the grace period, then kills it.
func (r *run) Stop(ctx context.Context, grace time.Duration) error {
	r.asked.Store(true)
	r.stir()
	if grace > 0 {
		loop.Wait(ctx, grace, r.done)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	r.cut()
	select {
	case <-r.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Leash sets the time at which the attempt is over in any case.
func (r *run) Leash(until time.Time) error {
	if until.IsZero() {
		r.leash.Store(0)
	} else {
		r.leash.Store(until.UnixNano())
	}
	return nil
}
