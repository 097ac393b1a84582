package trace

import (
	"cmp"
	"context"
	"net/http"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/weirhq/weir/internal/requestinfo"
)

// header is the W3C header that names a span within its trace.
const header = "traceparent"

// HTTP makes a span of every request, below the one that its traceparent names. It must
// be inside requestinfo.Wrap, because the name of the span is the route.
func (t *Tracing) HTTP(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := r.Context()
		if given := r.Header.Get(header); given != "" {
			ctx = propagation.TraceContext{}.Extract(ctx, propagation.HeaderCarrier(r.Header))
			r = r.WithContext(ctx)
		}
		if t.sdk == nil || dull(r) {
			next.ServeHTTP(w, r)
			return
		}
		method := requestinfo.Method(r)
		ctx, span := t.tracer.Start(ctx, method, oteltrace.WithSpanKind(oteltrace.SpanKindServer), oteltrace.WithAttributes(
			attribute.String("http.request.method", method), attribute.String("weir.request.id", requestinfo.ID(ctx)),
		))
		answer := requestinfo.Record(w)
		defer func() {
			conclude(ctx, span, method, answer.Status(), recover())
		}()
		next.ServeHTTP(answer, r.WithContext(ctx))
	})
}

// conclude ends the span of a request. A panic continues: the server logs it.
func conclude(ctx context.Context, span oteltrace.Span, method string, status int, panicked any) {
	if panicked != nil {
		status = http.StatusInternalServerError
	}
	if route := requestinfo.Route(ctx); route != "" {
		span.SetName(method + " " + route)
		span.SetAttributes(attribute.String("http.route", route))
	}
	span.SetAttributes(attribute.Int("http.response.status_code", status), attribute.String("weir.subject.kind", cmp.Or(requestinfo.Subject(ctx), "nobody")))
	if status >= http.StatusInternalServerError {
		span.SetStatus(codes.Error, http.StatusText(status))
	}
	span.End()
	if panicked != nil {
		panic(panicked)
	}
}

// dull reports whether a request gets no span: probes and files, because there are many,
// and streams, because they last long.
func dull(r *http.Request) bool {
	switch r.URL.Path {
	case "/healthz", "/readyz", "/metrics", "/favicon.ico":
		return true
	}
	return strings.HasPrefix(r.URL.Path, "/assets/") || strings.Contains(r.Header.Get("Accept"), "text/event-stream")
}

// Parent returns the traceparent to store with tasks that are submitted under ctx: that
// of the present span, else the one that came with the request, else "".
func Parent(ctx context.Context) string {
	if !oteltrace.SpanContextFromContext(ctx).IsValid() {
		return ""
	}
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return carrier[header]
}
