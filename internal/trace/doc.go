// Package trace sends what the server does to an OpenTelemetry collector, and
// joins log lines to it. Without a collector it costs nothing: no exporter, no
// spans, no wrapper around the database.
//
//	request with traceparent ──► HTTP ──► span "POST /api/v1/tasks"
//	                                       ├─ weir.submit_many      Database
//	                                       └─ Parent ──► the task's trace ──► spans of its attempts
//	log line in that context ──► Log ──► trace_id, span_id, request_id
//
// A traceparent that comes with a request goes on to the tasks it submits also
// when the server itself is not traced: Weir is never the hole in a trace.
//
// Spans hold no secrets: no query strings, no paths (routes instead), no
// arguments of statements. What runs in the background has no spans: a database
// span exists only below another one.
package trace
