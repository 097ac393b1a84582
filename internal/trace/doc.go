// Package trace sends spans of the server's work to an OpenTelemetry collector, and joins
// log lines to them. Without a collector it costs nothing: no exporter, no spans, no
// wrapper around the database.
//
//	request with traceparent ──► HTTP ──► span "POST /api/v1/tasks"
//	                                       ├─ weir.submit_many      Database
//	                                       └─ Parent ──► the task's trace ──► spans of its attempts
//	log line in that context ──► Log ──► trace_id, span_id, request_id
//
// The traceparent of a request is passed on to the tasks that it submits even if the
// server itself is not traced, so that Weir never interrupts a trace.
//
// Spans contain no secrets: no query strings, no paths (routes instead), no arguments of
// statements. Background work has no spans: a database span exists only below another
// one.
package trace
