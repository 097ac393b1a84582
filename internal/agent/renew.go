package agent

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/weirhq/weir/internal/agent/driver"
	"github.com/weirhq/weir/internal/leasing"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/uptime"
)

var (
	errKicked     = errors.New("there is something new to ask for")
	errUnanswered = errors.New("no answer in time")
)

func interrupted(err error) bool { return errors.Is(err, errKicked) }

// leash returns when work must be dead by itself: half of the margin is left then.
func (a *Agent) leash(safe time.Duration) time.Time {
	return time.Now().Add(safe - a.keeper.Margin()/2 - uptime.Now())
}

// leased returns when the request was sent that gave the lease its present end. The
// caller holds the mutex.
func (at *attempt) leased() time.Duration { return at.safe - at.agent.keeper.Length }

// renewDue renews the leases that are due.
func (a *Agent) renewDue(ctx context.Context) error {
	batch := a.due(a.lookAll.Swap(false))
	if len(batch) == 0 {
		return nil
	}
	err := a.renew(ctx, batch)
	if err != nil && ctx.Err() == nil {
		a.failed("renew", err)
	}
	return err
}

// due marks and returns the leases to renew now.
func (a *Agent) due(all bool) (batch []*attempt) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now, anyDue := a.keeper.Clock(), all
	for _, at := range a.held {
		anyDue = anyDue || a.needs(at, now) && a.keeper.Due(at.leased(), now)
	}
	for _, at := range a.held {
		if anyDue && a.needs(at, now) && !at.renewing && (all || a.keeper.Ripe(at.leased(), now)) {
			at.renewing = true
			batch = append(batch, at)
		}
	}
	return batch
}

// needs reports whether a lease is still needed: by work, or by an end that waits to be
// reported. The caller holds the mutex.
func (a *Agent) needs(at *attempt, now time.Duration) bool {
	return !at.telling && (!at.ended || at.untold == 0 || now-at.untold < leasing.Untold*a.config.Lease)
}

// renew extends leases and acts on the answers.
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
	batch = slices.DeleteFunc(batch, func(at *attempt) bool { return at.ended }) // its end is reported all the same, and that call is answered
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

// byLease returns the answer for each lease; no answer means yes.
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

// guard stops work whose lease may soon belong to another worker, and work that exceeds
// its own limits.
func (a *Agent) guard(now time.Duration) {
	a.mu.Lock()
	held := slices.Collect(maps.Values(a.held))
	a.mu.Unlock()
	for _, at := range held {
		at.guard(now)
	}
}

func (at *attempt) guard(now time.Duration) {
	a := at.agent
	a.mu.Lock()
	unsure, running, ended := a.keeper.Unsure(at.leased(), now), at.work != nil, at.ended
	a.mu.Unlock()
	switch {
	case ended:
	case unsure:
		at.stop(errUnsure)
	case at.deadline > 0 && now >= at.deadline-at.slack():
		at.stop(tooLong(node.ByTimeout, "timed out after %s", cmp.Or(at.Timeout, at.Deadline.Round(10*time.Millisecond))))
	case running && at.run.Timeout.Heartbeat > 0 && at.out.silent() > time.Duration(at.run.Timeout.Heartbeat):
		at.stop(tooLong(node.ByHeartbeatTimeout, "it printed nothing for %s (timeout.heartbeat)", time.Duration(at.run.Timeout.Heartbeat)))
	}
}
