package agent

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/weirhq/weir/internal/agent/driver"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/uptime"
)

var (
	errKicked     = errors.New("there is something new to ask for")
	errUnanswered = errors.New("no answer in time")
)

func interrupted(err error) bool { return errors.Is(err, errKicked) }

// margin is how long before the end of its lease work that was not renewed is
// killed. Half of it is left when the leash of the driver is at its end.
func (a *Agent) margin() time.Duration { return a.config.Lease / 6 }

// leash is when work must be dead by itself.
func (a *Agent) leash(safe time.Duration) time.Time {
	return time.Now().Add(safe - a.margin()/2 - uptime.Now())
}

// renewLoop keeps leases alive: those that are older than a third of their
// length, with all that are older than a sixth.
func (a *Agent) renewLoop(ctx context.Context) {
	tick := a.config.Lease / 6
	wait := tick
	for failures := 0; ; {
		timer, all := time.NewTimer(wait), false
		select {
		case <-timer.C:
		case <-a.look:
			all = true
		case <-a.untold:
		case <-ctx.Done():
			timer.Stop()
			return
		}
		timer.Stop()
		wait = tick
		batch := a.due(all)
		if len(batch) == 0 {
			continue
		}
		if err := a.renew(ctx, batch); err == nil {
			failures = 0
		} else if ctx.Err() == nil {
			a.failed("renew", err)
			wait = min(backoff(failures), tick/4)
			failures++
		}
	}
}

// due marks and returns the leases to renew now.
func (a *Agent) due(all bool) (batch []*attempt) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now, anyDue := uptime.Now(), all
	age := func(at *attempt) time.Duration { return a.config.Lease - (at.safe - now) }
	for _, at := range a.held {
		anyDue = anyDue || a.needs(at, now) && age(at) >= a.config.Lease/3
	}
	for _, at := range a.held {
		if anyDue && a.needs(at, now) && !at.renewing && (all || age(at) >= a.config.Lease/6) {
			at.renewing = true
			batch = append(batch, at)
		}
	}
	return batch
}

// needs says whether a lease is still needed: by work, or by an end that waits to be
// told. The caller holds the mutex.
func (a *Agent) needs(at *attempt, now time.Duration) bool {
	return !at.telling && (!at.ended || at.untold == 0 || now-at.untold < untoldLeases*a.config.Lease)
}

// renew prolongs leases and acts on what is said about them.
func (a *Agent) renew(ctx context.Context, batch []*attempt) error {
	ctx, cancel := context.WithTimeout(ctx, a.config.Lease/6)
	defer cancel()
	leases := make([]node.Lease, len(batch))
	for i, at := range batch {
		leases[i] = at.Holds()
	}
	sent := uptime.Now()
	refusals, err := a.transport.Renew(ctx, leases, a.config.Lease)
	answers := byLease(leases, refusals)
	if err == nil {
		a.hear()
	}
	a.mu.Lock()
	for _, at := range batch {
		at.renewing = false
		if answer := answers[at.Holds()]; err == nil && (answer == "" || answer == node.Cancel) {
			at.safe = sent + a.config.Lease
			if l, ok := at.work.(driver.Leashed); ok && !at.ended {
				if err := l.Leash(a.leash(at.safe)); err != nil {
					a.log.Warn("the leash was not let out", "task", at.Task, "error", err)
				}
			}
		}
	}
	a.settled.Broadcast()
	batch = slices.DeleteFunc(batch, func(at *attempt) bool { return at.ended }) // its end is told all the same, and is answered
	a.mu.Unlock()
	for _, at := range batch {
		switch answers[at.Holds()] {
		case "":
		case node.Cancel:
			at.stop(errCanceled)
		default:
			at.stop(errLost)
		}
	}
	return err
}

// byLease finds the answer for each lease; none is yes.
func byLease(leases []node.Lease, refusals []node.Refusal) map[node.Lease]string {
	answers := map[node.Lease]string{}
	for _, r := range refusals {
		for _, l := range leases {
			if l.Task == r.Task && l.Attempt == r.Attempt {
				answers[l] = r.Refusal
			}
		}
	}
	return answers
}

// guardLoop kills work whose lease may soon be somebody else's, and work that
// does not keep its own limits.
func (a *Agent) guardLoop(ctx context.Context) {
	tick := min(a.config.Lease/60, 250*time.Millisecond)
	for {
		timer := time.NewTimer(tick)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
		now := uptime.Now()
		a.mu.Lock()
		held := make([]*attempt, 0, len(a.held))
		for _, at := range a.held {
			held = append(held, at)
		}
		a.mu.Unlock()
		for _, at := range held {
			a.guard(at, now)
		}
	}
}

func (a *Agent) guard(at *attempt, now time.Duration) {
	a.mu.Lock()
	safe, running, ended := at.safe, at.work != nil, at.ended
	a.mu.Unlock()
	switch {
	case ended:
	case now >= safe-a.margin():
		at.stop(errUnsure)
	case at.deadline > 0 && now >= at.deadline-at.slack():
		at.stop(tooLong("timed out after %s", at.Deadline.Round(10*time.Millisecond)))
	case running && at.run.Timeout.Heartbeat > 0 && at.out.silent() > time.Duration(at.run.Timeout.Heartbeat):
		at.stop(tooLong("it printed nothing for %s (timeout.heartbeat)", time.Duration(at.run.Timeout.Heartbeat)))
	}
}
