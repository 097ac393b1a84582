// Package weirotel traces Weir tasks with OpenTelemetry. One line joins the
// spans of a handler to the trace of whoever submitted its task, over processes,
// retries and whatever time the task waited:
//
//	client, err := weir.Open(ctx, url, &weir.Config{Tracer: weirotel.New(nil)})
//
//	trace 4bf9…
//	└─ POST /orders                     the span in which Submit was called
//	   ├─ process order.ship            attempt 1, failed
//	   │  └─ your spans
//	   └─ process order.ship            attempt 2, done
//	      └─ your spans
//
// What is kept with the task is its W3C traceparent, in the column trace: other
// languages read and write the same. A sampler that follows its parent
// therefore decides once for the whole tree.
//
// The span of an attempt begins when its worker asked for the task and ends when
// the handler has returned. A task without a trace begins a new one.
package weirotel
