package rollout

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/rollout/script"
	"github.com/weirhq/weir/internal/rollout/target"
)

// Service is the engine's name for the work of executors.
const Service = "rollout"

const (
	// executors is how many runs a server does at once if nobody says otherwise.
	executors = 8
	// reportFor bounds the last words of a run, which outlive its context.
	reportFor = 10 * time.Second
	// comeBack is after how long a run is looked at again that our own database kept
	// from beginning.
	comeBack = 2 * time.Second
)

// The codes of failures that no target has.
const (
	CodeDrift      = target.CodeDrift
	CodeUnresolved = "unresolved" // nobody knows what became of the attempt before; nothing was run
	CodeReturned   = "returned"   // the server stopped; what was sent was undone
)

// ExecutorConfig tunes an executor. Store is needed, with a vault.
type ExecutorConfig struct {
	Store *Store
	// Concurrency is how many runs go on at once. Zero: 8.
	Concurrency int
	// Target tunes how databases are treated. The zero value works.
	Target target.Options
	Log    *slog.Logger
}

// executor runs changes. It keeps nothing: what it knows is in the database before
// it acts.
type executor struct {
	*Store
	options target.Options
	log     *slog.Logger
	worker  string
}

// Handle makes a worker an executor of rollouts. Call it before the worker runs.
func Handle(worker *weir.Worker, config ExecutorConfig) {
	e := &executor{Store: config.Store, options: config.Target, log: cmp.Or(config.Log, config.Store.log), worker: worker.Name()}
	e.options.Log = e.log
	weir.Handle(worker, Service, func(ctx context.Context, r *weir.Run[json.RawMessage]) (any, error) {
		return e.run(ctx, lease{task: r.ID, attempt: r.Attempt, token: r.Token})
	}, weir.Concurrency(cmp.Or(config.Concurrency, executors)))
}

// report is the result of a task that is DONE.
type report struct {
	Replayed   bool  `json:"replayed,omitempty"`
	Statements int   `json:"statements"`
	Skipped    int   `json:"skipped,omitempty"`
	Took       int64 `json:"took_ms"`
}

// run does one attempt. Whatever ends it, what is known of it is written down under
// the lease before the engine hears of the end.
func (e *executor) run(ctx context.Context, l lease) (any, error) {
	o, err := e.brief(ctx, l, e.worker)
	switch {
	case err != nil && (ctx.Err() != nil || problem.Explain(err).Kind == problem.Unreachable):
		return nil, weir.Snooze(comeBack) // nothing was done, and nothing can be said
	case err != nil:
		return nil, weir.Permanent(fmt.Errorf("read the order: %w", err))
	case o.code == "lease_lost":
		return nil, weir.ErrLeaseLost
	case o.code != "":
		return e.fail(ctx, l, &target.Failure{Code: o.code, Unknown: o.code == CodeUnresolved, What: o.problem, Next: "Nothing was run."})
	}
	result, err := e.apply(ctx, l, o)
	if err != nil {
		return e.fail(ctx, l, err)
	}
	return e.done(ctx, l, o, result)
}

// apply connects, looks once more whether this is the right database, and lets the
// target do the change.
func (e *executor) apply(ctx context.Context, l lease, o order) (target.Result, error) {
	change := o.change.change(o.sql)
	steps, err := script.Steps(script.Engine(o.engine), change)
	if err != nil {
		return target.Result{}, &target.Failure{Code: target.CodeSyntax, What: said(fault("change", err))}
	}
	t, err := e.reachWith(ctx, o.engine, o.secret, e.options)
	if err != nil {
		return target.Result{}, e.before(err)
	}
	defer t.Close()
	if o.identity == "" { // nobody had reached it before; from now on it is this one
		if _, err := e.CheckDatabase(ctx, o.database); err != nil {
			return target.Result{}, e.before(err)
		}
	}
	if o.first {
		e.compare(ctx, t, o)
	}
	return t.Apply(ctx, target.Run{
		Rollout: o.rollout.String(), Task: l.task.String(), Attempt: l.attempt, Token: l.token.String(), Change: change, Steps: steps, Identity: o.identity, OutOfOrder: o.outOfOrder, By: o.by,
	}, &watch{executor: e, lease: l, sql: o.sql})
}

// before makes a failure of an error that came before anything was sent.
func (e *executor) before(err error) *target.Failure {
	var f *target.Failure
	if errors.As(err, &f) {
		return f
	}
	p := problem.Explain(err)
	return &target.Failure{Code: target.CodeUnreachable, What: p.What, Next: p.Next}
}

// done writes down that the change is applied. Somebody may have asked the run to
// stop when it was too late; then we end it as what it is, before the worker says
// that it was canceled.
func (e *executor) done(ctx context.Context, l lease, o order, result target.Result) (any, error) {
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), reportFor)
	defer cancel()
	answer, err := e.ended(last, l, "", false, "", o.change.Version, o.change.Rank)
	if err != nil {
		e.log.Warn("a run was applied and could not say so; the resolver will find out", "task", l.task, "error", err)
	}
	if answer == "last" && o.change.Kind != string(script.Data) {
		e.keep(last, o)
	}
	r := report{Replayed: result.Replayed, Statements: result.Statements, Skipped: result.Skipped, Took: result.Took.Milliseconds()}
	if errors.Is(context.Cause(ctx), weir.ErrCanceled) {
		if _, err := e.finish(last, l, r); err != nil {
			e.log.Warn("a run that was asked to stop was applied and could not say so", "task", l.task, "error", err)
		}
	}
	return r, nil
}

// fail writes down why a run ended badly, and says how the engine should take it.
// Only what provably changed nothing is handed back when the server stops; nothing
// else is ever tried again by itself.
func (e *executor) fail(ctx context.Context, l lease, err error) (any, error) {
	var f *target.Failure
	if !errors.As(err, &f) {
		f = &target.Failure{Code: target.CodeLost, Unknown: true, What: err.Error()}
	}
	cause := context.Cause(ctx)
	if errors.Is(err, weir.ErrLeaseLost) || errors.Is(cause, weir.ErrLeaseLost) && !f.Unknown {
		return nil, weir.ErrLeaseLost
	}
	code := f.Code
	handBack := errors.Is(cause, weir.ErrStopped) && !f.Unknown && (code == target.CodeCanceled || code == target.CodeStopped)
	if handBack {
		code = CodeReturned
	}
	text := f.Error()
	if f.Next != "" {
		text += ". " + f.Next
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), reportFor)
	defer cancel()
	if _, err := e.ended(last, l, code, f.Unknown, text, "", nil); err != nil {
		e.log.Warn("a run could not say how it ended", "task", l.task, "code", code, "error", err)
		handBack = false
	}
	if handBack {
		return nil, errors.New(text)
	}
	return nil, weir.Permanent(errors.New(text))
}

// compare looks whether the schema is the one that was last accepted, before the
// first change of a rollout. It keeps nobody from running.
func (e *executor) compare(ctx context.Context, t target.Target, o order) {
	was, err := e.base(ctx, o.database)
	if err != nil || was.hash == "" || was.drifted {
		return
	}
	if id, err := t.Identity(ctx); err != nil || id.String() != o.identity {
		return // the run itself says what is wrong
	}
	now, err := t.Snapshot(ctx)
	if err == nil && now.Hash != was.hash {
		err = e.putBase(ctx, o.database, now.Hash, "", "executor", true, false)
	}
	if err != nil {
		e.log.Warn("the schema of a database could not be compared", "database", o.database, "error", err)
	}
}

// keep writes the schema down after the last change of a rollout.
func (e *executor) keep(ctx context.Context, o order) {
	t, err := e.reachWith(ctx, o.engine, o.secret, e.options)
	if err == nil {
		var now target.Snapshot
		if now, err = t.Snapshot(ctx); err == nil {
			err = e.putBase(ctx, o.database, now.Hash, now.Text, "rollout "+o.rollout.String(), false, false)
		}
		t.Close()
	}
	if err != nil {
		e.log.Warn("the schema of a database could not be written down", "database", o.database, "error", err)
	}
}
