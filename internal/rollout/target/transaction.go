package target

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/rollout/script"
)

// transactions runs do in a transaction, and again when the server undid it for
// a reason that passes (rule 5).
func (a *attempt) transactions(ctx context.Context, doing string, do func() error) error {
	return a.patiently(ctx, doing, func(int) error { return a.transaction(ctx, doing, do) })
}

// patiently calls once, and again while that is safe: the whole transaction is
// rolled back by then.
func (a *attempt) patiently(ctx context.Context, doing string, once func(try int) error) error {
	for try := 1; ; try++ {
		err := once(try)
		var f *Failure
		if err == nil || !errors.As(err, &f) || !f.again {
			return err
		}
		if try >= a.o.Tries {
			f.What = fmt.Sprintf("%s: gave up after %d tries", f.What, try)
			f.Next = "Nothing of this step was applied. See who holds the lock, then retry."
			f.again = false
			return f
		}
		if ctx.Err() != nil {
			return a.canceled(ctx)
		}
		rest := pause(try)
		by := ""
		if b := a.g.blocker(); b != "" {
			by = "; last blocked by " + b
		}
		a.tell.waiting(ctx, fmt.Sprintf("%s: %s, try %d of %d follows%s", doing, f.Code, try+1, a.o.Tries, by))
		if !loop.Wait(ctx, rest, nil) {
			return a.canceled(ctx)
		}
	}
}

// transaction runs do between begin and commit. An error means that it is rolled
// back, unless it is Unknown.
func (a *attempt) transaction(ctx context.Context, doing string, do func() error) error {
	if ctx.Err() != nil {
		return a.canceled(ctx)
	}
	if err := a.s.begin(a.calm); err != nil {
		return read(a.e, doing, err)
	}
	err := do()
	if err == nil && ctx.Err() != nil {
		err = a.canceled(ctx)
	}
	if err != nil {
		f := read(a.e, doing, err)
		f.undone = f.Code == CodeLost
		if rolled := a.s.rollback(a.calm); rolled != nil && f.Code != CodeLost {
			// A connection that breaks now takes the transaction with it.
			a.o.Log.Info("the connection broke while a transaction was rolled back", "task", a.run.Task, "err", a.e.redact(rolled))
			f.again = false
		}
		return f
	}
	if err := a.s.commit(a.calm); err != nil {
		return read(a.e, "commit", err)
	}
	return nil
}

// atomic runs a step whose statements share a transaction with its mark or, for
// the last one, with the history row (rule 2).
func (a *attempt) atomic(ctx context.Context, i int, step script.Step) error {
	last := i == len(a.run.Steps)-1
	return a.patiently(ctx, fmt.Sprintf("step %d", i+1), func(try int) error {
		ran := 0
		err := a.transaction(ctx, "run the change", func() error {
			if err := a.guarded(); err != nil {
				return err
			}
			for _, s := range step.Statements {
				if err := a.statement(ctx, i, try, s, limitsOf(a.run.Change)); err != nil {
					return err
				}
				ran++
			}
			if last {
				return a.record()
			}
			return a.mark(i, mark{hash: hashOf(step), state: stepDone})
		})
		if err == nil {
			a.result.Statements += ran
		}
		return err
	})
}

// statement runs one statement of the change and tells how it went.
func (a *attempt) statement(ctx context.Context, step, try int, s script.Statement, l limits) error {
	if ctx.Err() != nil {
		return a.canceled(ctx)
	}
	a.sent = true
	began := time.Now()
	a.g.busy(l.statement)
	rows, notices, err := a.s.run(a.calm, s.Text)
	waited := a.g.idle()
	took := time.Since(began)
	if err != nil {
		f := read(a.e, s.Tag, err).at(s)
		if f.Code == CodeCanceled && ctx.Err() == nil && l.ranOut(took) {
			f.Code = CodeStatementTimeout
			f.Next = "Nothing of this step was applied. Make the statement smaller, or give the change a longer statement_timeout."
		}
		return f
	}
	if setsSession(s) {
		if err := a.s.relimit(a.calm, l); err != nil {
			return read(a.e, "put the timeouts back", err)
		}
	}
	a.tell.statement(ctx, StatementDone{
		Step: step, Index: s.Index, Line: s.Line, EndLine: s.EndLine, Tag: s.Tag, Try: try,
		Took: took, Rows: rows, Waited: waited, Notices: notices,
	})
	return nil
}
