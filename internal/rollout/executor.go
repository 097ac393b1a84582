package rollout

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/blame"
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
	// Replayed: it was applied before, and nothing was run, as Note says.
	Replayed   bool   `json:"replayed,omitempty"`
	Note       string `json:"note,omitempty"`
	Statements int    `json:"statements"`
	Skipped    int    `json:"skipped,omitempty"`
	Took       int64  `json:"took_ms"`
}

// run does one attempt. Whatever ends it, what is known of it is written down under
// the lease before the engine hears of the end.
func (e *executor) run(ctx context.Context, l lease) (any, error) {
	o, err := e.brief(ctx, l, e.worker)
	switch {
	case err != nil && (ctx.Err() != nil || problem.Explain(err).Kind == problem.Unreachable || blame.NotDone(err) && blame.Of(err) != blame.Value && blame.Of(err) != blame.State):
		return nil, weir.Snooze(comeBack) // nothing was done, and nothing can be said
	case err != nil:
		return nil, weir.Permanent(fmt.Errorf("read the order: %w", err))
	case o.code == "lease_lost":
		return nil, weir.ErrLeaseLost
	case o.code != "":
		return e.fail(ctx, l, &o, &target.Failure{Code: o.code, Unknown: o.code == CodeUnresolved, What: o.problem, Next: "Nothing was run."})
	}
	result, err := e.apply(ctx, l, &o)
	if err != nil {
		e.noteReachable(ctx, o.database, err)
		return e.fail(ctx, l, &o, err)
	}
	return e.done(ctx, l, &o, result)
}

// apply connects, looks once more whether this is the right database, and lets the
// target do the change.
func (e *executor) apply(ctx context.Context, l lease, o *order) (target.Result, error) {
	change := o.change.change(o.sql)
	steps, err := script.Steps(script.Engine(o.engine), change)
	if err != nil {
		return target.Result{}, &target.Failure{Code: target.CodeSyntax, What: said(fault("change", err))}
	}
	for _, step := range steps {
		o.alone = o.alone || !step.Transaction
		o.patient = o.patient || !step.Transaction && strings.Contains(strings.ToLower(step.Statements[0].Text), "concurrently")
	}
	t, err := e.connectWith(ctx, o.engine, o.secret, e.options)
	if err != nil {
		return target.Result{}, e.before(err)
	}
	defer t.Close()
	if o.identity == "" { // nobody had reached it before; from now on it is this one
		if _, err := e.CheckDatabase(ctx, o.database); err != nil {
			return target.Result{}, e.before(err)
		}
	}
	e.compareBaseline(ctx, t, l, o)
	result, err := t.Apply(ctx, target.Run{
		Rollout: o.rollout.String(), Task: l.task.String(), Attempt: l.attempt, Token: l.token.String(), Change: change, Steps: steps, Identity: o.identity, OutOfOrder: o.outOfOrder, By: o.by,
	}, &watch{executor: e, lease: l, soon: !o.patient && change.LockTimeout <= soon})
	if f := new(target.Failure); errors.As(err, &f) && f.Code == CodeDrift {
		f.Next = "Nothing was run. " + capital(wayBack(o.database)) + ". Then make a new plan"
	}
	return result, err
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
// stop when it was too late: it ends as what it is.
func (e *executor) done(ctx context.Context, l lease, o *order, result target.Result) (any, error) {
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), reportFor)
	defer cancel()
	note := ""
	if result.Replayed && result.Was != nil {
		note = replayed(l, o.change, *result.Was)
		e.say(last, l, eventReplayed, note, nil, false)
	}
	answer, err := e.ended(last, l, "", false, note, o.change.Version, o.change.Rank)
	if err != nil {
		e.log.Warn("a run was applied and could not say so; the resolver will find out", "task", l.task, "error", err)
	}
	if err == nil && answer != "lost" && (!result.Replayed || o.base == "") {
		e.keepBaseline(last, o)
	}
	return weir.Committed(report{Replayed: result.Replayed, Note: note, Statements: result.Statements, Skipped: result.Skipped, Took: result.Took.Milliseconds()}), nil
}

// replayed says who applied a change that had nothing left to run.
func replayed(l lease, change frozenChange, was target.Entry) string {
	what := "change " + change.Name
	if change.Version != "" {
		what = "version " + change.Version
	}
	on := was.AppliedAt.UTC().Format("2006-01-02 15:04 UTC")
	switch {
	case was.Task == l.task.String():
		return fmt.Sprintf("%s was applied on %s by attempt %d of this task; nothing was run", what, on, was.Attempt)
	case was.Rollout != "":
		return fmt.Sprintf("%s was applied on %s by rollout %s; nothing was run", what, on, was.Rollout)
	case was.Kind == target.KindBaseline:
		return fmt.Sprintf("%s is covered by the baseline %s, taken over on %s; nothing was run", what, was.Version, on)
	}
	return fmt.Sprintf("%s was applied before Weir, as was taken over on %s%s; nothing was run", what, on, strings.TrimSuffix(" ("+was.Note+")", " ()"))
}

// fail writes down why a run ended badly, and says how the engine should take it.
// Only what provably changed nothing is handed back when the server stops; nothing
// else is ever tried again by itself.
func (e *executor) fail(ctx context.Context, l lease, o *order, err error) (any, error) {
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
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), reportFor)
	defer cancel()
	text := f.Error()
	if f.Done > 0 && !f.Unknown {
		stays := fmt.Sprintf("%d of %d steps %s applied and %s; a retry goes on behind %s", f.Done, f.Steps, one(f.Done, "is", "are"), one(f.Done, "stays", "stay"), one(f.Done, "it", "them"))
		e.say(last, l, eventPartial, stays, nil, false)
		text += ". " + capital(stays)
	}
	if f.Next != "" {
		text += ". " + f.Next
	}
	answer, err := e.ended(last, l, code, f.Unknown, text, "", nil)
	if err != nil {
		e.log.Warn("a run could not say how it ended", "task", l.task, "code", code, "error", err)
		handBack = false
	}
	// It may have left a part of the change behind.
	if err == nil && answer != "lost" && !f.Unknown && f.Steps > 0 && (o.alone || f.Done > 0) {
		e.keepBaseline(last, o)
	}
	if handBack {
		return nil, errors.New(text)
	}
	return nil, weir.Permanent(errors.New(text))
}

func one(n int, single, many string) string {
	if n == 1 {
		return single
	}
	return many
}

// capital begins a sentence.
func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
