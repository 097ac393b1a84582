// Go-trace submits a task in a span and shows that the spans of its handler are
// in the same trace, over a retry.
//
//	WEIR_DATABASE_URL=postgres://… go run ./examples/go-trace
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"strings"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/weirotel"
)

// Order is the params of a task.
type Order struct{ ID int }

func main() {
	if err := run(context.Background(), os.Getenv("WEIR_DATABASE_URL")); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, url string) error {
	// Yours sends spans to a collector: otlptracehttp.New(ctx) instead of this.
	spans := tracetest.NewInMemoryExporter()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))
	tracer := provider.Tracer("go-trace")

	// The one line: give the client a tracer.
	client, err := weir.Open(ctx, url, &weir.Config{Tracer: weirotel.New(provider)})
	if err != nil {
		return err
	}
	defer client.Close()

	worker := weir.NewWorker(client, weir.WorkerConfig{})
	weir.Handle(worker, "order.ship", func(ctx context.Context, run *weir.Run[Order]) (any, error) {
		_, span := tracer.Start(ctx, "ask the carrier")
		defer span.End()
		if run.Attempt == 1 {
			return nil, errors.New("the carrier does not answer")
		}
		return fmt.Sprintf("order %d shipped", run.Args.ID), nil
	})
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- worker.Run(ctx) }()

	request, span := tracer.Start(ctx, "POST /orders")
	receipt, err := client.Submit(request, weir.Task{Service: "order.ship", Params: Order{ID: 7}, Backoff: 10 * time.Millisecond})
	span.End()
	if err != nil {
		return err
	}
	outcome, err := client.Wait(ctx, receipt.ID)
	if err != nil {
		return err
	}
	fmt.Printf("%s\ntrace %s\n", outcome.Result, span.SpanContext().TraceID())
	show(spans.GetSpans(), span.SpanContext().TraceID(), trace.SpanID{}, 1)
	stop()
	return errors.Join(<-ended, provider.Shutdown(context.WithoutCancel(ctx)))
}

// show prints the spans of a trace below one of them.
func show(spans tracetest.SpanStubs, id trace.TraceID, parent trace.SpanID, depth int) {
	for _, s := range spans {
		if s.SpanContext.TraceID() != id || s.Parent.SpanID() != parent {
			continue
		}
		about := ""
		for _, a := range s.Attributes {
			if a.Key == "weir.attempt" || a.Key == "weir.outcome" {
				about += fmt.Sprintf(" %s=%s", a.Key, a.Value.String())
			}
		}
		fmt.Printf("%s%s%s\n", strings.Repeat("  ", depth), s.Name, about)
		show(spans, id, s.SpanContext.SpanID(), depth+1)
	}
}
