package target

import (
	"context"
	"fmt"
	"time"
)

// Verdict is what became of a run.
type Verdict string

// The verdicts.
const (
	Applied    Verdict = "applied"     // the history row is there
	NotApplied Verdict = "not_applied" // nothing of it is: a retry is safe
	Partial    Verdict = "partial"     // some steps are: a retry goes on from there
	CannotTell Verdict = "cannot_tell" // not now, or not at all: see the sentence
)

// Resolve answers rule 6: the history row, and for steps outside a transaction
// their marks and probes. As long as a session of the run lives it may still
// commit, so nothing can be told. A run that did all its steps and died before the
// history row gets that row now: the next attempt has nothing left to do.
func (b *base) Resolve(ctx context.Context, run Run) (v Verdict, sentence string, err error) {
	err = b.look(ctx, func(s session) error {
		v, sentence, err = b.resolve(ctx, s, run)
		return err
	})
	if err != nil {
		return CannotTell, "the target does not answer", err
	}
	return v, sentence, nil
}

func (b *base) resolve(ctx context.Context, s session, run Run) (Verdict, string, error) {
	live, err := s.attempts(ctx, run.Task, run.Attempt)
	if err != nil {
		return CannotTell, "", read(b.engine, "look for sessions of the run", err)
	}
	if len(live) > 0 {
		return CannotTell, "it still runs: " + describe(live[0].ID, live[0].Application, "", live[0].State, live[0].Since), nil
	}
	list, err := s.ledger().history(ctx)
	if err != nil {
		return CannotTell, "", read(b.engine, "read the history", err)
	}
	run.OutOfOrder = true // that it would be refused now does not say what happened
	applied, refused := Decide(list, run)
	switch {
	case refused != nil:
		return NotApplied, refused.What, nil
	case applied != nil:
		return Applied, fmt.Sprintf("its history row was written at %s", applied.AppliedAt.UTC().Format(time.RFC3339)), nil
	}
	marks, err := s.ledger().marks(ctx, run.progressKey())
	if err != nil {
		return CannotTell, "", read(b.engine, "read the marks of the steps", err)
	}
	return b.resolveSteps(ctx, s, run, marks)
}

// resolveSteps reads the marks: how many steps are done, and what became of the
// one that began.
func (b *base) resolveSteps(ctx context.Context, s session, run Run, marks map[int]mark) (Verdict, string, error) {
	done, left, same := 0, false, true
	for i, step := range run.Steps {
		m, marked := marks[i]
		if !marked {
			continue
		}
		same = same && m.hash == hashOf(step)
		if m.state == stepDone {
			done++
			continue
		}
		if m.hash != hashOf(step) && m.state == stepStarted {
			return CannotTell, fmt.Sprintf("step %d began with another text", i+1), nil
		}
		if len(step.Session) > 0 {
			if err := s.own(ctx); err != nil {
				return CannotTell, "", err
			}
		}
		for _, set := range step.Session {
			if _, _, err := s.run(ctx, set.Text); err != nil {
				return CannotTell, "", read(b.engine, set.Tag, err)
			}
		}
		todo, why, err := resume(ctx, s, step, m)
		if err != nil {
			return CannotTell, "", read(b.engine, "look at what the run left", err)
		}
		switch todo {
		case stepUnclear:
			return CannotTell, fmt.Sprintf("step %d of %d: %s, and nothing in the target tells how that ended", i+1, len(run.Steps), why), nil
		case stepSkip:
			done++
		case stepClean:
			left = true
		}
	}
	switch {
	case done > 0 && done == len(run.Steps) && same:
		const proven = "every step was found done"
		if err := b.recordApplied(ctx, run, run.By, proven, run.statements()); err != nil {
			return CannotTell, "", err
		}
		return Applied, proven + ", and its history row is written now", nil
	case done > 0:
		return Partial, fmt.Sprintf("%d of %d steps are done: a retry goes on from there", done, len(run.Steps)), nil
	case left:
		return Partial, "it left something half made: a retry removes it and makes it again", nil
	}
	return NotApplied, "there is no history row, and no session of the run is left", nil
}

// settle takes the lock of the target, once, for a person who writes something
// down, and does it in a transaction.
func (b *base) settle(ctx context.Context, doing string, do func(s session) error) error {
	return b.look(ctx, func(s session) error {
		if err := s.own(ctx); err != nil {
			return err
		}
		if err := s.limit(ctx, limits{lock: defaultLockTimeout, statement: time.Minute}); err != nil {
			return read(b.engine, doing, err)
		}
		got, err := s.tryLock(ctx, false)
		if err != nil {
			return read(b.engine, doing, err)
		}
		if !got {
			list, err := s.holders(ctx)
			if err != nil {
				return read(b.engine, doing, err)
			}
			return &Failure{Code: CodeBusy, What: doing + ": the target is held by " + describeAll(list), Next: "Try again when that run has ended."}
		}
		if err := s.create(ctx); err != nil {
			return read(b.engine, doing, err)
		}
		if err := s.begin(ctx); err != nil {
			return read(b.engine, doing, err)
		}
		if err := do(s); err != nil {
			_ = s.rollback(ctx) // the session ends anyway
			return read(b.engine, doing, err)
		}
		if err := s.commit(ctx); err != nil {
			return read(b.engine, doing, err)
		}
		return nil
	})
}

// MarkApplied writes the history row for a change that a person found applied.
func (b *base) MarkApplied(ctx context.Context, run Run, by, reason string) error {
	return b.recordApplied(ctx, run, by, reason, 0)
}

// recordApplied writes the history row of a change that is applied, unless it is
// there.
func (b *base) recordApplied(ctx context.Context, run Run, by, note string, statements int) error {
	if err := run.check(); err != nil {
		return &Failure{Code: CodeInvalid, What: "the run", Err: err}
	}
	return b.settle(ctx, "mark the change as applied", func(s session) error {
		l := s.ledger()
		list, err := l.history(ctx)
		if err != nil {
			return err
		}
		run.OutOfOrder = true
		applied, refused := Decide(list, run)
		switch {
		case refused != nil:
			return refused
		case applied != nil:
			return nil
		}
		if err := l.clear(ctx, run); err != nil {
			return err
		}
		a := attempt{run: run, began: time.Now()}
		return l.record(ctx, a.entry(statements, by, note))
	})
}

// Forget takes back the marks of steps that began.
func (b *base) Forget(ctx context.Context, run Run) error {
	return b.settle(ctx, "forget a step that began", func(s session) error { return s.ledger().forget(ctx, run) })
}
