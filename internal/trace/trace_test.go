package trace

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/weirhq/weir/internal/pg"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/requestinfo"
	"github.com/weirhq/weir/internal/testdb"
	"github.com/weirhq/weir/internal/testwait"
)

func TestMain(m *testing.M) { testdb.Main(m) }

const (
	traceID = "4bf92f3577b34da6a3ce929d0e0e4736"
	parent  = "00-" + traceID + "-00f067aa0ba902b7-01"
)

// recording returns tracing into memory.
func recording(t *testing.T) (*Tracing, *tracetest.SpanRecorder) {
	t.Helper()
	spans := tracetest.NewSpanRecorder()
	tracing, err := start(t.Context(), Config{Version: "1.2.3", Instance: "n1"}, spans)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tracing.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return tracing, spans
}

func about(s sdktrace.ReadOnlySpan, key attribute.Key) string {
	for _, a := range s.Attributes() {
		if a.Key == key {
			return a.Value.String()
		}
	}
	return ""
}

// face wraps routes like a server does.
func face(tracing *Tracing, routes map[string]http.HandlerFunc) http.Handler {
	mux := http.NewServeMux()
	for pattern, handler := range routes {
		mux.HandleFunc(pattern, handler)
	}
	door := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requestinfo.SetSubject(r.Context(), "token")
		requestinfo.Routed(mux).ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), http.ServerContextKey, "a copy")))
	})
	return requestinfo.Wrap(tracing.HTTP(door))
}

func TestARequestIsASpanOfItsRoute(t *testing.T) {
	tracing, spans := recording(t)
	var kept string
	handler := face(tracing, map[string]http.HandlerFunc{
		"POST /api/v1/tasks/{id}/cancel": func(w http.ResponseWriter, r *http.Request) {
			kept = Parent(r.Context())
			w.WriteHeader(http.StatusBadGateway)
		},
		"GET /healthz":  func(http.ResponseWriter, *http.Request) {},
		"GET /panics":   func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"GET /api/live": func(http.ResponseWriter, *http.Request) {},
	})
	ask := func(method, path string, headers ...string) {
		r := httptest.NewRequestWithContext(t.Context(), method, path, nil)
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		defer func() { _ = recover() }() // as the server does
		handler.ServeHTTP(httptest.NewRecorder(), r)
	}
	ask("POST", "/api/v1/tasks/17/cancel?secret=hush", "traceparent", parent, requestinfo.Header, "r1")
	ask("GET", "/healthz")
	ask("GET", "/api/live", "Accept", "text/event-stream")
	ask("GET", "/panics")
	ask("BREW", "/nothing/of/ours")

	ended := spans.Ended()
	var names []string
	for _, s := range ended {
		names = append(names, s.Name())
		for _, a := range s.Attributes() {
			if v := a.Value.String(); strings.Contains(v, "hush") || strings.Contains(v, "17") {
				t.Errorf("%s tells %s=%s", s.Name(), a.Key, v)
			}
		}
	}
	if want := []string{"POST /api/v1/tasks/{id}/cancel", "GET /panics", "other"}; !slices.Equal(names, want) {
		t.Fatalf("spans %q, want %q", names, want)
	}
	first := ended[0]
	if first.SpanContext().TraceID().String() != traceID || first.Parent().SpanID().String() != "00f067aa0ba902b7" {
		t.Errorf("it is not in the caller's trace: %v", first.SpanContext())
	}
	if first.Status().Code != codes.Error || about(first, "http.response.status_code") != "502" || about(first, "weir.subject.kind") != "token" || about(first, "weir.request.id") != "r1" {
		t.Errorf("%v %v", first.Status(), first.Attributes())
	}
	if want := "00-" + traceID + "-" + first.SpanContext().SpanID().String() + "-01"; kept != want {
		t.Errorf("a task would keep %q, want %q", kept, want)
	}
	if about(ended[1], "http.response.status_code") != "500" || ended[1].Status().Code != codes.Error {
		t.Errorf("a panic is told as %v", ended[1].Attributes())
	}
	if about(ended[2], "http.response.status_code") != "404" || ended[2].Status().Code != codes.Unset {
		t.Errorf("a path of nobody is told as %v", ended[2].Attributes())
	}
	found := false
	for _, a := range first.Resource().Attributes() {
		found = found || a.Key == "service.version" && a.Value.AsString() == "1.2.3"
	}
	if !found {
		t.Errorf("resource %v", first.Resource())
	}
}

// If tracing is off, the trace of a caller still reaches the tasks.
func TestOffATraceParentStillGoesThrough(t *testing.T) {
	tracing := off()
	var kept []string
	handler := face(tracing, map[string]http.HandlerFunc{"POST /": func(_ http.ResponseWriter, r *http.Request) { kept = append(kept, Parent(r.Context())) }})
	for _, given := range []string{parent, "", "garbage"} {
		r := httptest.NewRequestWithContext(t.Context(), "POST", "/", nil)
		r.Header.Set("traceparent", given)
		handler.ServeHTTP(httptest.NewRecorder(), r)
	}
	if want := []string{parent, "", ""}; !slices.Equal(kept, want) {
		t.Errorf("kept %q, want %q", kept, want)
	}
	if tracing.On() || tracing.Provider() == nil || tracing.Stop(t.Context()) != nil {
		t.Error("off is not quiet")
	}
}

func TestStatementsAreSpansBelowOthersOnlyAndHideTheirArguments(t *testing.T) {
	tracing, spans := recording(t)
	db := testdb.New(t)
	pool, err := pg.Open(t.Context(), db.URL, pg.Options{Configure: tracing.Database})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	read := func(ctx context.Context) {
		var n int
		if err := pool.QueryRow(ctx, `select count(*) from weir.why($1)`, "0198c0de-0000-7000-8000-00000000beef").Scan(&n); err == nil {
			t.Error("why of a task that is not there")
		}
	}
	read(t.Context()) // without a parent
	ctx, span := tracing.Provider().Tracer("test").Start(t.Context(), "page")
	read(ctx)
	span.End()
	var names []string
	for _, s := range spans.Ended() {
		if s.SpanContext().TraceID() != span.SpanContext().TraceID() {
			t.Errorf("%s is nobody's", s.Name())
		}
		names = append(names, s.Name())
		for _, a := range s.Attributes() {
			if strings.Contains(a.Value.String(), "beef") {
				t.Errorf("%s tells %v", s.Name(), a)
			}
		}
	}
	if !slices.Contains(names, "weir.why") {
		t.Errorf("spans %q", names)
	}
}

func TestOffTheDatabaseIsLeftAlone(t *testing.T) {
	db := testdb.New(t)
	pool, err := pg.Open(t.Context(), db.URL, pg.Options{Configure: off().Database})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	if pool.Config().ConnConfig.Tracer != nil {
		t.Error("a tracer is there")
	}
}

func TestDecide(t *testing.T) {
	const endpoint, traces = "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
	for _, c := range []struct {
		name, setting string
		env           map[string]string
		endpoint      string
		on            bool
		field         string
	}{
		{name: "nothing asks"},
		{name: "the setting", setting: "http://collector:4318", endpoint: "http://collector:4318/v1/traces", on: true},
		{name: "the setting with a path", setting: "https://c/otlp", endpoint: "https://c/otlp", on: true},
		{name: "the setting is no address", setting: "collector:4318", field: "trace_endpoint"},
		{name: "the variable", env: map[string]string{endpoint: "http://c:4318"}, on: true},
		{name: "the variable for traces", env: map[string]string{traces: "http://c:4318/v1/traces"}, on: true},
		{name: "disabled", setting: "http://c:4318", env: map[string]string{endpoint: "http://c:4318", "OTEL_SDK_DISABLED": "TRUE"}},
		{name: "no exporter", env: map[string]string{endpoint: "http://c:4318", "OTEL_TRACES_EXPORTER": "none"}},
		{name: "gRPC", env: map[string]string{endpoint: "http://c:4317", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, field: "OTEL_EXPORTER_OTLP_PROTOCOL"},
	} {
		got, on, err := decide(c.setting, func(name string) string { return c.env[name] })
		field := ""
		if err != nil {
			field = problem.Explain(err).Field
		}
		if got != c.endpoint || on != c.on || field != c.field {
			t.Errorf("%s: %q %v %v", c.name, got, on, err)
		}
	}
}

// A collector gets spans by HTTP; while it refuses them the log says so once.
func TestACollectorGetsSpans(t *testing.T) {
	var got, broken atomic.Int64
	broken.Store(1)
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if broken.Load() == 1 {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		if r.URL.Path == "/v1/traces" {
			got.Add(1)
		}
	}))
	defer collector.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1") // the setting takes precedence
	var log bytes.Buffer
	tracing, err := Start(t.Context(), Config{Endpoint: collector.URL, Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil || !tracing.On() {
		t.Fatal(tracing, err)
	}
	send := func() {
		_, span := tracing.Provider().Tracer("test").Start(t.Context(), "span")
		span.End()
		if err := tracing.sdk.ForceFlush(t.Context()); err != nil {
			t.Error(err)
		}
	}
	send()
	send()
	broken.Store(0)
	send()
	ctx, cancel := context.WithTimeout(t.Context(), testwait.Limit)
	defer cancel()
	if err := tracing.Stop(ctx); err != nil {
		t.Error(err)
	}
	if got.Load() != 1 {
		t.Errorf("the collector got %d batches", got.Load())
	}
	if text := log.String(); strings.Count(text, "cannot be sent") != 1 || !strings.Contains(text, "dropped=2") {
		t.Errorf("log: %s", text)
	}
}

func TestLogLinesSayWhatTheyBelongTo(t *testing.T) {
	tracing, _ := recording(t)
	var out bytes.Buffer
	log := slog.New(Log(slog.NewJSONHandler(&out, nil))).With("server", "s1")
	lines := func() (last map[string]any) {
		rows := strings.Split(strings.TrimSpace(out.String()), "\n")
		if err := json.Unmarshal([]byte(rows[len(rows)-1]), &last); err != nil {
			t.Fatal(err)
		}
		return last
	}
	log.InfoContext(t.Context(), "alone")
	if line := lines(); line["trace_id"] != nil || line["span_id"] != nil || line["request_id"] != nil || line["server"] != "s1" {
		t.Errorf("%v", line)
	}
	handler := face(tracing, map[string]http.HandlerFunc{"GET /": func(_ http.ResponseWriter, r *http.Request) {
		log.ErrorContext(r.Context(), "failed", "error", errors.New("no"))
	}})
	r := httptest.NewRequestWithContext(t.Context(), "GET", "/", nil)
	r.Header.Set("traceparent", parent)
	r.Header.Set(requestinfo.Header, "r7")
	handler.ServeHTTP(httptest.NewRecorder(), r)
	if line := lines(); line["trace_id"] != traceID || len(line["span_id"].(string)) != 16 || line["request_id"] != "r7" || line["error"] != "no" {
		t.Errorf("%v", line)
	}
}
