package target

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/weirhq/weir/internal/loop"
)

// attempt is an Apply that is under way.
type attempt struct {
	e    engine
	o    Options
	run  Run
	tell *teller
	s    session
	g    *guard
	// calm is for the driver: the end of the caller's context does not reach it.
	// The guard ends it when nothing else is left.
	calm  context.Context
	began time.Time
	// sent: something of the change went to the server (rule 6).
	sent bool
	// skipped: an earlier attempt did a step, so this session lacks its settings.
	skipped bool
	result  Result
}

func apply(ctx context.Context, e engine, o Options, run Run, watch Watch) (Result, error) {
	if err := run.check(); err != nil {
		return Result{}, &Failure{Code: CodeInvalid, What: "the run", Err: err}
	}
	if err := possible(run); err != nil {
		return Result{}, err
	}
	a := &attempt{e: e, o: o, run: run, tell: &teller{to: watch}, began: time.Now()}
	if err := a.connect(ctx); err != nil {
		return Result{}, err
	}
	a.g = a.watchOver(ctx)
	err := a.work(ctx)
	// The session ends before anybody hears of it: its locks go with it.
	a.s.close()
	err = a.g.conclude(err)
	if err != nil {
		return Result{}, err
	}
	a.result.Took = time.Since(a.began)
	return a.result, nil
}

var fromStdin = regexp.MustCompile(`(?is)\bfrom\s+stdin\b`)

// possible refuses statements that cannot be part of a change: rows that nobody
// will ever send, which the server would wait for, and what gives up the lock.
func possible(run Run) error {
	for _, step := range run.Steps {
		for _, s := range step.Statements {
			switch {
			case s.Tag == "COPY" && fromStdin.MatchString(s.Text):
				f := &Failure{Code: CodeInvalid, What: "COPY … FROM STDIN waits for rows that a change does not have", Next: "Write the rows as INSERT."}
				return f.at(s)
			case strings.HasPrefix(s.Tag, "DISCARD") && strings.HasSuffix(strings.ToLower(strings.TrimRight(s.Text, "; \n\t")), "all"):
				f := &Failure{Code: CodeInvalid, What: "DISCARD ALL gives up the lock under which the change runs", Next: "Use RESET ALL, or what you want to have reset."}
				return f.at(s)
			}
		}
	}
	return nil
}

// connect tries a few times: as long as nothing was sent, that is safe (rule 5).
func (a *attempt) connect(ctx context.Context) error {
	for n := 1; ; n++ {
		s, err := a.e.open(ctx, ApplicationName(a.run.Task, a.run.Attempt))
		if err == nil {
			a.s = s
			return nil
		}
		if ctx.Err() != nil {
			return a.canceled(ctx)
		}
		err = a.e.connectFailure(err)
		var f *Failure
		if n == connects || !errors.As(err, &f) || !f.again {
			return err
		}
		a.tell.waiting(ctx, fmt.Sprintf("no connection, try %d of %d: %v", n, connects, err))
		if !loop.Wait(ctx, pause(n), nil) {
			return a.canceled(ctx)
		}
	}
}

// work is the order of things. Up to PhaseSent nothing of the change has
// gone to the server, so an error means that nothing happened.
func (a *attempt) work(ctx context.Context) error {
	if err := a.s.own(a.calm); err != nil {
		return a.failed(ctx, err)
	}
	if err := a.s.limit(a.calm, limitsOf(a.run.Change)); err != nil {
		return read(a.e, "set the timeouts", err)
	}
	for _, first := range []func(context.Context) error{a.recognise, a.evict, a.lock, a.prepare, a.raise} {
		if err := first(ctx); err != nil {
			return a.failed(ctx, err)
		}
	}
	if done, err := a.replayed(ctx); done || err != nil {
		return err
	}
	marks, err := a.s.ledger().marks(a.calm, a.run.progressKey())
	if err != nil {
		return a.failed(ctx, read(a.e, "read the marks of earlier attempts", err))
	}
	if err := a.phase(ctx, PhaseSent); err != nil {
		return err
	}
	for i := range a.run.Steps {
		if err := a.step(ctx, i, marks); err != nil {
			return a.beaten(ctx, a.behind(i, a.failed(ctx, err)))
		}
	}
	if len(a.run.Steps) == 0 {
		if err := a.transactions(ctx, "write the history row", a.record); err != nil {
			return a.failed(ctx, err)
		}
	}
	a.applied(ctx)
	return nil
}

// recognise looks, on the connection that the change will run on, whether this is
// the database that the plan was made for.
func (a *attempt) recognise(context.Context) error {
	if a.run.Identity == "" {
		return nil
	}
	id, err := a.s.identity(a.calm)
	if err != nil {
		return err
	}
	if id.String() != a.run.Identity {
		return &Failure{
			Code: CodeDrift, What: fmt.Sprintf("the address leads to another database: expected %s, found %s", a.run.Identity, id),
			Next: "Nothing was run. Put the address back, or take the other database for the right one and make a new plan.",
		}
	}
	return nil
}

// prepare says that the target is ours, and sees to the ledger's tables.
func (a *attempt) prepare(ctx context.Context) error {
	if err := a.phase(ctx, PhaseLocked); err != nil {
		return err
	}
	if err := a.s.create(a.calm); err != nil {
		f := read(a.e, "create Weir's tables in the target", err)
		if f.Code == CodeForbidden {
			f.Next = createNext
		}
		return f
	}
	return nil
}

// replayed looks for the history row (rules 2 and 3).
func (a *attempt) replayed(ctx context.Context) (bool, error) {
	list, err := a.s.ledger().history(a.calm)
	if err != nil {
		return false, a.failed(ctx, read(a.e, "read the history", err))
	}
	applied, refused := Decide(list, a.run)
	if refused != nil {
		return false, refused
	}
	if applied == nil {
		return false, nil
	}
	a.result = Result{Replayed: true, Was: applied}
	a.applied(ctx)
	return true, nil
}

// beaten looks again when something that must be unique was there already: it
// may be the history row of a run beside this one, and then all is well.
func (a *attempt) beaten(ctx context.Context, err error) error {
	var f *Failure
	if !errors.As(err, &f) || f.Unknown || f.State != a.e.uniqueState() {
		return err
	}
	if done, _ := a.replayed(ctx); done {
		return nil
	}
	return err
}

// behind says how many steps are done before the one that failed.
func (a *attempt) behind(done int, err error) error {
	var f *Failure
	if errors.As(err, &f) {
		f.Done, f.Steps = done, len(a.run.Steps)
	}
	return err
}

// phase says where the run is; a refusal ends it.
func (a *attempt) phase(ctx context.Context, p Phase) error {
	if ctx.Err() != nil {
		return a.canceled(ctx)
	}
	if err := a.tell.phase(ctx, p); err != nil {
		if ctx.Err() != nil {
			return a.canceled(ctx)
		}
		return &Failure{Code: CodeStopped, What: fmt.Sprintf("stopped before it was %s", p), Err: err}
	}
	return nil
}

// applied says so. What is done is done: whoever cannot write it down finds it in
// the history later.
func (a *attempt) applied(ctx context.Context) {
	if err := a.tell.phase(context.WithoutCancel(ctx), PhaseApplied); err != nil {
		a.o.Log.Warn("a change is applied, but that could not be written down", "task", a.run.Task, "attempt", a.run.Attempt, "err", err)
	}
}

// record writes the history row and drops the marks. It belongs into the last
// transaction of the change (rule 2).
func (a *attempt) record() error {
	return a.s.asItself(a.calm, func() error {
		l := a.s.ledger()
		if err := l.clear(a.calm, a.run); err != nil {
			return err
		}
		return l.record(a.calm, a.entry(a.run.statements(), a.run.By, ""))
	})
}

func (a *attempt) entry(statements int, by, note string) Entry {
	c := a.run.Change
	return Entry{
		Version: c.Version, Name: c.Name, Kind: string(c.Kind), Checksum: c.Checksum, Rollout: a.run.Rollout, Task: a.run.Task,
		Attempt: a.run.Attempt, TookMS: time.Since(a.began).Milliseconds(), By: by, Note: note, Statements: statements,
	}
}

// failed gives a failure its last word: what a cancel caused is called that, and
// what was lost after something was sent is unknown (rule 6).
func (a *attempt) failed(ctx context.Context, err error) error {
	var f *Failure
	if !errors.As(err, &f) {
		f = read(a.e, "apply the change", err)
	}
	if f.Code == CodeLost && a.sent {
		f.Unknown = true
		f.Next = "Whether it was applied is found out from the target itself, as soon as it answers."
	}
	if ctx.Err() != nil && (f.Code == CodeCanceled || f.Code == CodeLost) {
		c := a.canceled(ctx)
		// Its session was ended, which conclude makes sure of: without a commit
		// there is nothing left of its transaction.
		c.Unknown = f.Unknown && !f.undone
		c.State, c.Line, c.Statement = f.State, f.Line, f.Statement
		return c
	}
	return f
}

// canceled is the failure of a run that was asked to stop.
func (a *attempt) canceled(ctx context.Context) *Failure {
	return &Failure{Code: CodeCanceled, What: "canceled", Err: context.Cause(ctx)}
}
