package trace

import (
	"context"
	"log/slog"

	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/weirhq/weir/internal/requestinfo"
)

// Log adds to every line the ids it belongs to: trace_id and span_id if there is a span
// in its context, request_id if it was written while serving a request.
func Log(inner slog.Handler) slog.Handler { return &handler{inner} }

type handler struct{ slog.Handler }

func (h *handler) Handle(ctx context.Context, line slog.Record) error {
	span, id := oteltrace.SpanContextFromContext(ctx), requestinfo.ID(ctx)
	if span.IsValid() || id != "" {
		line = line.Clone() // other handlers may hold the same record
	}
	if span.IsValid() {
		line.AddAttrs(slog.String("trace_id", span.TraceID().String()), slog.String("span_id", span.SpanID().String()))
	}
	if id != "" {
		line.AddAttrs(slog.String("request_id", id))
	}
	return h.Handler.Handle(ctx, line)
}

func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &handler{h.Handler.WithAttrs(attrs)}
}

func (h *handler) WithGroup(name string) slog.Handler { return &handler{h.Handler.WithGroup(name)} }
