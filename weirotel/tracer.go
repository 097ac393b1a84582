package weirotel

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/weirhq/weir"
)

// scope names this package to those who read spans.
const scope = "github.com/weirhq/weir/weirotel"

// header is the W3C name under which a propagator keeps a span.
const header = "traceparent"

// Tracer implements [weir.Tracer].
type Tracer struct{ tracer trace.Tracer }

var _ weir.Tracer = (*Tracer)(nil)

// New makes a tracer whose spans go to provider. Nil: the global one.
func New(provider trace.TracerProvider) *Tracer {
	if provider == nil {
		provider = otel.GetTracerProvider()
	}
	return &Tracer{provider.Tracer(scope)}
}

// Parent is the traceparent of the span in ctx, or empty.
func (*Tracer) Parent(ctx context.Context) string {
	if !trace.SpanContextFromContext(ctx).IsValid() {
		return ""
	}
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return carrier[header]
}

// Attempt begins the span of an attempt, below the span that submitted the task.
func (t *Tracer) Attempt(ctx context.Context, a weir.Attempt) (context.Context, func(outcome string, err error)) {
	options := []trace.SpanStartOption{
		trace.WithSpanKind(trace.SpanKindConsumer), trace.WithTimestamp(a.Claimed), trace.WithAttributes(describe(a)...),
	}
	// Not the trace in which the worker was started: that is no cause of this.
	above := trace.ContextWithSpanContext(ctx, trace.SpanContext{})
	above = propagation.TraceContext{}.Extract(above, propagation.MapCarrier{header: a.Trace})
	ctx, span := t.tracer.Start(above, "process "+a.Service, options...)
	return ctx, func(outcome string, err error) {
		span.SetAttributes(attribute.String("weir.outcome", outcome))
		if outcome == "failed" || outcome == "lost" {
			span.SetStatus(codes.Error, status(outcome, err))
			if err != nil {
				span.RecordError(err)
			}
		}
		span.End()
	}
}

// describe says what a span is about, in the words of the messaging conventions
// where they have one.
func describe(a weir.Attempt) []attribute.KeyValue {
	about := []attribute.KeyValue{
		attribute.String("messaging.system", "weir"),
		attribute.String("messaging.operation.type", "process"),
		attribute.String("messaging.destination.name", a.Service),
		attribute.String("messaging.message.id", a.Task.String()),
		attribute.Int("weir.attempt", a.Number),
		attribute.Int("weir.max_attempts", a.MaxAttempts),
		attribute.String("weir.worker", a.Worker),
	}
	if a.Job != (weir.ID{}) {
		about = append(about, attribute.String("weir.job", a.Job.String()))
	}
	if a.Key != "" {
		about = append(about, attribute.String("weir.key", a.Key))
	}
	return about
}

func status(outcome string, err error) string {
	if err == nil {
		err = errors.New("the attempt was " + outcome)
	}
	return err.Error()
}
