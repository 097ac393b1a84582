package trace

import (
	"context"
	"log/slog"
	"sync/atomic"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// watched is an exporter that logs when the collector goes away and comes back, and not
// each failure in between. Spans that cannot be sent are dropped, because they must never
// slow down the work they describe.
type watched struct {
	sdktrace.SpanExporter
	log  *slog.Logger
	lost atomic.Int64
}

// ExportSpans sends spans. It logs its error, so it returns none.
func (w *watched) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	err := w.SpanExporter.ExportSpans(ctx, spans)
	if w.log == nil {
		return nil
	}
	if err != nil {
		if w.lost.Add(int64(len(spans))) == int64(len(spans)) {
			w.log.Warn("spans cannot be sent and are dropped; check that the collector takes OTLP over HTTP", "error", err)
		}
		return nil
	}
	if lost := w.lost.Swap(0); lost > 0 {
		w.log.Info("spans are sent again", "dropped", lost)
	}
	return nil
}
