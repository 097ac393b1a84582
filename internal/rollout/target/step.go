package target

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/weirhq/weir/internal/rollout/script"
)

// step runs one step of the change, or finds that an earlier attempt did.
func (a *attempt) step(ctx context.Context, i int, marks map[int]mark) error {
	step := a.run.Steps[i]
	m, marked := marks[i]
	if marked && m.hash != hashOf(step) && m.state != stepFailed {
		return changedStep(i, m, step)
	}
	if marked && m.state == stepDone {
		return a.skip(ctx, i, "an earlier attempt did it", false)
	}
	if a.skipped {
		for _, s := range step.Session {
			if _, _, err := a.s.run(a.calm, s.Text); err != nil {
				return read(a.e, s.Tag, err).at(s)
			}
		}
		a.skipped = false
	}
	if step.Transaction {
		return a.atomic(ctx, i, step)
	}
	if marked {
		todo, why, err := a.resume(a.calm, step, m)
		if err != nil {
			return err
		}
		switch todo {
		case stepSkip:
			return a.skip(ctx, i, why, true)
		case stepUnclear:
			return unclear(i, step, why)
		case stepClean:
			a.tell.waiting(ctx, why)
			a.sent = true
			if _, _, err := a.s.run(a.calm, step.Statements[0].Probe.Drop); err != nil {
				return read(a.e, "remove what an earlier attempt left half made", err).at(step.Statements[0])
			}
		}
	}
	return a.bare(ctx, i, step)
}

// skip passes over a step that is done. Proven tells that it was found to be, so
// its mark has to say so.
func (a *attempt) skip(ctx context.Context, i int, why string, proven bool) error {
	step := a.run.Steps[i]
	a.skipped = true
	a.result.Skipped++
	for _, s := range step.Statements {
		a.tell.statement(ctx, StatementDone{Step: i, Index: s.Index, Line: s.Line, EndLine: s.EndLine, Tag: s.Tag, Try: 1, Skipped: why})
	}
	if !proven && i < len(a.run.Steps)-1 {
		return nil
	}
	return a.close(ctx, i, step)
}

// close marks a step as done; the last one ends with the history row instead.
func (a *attempt) close(ctx context.Context, i int, step script.Step) error {
	return a.transactions(ctx, "write down that a step is done", func() error {
		if i == len(a.run.Steps)-1 {
			return a.record()
		}
		return a.mark(i, mark{hash: hashOf(step), state: stepDone})
	})
}

// bare runs a step that no transaction holds together (rule 7): a mark says that
// it began, what is there beforehand is noted with it, and a mark says how it
// ended. The session is in no transaction while the statement runs.
func (a *attempt) bare(ctx context.Context, i int, step script.Step) error {
	usual := limitsOf(a.run.Change)
	l := usual.forStep(a.run.Change, step)
	if l != usual {
		if err := a.s.limit(a.calm, l); err != nil {
			return read(a.e, "set the timeouts", err)
		}
	}
	m := mark{hash: hashOf(step), state: stepStarted}
	var err error
	if m.seen, err = a.before(step); err != nil {
		return read(a.e, "look at what is there before a step", err)
	}
	err = a.patiently(ctx, fmt.Sprintf("step %d", i+1), func(try int) error {
		if err := a.begin(ctx, i, m); err != nil {
			return err
		}
		for _, s := range step.Statements {
			if err := a.statement(ctx, i, try, s, l); err != nil {
				return a.refusedStep(ctx, i, step, m, err)
			}
			a.result.Statements++
		}
		return nil
	})
	if err != nil {
		return err
	}
	if l != usual {
		if err := a.s.limit(a.calm, usual); err != nil {
			return read(a.e, "set the timeouts", err)
		}
	}
	return a.close(ctx, i, step)
}

// begin marks a step as started, behind the fence.
func (a *attempt) begin(ctx context.Context, i int, m mark) error {
	return a.transactions(ctx, "write down that a step begins", func() error {
		if err := a.guarded(); err != nil {
			return err
		}
		return a.mark(i, m)
	})
}

// mark writes the mark of a step, inside a transaction.
func (a *attempt) mark(i int, m mark) error {
	return a.s.asItself(a.calm, func() error { return a.s.ledger().mark(a.calm, a.run, i, m) })
}

// refusedStep notes that the server said no, and clears away what the statement
// left half made before it is tried again.
func (a *attempt) refusedStep(ctx context.Context, i int, step script.Step, m mark, cause error) error {
	f := read(a.e, "run the change", cause)
	if f.Code == CodeLost {
		return f
	}
	m.state = stepFailed
	// Also when it was canceled: the server has answered.
	if err := a.transaction(context.WithoutCancel(ctx), "write down that a step failed", func() error { return a.mark(i, m) }); err != nil {
		// The mark still says that it began, and the next attempt looks for itself.
		f.again = false
		return f
	}
	if !f.again {
		return f
	}
	if p := step.Statements[0].Probe; p != nil && p.Drop != "" && m.seen == string(absent) {
		if found, err := a.s.probe(a.calm, *p); err == nil && found == half {
			if _, _, err := a.s.run(a.calm, p.Drop); err != nil {
				f.again = false
			}
		}
	}
	return f
}

// hashOf tells one text of a step from another.
func hashOf(step script.Step) string {
	sum := sha256.New()
	for _, s := range step.Statements {
		fmt.Fprintf(sum, "%d\n%s\n", len(s.Text), s.Text)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

func changedStep(i int, m mark, step script.Step) error {
	if m.state == stepDone {
		f := &Failure{
			Code: CodeChecksum, What: fmt.Sprintf("step %d ran before with another text", i+1),
			Next: "Put these statements back as they were. What failed and what comes after it may be changed.",
		}
		return f.at(step.Statements[0])
	}
	return unclear(i, step, "an earlier attempt began it with another text")
}

func unclear(i int, step script.Step, why string) error {
	f := &Failure{
		Code: CodeUnclear, Unknown: true, What: fmt.Sprintf("step %d: %s, and nobody can tell how that ended", i+1, why),
		Next: "Look at the target, then say whether the change is applied or not.",
	}
	return f.at(step.Statements[0])
}
