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

// length returns how long the lease is from each request that extends it: the time that
// the agent has to renew it, and the time for which the work goes on without contact.
func (at *attempt) length() time.Duration { return at.agent.config.Lease + at.keep }

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
		anyDue = anyDue || a.needs(at, now) && a.keeper.Due(at.renewed, now)
	}
	for _, at := range a.held {
		if anyDue && a.needs(at, now) && !at.renewing && (all || a.keeper.Ripe(at.renewed, now)) {
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

// renew extends leases, with one call for those of one length.
func (a *Agent) renew(ctx context.Context, batch []*attempt) (err error) {
	for length, part := range a.byLength(batch) {
		err = errors.Join(err, a.renewFor(ctx, part, length))
	}
	return err
}

// byLength groups attempts by the length of their leases.
func (a *Agent) byLength(batch []*attempt) map[time.Duration][]*attempt {
	a.mu.Lock()
	defer a.mu.Unlock()
	groups := map[time.Duration][]*attempt{}
	for _, at := range batch {
		groups[at.length()] = append(groups[at.length()], at)
	}
	return groups
}

// renewFor extends leases of one length and acts on the answers.
func (a *Agent) renewFor(ctx context.Context, batch []*attempt, length time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, a.config.Lease/6)
	defer cancel()
	leases := leasesOf(batch)
	sent := uptime.Now()
	refusals, err := a.transport.Renew(ctx, leases, length)
	a.mu.Lock()
	for _, at := range batch {
		at.renewing = false
	}
	a.settled.Broadcast()
	a.mu.Unlock()
	if err == nil {
		a.hear()
		a.extended(batch, byLease(leases, refusals), sent, length)
	}
	return err
}

func leasesOf(batch []*attempt) []node.Lease {
	leases := make([]node.Lease, len(batch))
	for i, at := range batch {
		leases[i] = at.Holds()
	}
	return leases
}

// extended counts the leases from a request that was answered, and acts on the answers.
// The end of an attempt that has ended is reported all the same, and that call is
// answered.
func (a *Agent) extended(batch []*attempt, answers map[node.Lease]string, sent, length time.Duration) {
	a.mu.Lock()
	for _, at := range batch {
		if answer := answers[at.Holds()]; answer != "" && answer != node.Cancel {
			continue
		}
		at.extend(sent, length)
		for _, work := range []driver.Running{at.work, at.aside} {
			if l, ok := work.(driver.Leashed); ok && !at.ended {
				if err := l.Leash(a.leash(at.safe)); err != nil {
					a.log.Warn("the leash was not let out", "task", at.Task, "error", err)
				}
			}
		}
	}
	live := slices.DeleteFunc(slices.Clone(batch), func(at *attempt) bool { return at.ended })
	a.mu.Unlock()
	for _, at := range live {
		switch answers[at.Holds()] {
		case "":
		case node.Cancel:
			at.stop(errCanceled)
		default:
			at.stop(errLost)
		}
	}
}

// extend counts the lease from a request that was accepted. The caller holds the mutex.
func (at *attempt) extend(sent, length time.Duration) {
	at.renewed, at.safe = sent, max(at.safe, sent+length)
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
	unsure, running, ended := a.keeper.Unsure(at.safe-a.keeper.Length, now), at.work != nil, at.ended
	deadline, slack, cleaning, allowed := at.deadline, at.slack(), at.cleaning, at.allowed()
	a.mu.Unlock()
	switch {
	case ended:
	case unsure:
		at.stop(errUnsure)
	case cleaning: // it has a limit of its own
	case deadline > 0 && now >= deadline-slack:
		at.stop(tooLong(node.ByTimeout, "timed out after %s", cmp.Or(allowed, at.Deadline.Round(10*time.Millisecond))))
	case running && at.run.Timeout.Heartbeat > 0 && at.out.silent() > time.Duration(at.run.Timeout.Heartbeat):
		at.stop(tooLong(node.ByHeartbeatTimeout, "it printed nothing for %s (timeout.heartbeat)", time.Duration(at.run.Timeout.Heartbeat)))
	}
}
