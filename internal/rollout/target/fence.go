package target

import (
	"context"
	"fmt"
	"time"

	"github.com/weirhq/weir/internal/loop"
)

// Rule 9: a newer attempt exists because the lease of the older one is over. The
// older one may only be paused, so it is shut out by what is in the target.

// evict ends the sessions of older attempts of this task and waits until they are
// gone: what they had not committed is undone by then.
func (a *attempt) evict(ctx context.Context) error {
	deadline := time.Now().Add(a.o.LockWait)
	for n := 1; ; n++ {
		list, err := a.s.attempts(a.calm, a.run.Task, a.run.Attempt-1)
		if err != nil {
			return read(a.e, "look for older attempts", err)
		}
		if len(list) == 0 {
			return nil
		}
		for _, old := range list {
			a.tell.waiting(ctx, fmt.Sprintf("ended the session of an older attempt, whose lease is over: %s", describe(old.ID, old.Application, "", "", time.Time{})))
			if _, err := a.s.stop(a.calm, old.ID, true); err != nil {
				return read(a.e, "end the session of an older attempt", err)
			}
		}
		if time.Now().After(deadline) {
			return &Failure{Code: CodeBusy, What: "an older attempt does not end: " + describeAll(list), Next: "Nothing was changed. See why its backend does not end, then retry."}
		}
		if !loop.Wait(ctx, poll(n), nil) {
			return a.canceled(ctx)
		}
	}
}

// raise puts the fence up to this attempt, or is refused by a newer one.
func (a *attempt) raise(ctx context.Context) error {
	return a.transactions(ctx, "raise the fence", func() error {
		was, token, err := a.s.ledger().fence(a.calm, a.run.Task)
		if err != nil {
			return err
		}
		if was > a.run.Attempt || was == a.run.Attempt && token != a.run.Token {
			return a.fenced(was)
		}
		return a.s.ledger().raise(a.calm, a.run, was)
	})
}

// guarded is asked first in every transaction: is the fence still ours, and the
// lock? A session that a pooler moves between backends has lost it.
func (a *attempt) guarded() error { return a.s.asItself(a.calm, a.passes) }

func (a *attempt) passes() error {
	now, token, err := a.s.ledger().fence(a.calm, a.run.Task)
	if err != nil {
		return err
	}
	if now != a.run.Attempt || token != a.run.Token {
		return a.fenced(now)
	}
	held, err := a.s.holdsLock(a.calm)
	if err != nil {
		return err
	}
	if !held {
		f := pooled("the session does not have the lock any more", nil)
		f.Next += " Nor may a change give advisory locks back."
		return f
	}
	return nil
}

func (a *attempt) fenced(by int) *Failure {
	return &Failure{
		Code: CodeFenced,
		What: fmt.Sprintf("attempt %d is shut out: attempt %d of this task was let in", a.run.Attempt, by),
		Next: "Nothing to do: the newer attempt goes on.",
	}
}
