package weirotel_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/testdb"
	"github.com/weirhq/weir/internal/testwait"
	"github.com/weirhq/weir/weirotel"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// lab is a database with a traced client and all the spans that ended.
type lab struct {
	client   *weir.Client
	provider *sdktrace.TracerProvider
	spans    *tracetest.SpanRecorder
}

func newLab(t *testing.T) *lab {
	t.Helper()
	l := &lab{spans: tracetest.NewSpanRecorder()}
	l.provider = sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(l.spans))
	var err error
	l.client, err = weir.Open(t.Context(), testdb.New(t).URL, &weir.Config{Tracer: weirotel.New(l.provider)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.client.Close)
	return l
}

// work runs handlers until the test ends.
func (l *lab) work(t *testing.T, handlers func(*weir.Worker)) {
	t.Helper()
	worker := weir.NewWorker(l.client, weir.WorkerConfig{Name: "w1"})
	handlers(worker)
	// The worker is started in a span of its own, which no task belongs to.
	ctx, span := l.provider.Tracer("test").Start(context.WithoutCancel(t.Context()), "main")
	span.End()
	ended := make(chan error, 1)
	go func() { ended <- worker.Run(ctx) }()
	t.Cleanup(func() {
		if err := errors.Join(worker.Stop(context.Background()), <-ended); err != nil {
			t.Error(err)
		}
	})
}

func (l *lab) wait(t *testing.T, id weir.ID) weir.Outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testwait.Limit)
	defer cancel()
	outcome, err := l.client.Wait(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	return outcome
}

// named are the spans of a name that ended, in the order they did.
func (l *lab) named(name string) []sdktrace.ReadOnlySpan {
	return slices.DeleteFunc(l.spans.Ended(), func(s sdktrace.ReadOnlySpan) bool { return s.Name() != name })
}

func about(s sdktrace.ReadOnlySpan, key attribute.Key) attribute.Value {
	for _, a := range s.Attributes() {
		if a.Key == key {
			return a.Value
		}
	}
	return attribute.Value{}
}

func TestATaskCarriesItsTraceOverRetries(t *testing.T) {
	l := newLab(t)
	tracer := l.provider.Tracer("test")
	var seen string
	l.work(t, func(w *weir.Worker) {
		weir.Handle(w, "ship", func(ctx context.Context, run *weir.Run[struct{}]) (any, error) {
			_, span := tracer.Start(ctx, "inside")
			defer span.End()
			if run.Attempt < 3 {
				return nil, weir.RetryAfter(time.Millisecond, errors.New("no stock"))
			}
			seen = run.Trace
			return nil, nil
		})
	})
	ctx, order := tracer.Start(t.Context(), "order")
	receipt, err := l.client.Submit(ctx, weir.Task{Service: "ship"})
	order.End()
	if err != nil {
		t.Fatal(err)
	}
	if outcome := l.wait(t, receipt.ID); outcome.State != weir.Done {
		t.Fatalf("ended %+v", outcome)
	}

	attempts, inside := l.named("process ship"), l.named("inside")
	if len(attempts) != 3 || len(inside) != 3 {
		t.Fatalf("%d spans of attempts, %d of the handler", len(attempts), len(inside))
	}
	for i, s := range attempts {
		if s.SpanContext().TraceID() != order.SpanContext().TraceID() || s.Parent().SpanID() != order.SpanContext().SpanID() || !s.Parent().IsRemote() {
			t.Errorf("attempt %d: %v under %v, want a child of %v", i+1, s.SpanContext(), s.Parent(), order.SpanContext())
		}
		if inside[i].Parent().SpanID() != s.SpanContext().SpanID() || inside[i].SpanContext().TraceID() != order.SpanContext().TraceID() {
			t.Errorf("attempt %d: the handler's span is not its child", i+1)
		}
		if n := about(s, "weir.attempt").AsInt64(); n != int64(i+1) {
			t.Errorf("span %d is of attempt %d", i+1, n)
		}
		if s.SpanKind() != trace.SpanKindConsumer || about(s, "messaging.message.id").AsString() != receipt.ID.String() || about(s, "weir.worker").AsString() != "w1" {
			t.Errorf("attempt %d: %v %v", i+1, s.SpanKind(), s.Attributes())
		}
		outcome, code := "failed", codes.Error
		if i == 2 {
			outcome, code = "done", codes.Unset
		}
		if about(s, "weir.outcome").AsString() != outcome || s.Status().Code != code {
			t.Errorf("attempt %d: %v, status %v; want %s", i+1, s.Attributes(), s.Status(), outcome)
		}
		if !s.EndTime().After(s.StartTime()) {
			t.Errorf("attempt %d lasted from %v to %v", i+1, s.StartTime(), s.EndTime())
		}
	}
	if want := weirotel.New(nil).Parent(ctx); seen != want || want == "" {
		t.Errorf("Run.Trace is %q, want %q", seen, want)
	}
}

func TestTheTasksOfAJobAndOfAHandlerShareItsTrace(t *testing.T) {
	l := newLab(t)
	more := make(chan weir.ID, 2)
	l.work(t, func(w *weir.Worker) {
		weir.Handle(w, "first", func(ctx context.Context, _ *weir.Run[struct{}]) (any, error) {
			receipt, err := l.client.Submit(ctx, weir.Task{Service: "third"})
			more <- receipt.ID
			return nil, err
		})
		weir.Handle(w, "second", func(_ context.Context, run *weir.Run[struct{}]) (any, error) {
			more <- run.ID
			return nil, nil
		})
		weir.Handle(w, "third", func(context.Context, *weir.Run[struct{}]) (any, error) { return nil, nil })
	})
	const own = "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01"
	ctx, span := l.provider.Tracer("test").Start(t.Context(), "release")
	job, err := l.client.SubmitJob(ctx, weir.Job{Name: "release", Tasks: []weir.Task{
		{Service: "first", Key: "a"}, {Service: "second", Key: "b", Needs: []string{"a"}, Trace: own},
	}})
	span.End()
	if err != nil {
		t.Fatal(err)
	}
	l.wait(t, <-more)
	l.wait(t, <-more)
	first, second, third := l.named("process first")[0], l.named("process second")[0], l.named("process third")[0]
	if first.Parent().SpanID() != span.SpanContext().SpanID() || about(first, "weir.job").AsString() != job.String() || about(first, "weir.key").AsString() != "a" {
		t.Errorf("first: under %v, %v", first.Parent(), first.Attributes())
	}
	if got := second.SpanContext().TraceID().String(); got != "0123456789abcdef0123456789abcdef" {
		t.Errorf("the task's own trace is lost: %s", got)
	}
	if third.Parent().SpanID() != first.SpanContext().SpanID() || third.SpanContext().TraceID() != span.SpanContext().TraceID() {
		t.Errorf("what a handler submits is not in its trace: %v", third.Parent())
	}
}

func TestATaskWithoutATraceBeginsOne(t *testing.T) {
	l := newLab(t)
	l.work(t, func(w *weir.Worker) {
		weir.Handle(w, "plain", func(context.Context, *weir.Run[struct{}]) (any, error) { return nil, nil })
	})
	for _, odd := range []string{"", "not a traceparent"} {
		receipt, err := l.client.Submit(t.Context(), weir.Task{Service: "plain", Trace: odd})
		if err != nil {
			t.Fatal(err)
		}
		l.wait(t, receipt.ID)
	}
	spans, main := l.named("process plain"), l.named("main")[0]
	if len(spans) != 2 {
		t.Fatalf("%d spans", len(spans))
	}
	for _, s := range spans {
		if s.Parent().IsValid() || s.SpanContext().TraceID() == main.SpanContext().TraceID() {
			t.Errorf("a task of nobody's trace is under %v", s.Parent())
		}
	}
}

func TestEveryEndOfAnAttemptHasItsWord(t *testing.T) {
	l := newLab(t)
	began := make(chan weir.ID, 1)
	l.work(t, func(w *weir.Worker) {
		weir.Handle(w, "snoozes", func(_ context.Context, run *weir.Run[struct{}]) (any, error) {
			if run.Attempt == 1 {
				return nil, weir.Snooze(time.Millisecond)
			}
			return nil, nil
		})
		weir.Handle(w, "panics", func(context.Context, *weir.Run[struct{}]) (any, error) { panic("ouch") })
		weir.Handle(w, "waits", func(ctx context.Context, run *weir.Run[struct{}]) (any, error) {
			began <- run.ID
			<-ctx.Done()
			return nil, ctx.Err()
		})
	})
	for _, service := range []string{"snoozes", "panics", "waits"} {
		receipt, err := l.client.Submit(t.Context(), weir.Task{Service: service, MaxAttempts: 1})
		if err != nil {
			t.Fatal(err)
		}
		if service == "waits" {
			if _, err := l.client.Cancel(t.Context(), <-began, weir.Decision{By: "test"}); err != nil {
				t.Fatal(err)
			}
		}
		l.wait(t, receipt.ID)
	}
	for name, want := range map[string][]string{"process snoozes": {"snoozed", "done"}, "process panics": {"failed"}, "process waits": {"canceled"}} {
		var got []string
		for _, s := range l.named(name) {
			got = append(got, about(s, "weir.outcome").AsString())
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
