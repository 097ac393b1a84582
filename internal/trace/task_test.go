package trace

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/testdb"
	"github.com/weirhq/weir/weirotel"
)

// A request with a traceparent leads to spans of a worker in the same trace, whether the
// server between them is traced or not.
func TestARequestsTraceReachesTheHandlerOfItsTask(t *testing.T) {
	for _, traced := range []bool{true, false} {
		// The worker is another process, with tracing of its own.
		process, spans := recording(t)
		db := testdb.New(t)
		client, err := weir.Open(t.Context(), db.URL, &weir.Config{Tracer: weirotel.New(process.Provider())})
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		worker := weir.NewWorker(client, weir.WorkerConfig{})
		weir.Handle(worker, "ship", func(context.Context, *weir.Run[struct{}]) (any, error) { return nil, nil })
		ended := make(chan error, 1)
		go func() { ended <- worker.Run(context.WithoutCancel(t.Context())) }()

		server, serverSpans := recording(t)
		if !traced {
			server = off()
		}
		plain, err := weir.New(db.Pool, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer plain.Close()
		ids := make(chan weir.ID, 1)
		handler := face(server, map[string]http.HandlerFunc{"POST /api/v1/tasks": func(_ http.ResponseWriter, r *http.Request) {
			receipt, err := plain.Submit(r.Context(), weir.Task{Service: "ship", Trace: Parent(r.Context())})
			if err != nil {
				t.Error(err)
			}
			ids <- receipt.ID
		}})
		r := httptest.NewRequestWithContext(t.Context(), "POST", "/api/v1/tasks", nil)
		r.Header.Set("traceparent", parent)
		handler.ServeHTTP(httptest.NewRecorder(), r)
		_, err = client.Wait(t.Context(), <-ids)
		if err = errors.Join(err, worker.Stop(t.Context()), <-ended); err != nil {
			t.Fatal(err)
		}

		above := "00f067aa0ba902b7" // the caller
		if traced {
			above = serverSpans.Ended()[0].SpanContext().SpanID().String()
		}
		attempts := slices.DeleteFunc(spans.Ended(), func(s sdktrace.ReadOnlySpan) bool { return s.Name() != "process ship" })
		if len(attempts) != 1 {
			t.Fatalf("%d attempts", len(attempts))
		}
		if s := attempts[0]; s.SpanContext().TraceID().String() != traceID || s.Parent().SpanID().String() != above {
			t.Errorf("server traced %v: the attempt is in trace %s under %s, want %s under %s", traced, s.SpanContext().TraceID(), s.Parent().SpanID(), traceID, above)
		}
	}
}
