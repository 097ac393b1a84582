package weir

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"time"
)

// handler does the tasks of one service.
type handler struct {
	service string
	// limit is how many run at once; timeout bounds each attempt.
	limit   int
	timeout time.Duration
	call    func(context.Context, *lease) (any, error)

	// The worker's mutex guards these. freed counts slots that became free since
	// the last claim; hungry: that claim found as many tasks as we asked for.
	running, freed, got int
	hungry              bool
}

// Option tunes a handler.
type Option func(*handler)

// Concurrency bounds how many tasks of the service the worker runs at once,
// within its own limit.
func Concurrency(n int) Option { return func(h *handler) { h.limit = n } }

// Timeout bounds each attempt, as the task's own timeout does; the shorter one
// counts.
func Timeout(d time.Duration) Option { return func(h *handler) { h.timeout = d } }

// Handle makes the worker do the tasks of a service with f. Register all
// handlers before the worker runs; a second one for the same service panics.
//
// The params of a task are decoded into Args; a task whose params do not fit
// fails without further attempts. What f returns is the task's result: anything
// that becomes JSON, or nil. An error is a failed attempt, tried again after a
// back-off while attempts are left; see [Permanent], [RetryAfter] and [Snooze]
// for other ends. A panic is a failed attempt too.
//
// The context ends when the attempt's time is over, when the task is cancelled,
// when the worker stops, and when the worker can no longer be sure of its lease;
// [context.Cause] says which. A handler must then stop: what it returns later is
// refused, unless the task was cancelled and the result is [Committed].
func Handle[Args any](w *Worker, service string, f func(context.Context, *Run[Args]) (any, error), options ...Option) {
	h := &handler{service: service, limit: w.config.Concurrency}
	for _, option := range options {
		option(h)
	}
	h.limit = min(h.limit, w.config.Concurrency)
	h.call = func(ctx context.Context, l *lease) (any, error) {
		run := &Run[Args]{
			ID: l.task, JobID: l.job, Key: l.key, Attempt: l.attempt, MaxAttempts: l.maxAttempts, Token: l.token, Trace: l.trace,
			lease: l, worker: w,
		}
		run.Deadline, _ = ctx.Deadline()
		if err := decode(l.params, &run.Args); err != nil {
			return nil, Permanent(fmt.Errorf("the params do not fit the handler: %w", err))
		}
		return f(ctx, run)
	}
	w.register(h)
}

func decode(params []byte, args any) error {
	switch args := args.(type) {
	case *struct{}:
		return nil
	case *json.RawMessage:
		*args = params
		return nil
	}
	return json.Unmarshal(params, args)
}

// run calls the handler and turns a panic into an error.
func (h *handler) run(ctx context.Context, l *lease) (result any, err error) {
	defer func() {
		if v := recover(); v != nil {
			result, err = nil, &panicked{v, debug.Stack()}
		}
	}()
	return h.call(ctx, l)
}
