package agent

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/weirhq/weir/internal/agent/driver"
	"github.com/weirhq/weir/internal/blob/joblog"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/uptime"
)

// adopt continues with what a previous process of the agent left behind. It attaches to
// work whose lease still holds, reports ends that could not be reported, and kills and
// removes everything else.
func (a *Agent) adopt(ctx context.Context) error {
	left, err := a.leftovers()
	if err != nil {
		return err
	}
	for _, d := range a.config.Drivers {
		list, err := d.Adopt(ctx)
		if err != nil {
			a.log.Warn("a driver cannot say what it left", "driver", d.Name(), "error", err)
		}
		for _, f := range list {
			l := left[driver.Mark(f.Task(), f.Attempt(), f.Fence())]
			if l == nil {
				a.killFound(ctx, f)
				continue
			}
			l.found = f
		}
	}
	return a.askAgain(ctx, left)
}

// leftover is an attempt of a previous process of the agent.
type leftover struct {
	saved
	dir   folder
	found driver.Found
}

// leftovers reads the attempt folders and returns the attempts by mark.
func (a *Agent) leftovers() (map[string]*leftover, error) {
	entries, err := os.ReadDir(Attempts(a.config.Dir))
	if err != nil {
		return nil, err
	}
	left := map[string]*leftover{}
	for _, e := range entries {
		l := &leftover{dir: folder(filepath.Join(Attempts(a.config.Dir), e.Name()))}
		if l.dir.load(attemptFile, &l.saved) != nil {
			a.clearFolder(l.dir) // the work was never started
			continue
		}
		left[driver.Mark(l.Assignment.Task.String(), l.Assignment.Attempt, l.Assignment.Token)] = l
	}
	return left, nil
}

// askAgain renews the leases that a previous process held, and continues with those that
// still hold.
func (a *Agent) askAgain(ctx context.Context, left map[string]*leftover) error {
	if len(left) == 0 {
		return nil
	}
	groups := map[time.Duration][]*leftover{}
	for _, l := range left {
		length := a.config.Lease + l.Run.Keep(a.config.Keep)
		groups[length] = append(groups[length], l)
	}
	for length, group := range groups {
		if err := a.askFor(ctx, group, length); err != nil {
			return err
		}
	}
	return nil
}

// askFor does so for leases of one length.
func (a *Agent) askFor(ctx context.Context, left []*leftover, length time.Duration) error {
	leases := make([]node.Lease, len(left))
	for i, l := range left {
		leases[i] = l.Assignment.Holds()
	}
	sent := uptime.Now()
	call, cancel := context.WithTimeout(ctx, a.config.Lease/3)
	refusals, err := a.transport.Renew(call, leases, length)
	cancel()
	if err != nil {
		return fmt.Errorf("renew: %w", err)
	}
	answers := byLease(leases, refusals)
	for _, l := range left {
		if answer := answers[l.Assignment.Holds()]; answer == "" || answer == node.Cancel {
			a.goOn(ctx, l, sent)
			continue
		}
		a.log.Warn("what an earlier life ran is somebody else's now", "task", l.Assignment.Task, "attempt", l.Assignment.Attempt)
		if l.found != nil {
			a.killFound(ctx, l.found)
		}
		a.clearFolder(l.dir)
	}
	return nil
}

// goOn takes over an attempt of a previous process.
func (a *Agent) goOn(ctx context.Context, l *leftover, sent time.Duration) {
	at := a.attempt(ctx, l.Assignment, sent)
	at.dir, at.deadline, at.until, at.found = l.dir, l.Deadline, l.Until, l.found
	at.adopted, at.interrupted = true, l.Phase == joblog.Setup
	at.setRun(l.Run, l.Around)
	a.mu.Lock()
	at.safe = 0 // what a previous process was promised is not known
	at.extend(sent, at.length())
	a.held[at.Holds()] = at
	a.mu.Unlock()
	var o node.Outcome
	switch {
	case at.dir.load(outcomeFile, &o) == nil:
		a.log.Info("the end of an attempt of an earlier life is told", "task", at.Task, "verdict", o.Verdict)
		a.group.Go(func() { a.finishLate(at, o) })
	case at.interrupted && at.around.Power:
		a.log.Warn("the power cycle of an earlier life is cut off: it begins again", "task", at.Task, "attempt", at.Attempt)
		a.group.Go(func() { a.serve(at) })
	case at.interrupted:
		a.log.Warn("the set-up of an earlier life is cut off: its work goes back", "task", at.Task, "attempt", at.Attempt)
		a.group.Go(func() { a.serve(at) })
	case at.found != nil:
		a.stats.adopted.Add(1)
		a.log.Info("work of an earlier life goes on", "task", at.Task, "attempt", at.Attempt)
		at.tell(node.Note{Lease: at.Holds(), Type: "adopted", Message: "the agent was started again, and the work goes on"})
		a.group.Go(func() { a.serve(at) })
	default:
		a.clearFolder(at.dir) // so that a slow keeper of a previous process cannot start the work anymore
		a.log.Warn("nothing is left of the work of an earlier life: it goes back", "task", at.Task, "attempt", at.Attempt)
		a.group.Go(func() {
			a.finishLate(at, node.Outcome{Lease: at.Holds(), Verdict: node.Returned, Error: "the agent was restarted before the work began"})
		})
	}
}

// finishLate reports an end that a previous process left unreported.
func (a *Agent) finishLate(at *attempt, o node.Outcome) {
	defer a.release(at)
	if at.found != nil {
		a.killFound(at.ctx, at.found)
	}
	end := &ending{Outcome: o, at: at, answered: make(chan struct{}), saved: true}
	a.mu.Lock()
	at.ended = true
	a.mail.ends = append(a.mail.ends, end)
	a.mu.Unlock()
	signal(a.told)
	<-end.answered
	at.cancel(nil)
	at.doom()
	if !at.kept {
		a.clearFolder(at.dir)
	}
}

func (a *Agent) killFound(ctx context.Context, f driver.Found) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), killMost)
	defer cancel()
	a.log.Warn("work of an earlier life is killed", "task", f.Task(), "attempt", f.Attempt())
	if err := f.Kill(ctx); err != nil {
		a.log.Error("work of an earlier life could not be killed", "task", f.Task(), "error", err)
	}
}

func (a *Agent) clearFolder(dir folder) {
	if err := dir.remove(); err != nil {
		a.log.Warn("the folder of an attempt could not be removed", "folder", string(dir), "error", err)
	}
}
