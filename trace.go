package weir

import (
	"context"
	"errors"
	"time"
)

// Tracer carries a trace through tasks: from the span that submits one to the
// spans of its handler, in whichever process that runs. The SDK knows no
// telemetry library; package weirotel implements this for OpenTelemetry.
//
//	submit in a span ──► Parent ──► kept with the task ──► Attempt ──► handler
//	                                                          └─ one span per attempt
//
// Its methods are called for every submission and every attempt, by many
// goroutines at once.
type Tracer interface {
	// Parent names the span of ctx, as a W3C traceparent. It is kept with tasks
	// and jobs that have no Trace of their own. Empty: there is no span.
	Parent(ctx context.Context) string
	// Attempt begins the span of an attempt. The handler gets the context that
	// is returned, so that its own spans are children; end is called once, when
	// the handler has returned. Outcome is what the worker reports: done, failed,
	// snoozed, returned or canceled; lost if the result no longer counts. Err is
	// the handler's.
	Attempt(ctx context.Context, a Attempt) (_ context.Context, end func(outcome string, err error))
}

// Attempt is what a [Tracer] is told of one.
type Attempt struct {
	// Task is the id of the task; Job that of its job, or zero; Key its name
	// there.
	Task, Job    ID
	Service, Key string
	// Number counts from 1 and never repeats for a task.
	Number, MaxAttempts int
	// Worker is the name of the worker that runs it.
	Worker string
	// Trace is what was kept with the task, or empty.
	Trace string
	// Claimed is when the worker asked for the task.
	Claimed time.Time
}

// parent is the trace for what is submitted under ctx.
func (c *Client) parent(ctx context.Context) string {
	if c.tracer == nil {
		return ""
	}
	return c.tracer.Parent(ctx)
}

// trace begins the span of an attempt, if somebody wants to know. The function
// it returns ends the span. It is called before the slot is free: a worker that
// has stopped has no spans open.
func (w *Worker) trace(l *lease) (context.Context, func(ending, error)) {
	if w.client.tracer == nil {
		return l.ctx, func(ending, error) {}
	}
	ctx, end := w.client.tracer.Attempt(l.ctx, Attempt{
		Task: l.task, Job: l.job, Service: l.handler.service, Key: l.key, Number: l.attempt, MaxAttempts: l.maxAttempts,
		Worker: w.config.Name, Trace: l.trace, Claimed: l.claimed,
	})
	return ctx, func(e ending, err error) {
		w.mu.Lock()
		if l.ended || l.lost {
			e.verdict = dropped
		}
		w.mu.Unlock()
		if err == nil && e.cause != "" {
			err = errors.New(e.cause) // the handler is content, we are not
		}
		end(outcomes[e.verdict], err)
	}
}

// outcomes are the words for verdicts in a trace.
var outcomes = [...]string{asDone: "done", asFailed: "failed", asSnoozed: "snoozed", asReturned: "returned", asCanceled: "canceled", dropped: "lost"}
