// Package metrics answers /metrics for Prometheus.
//
//	scrape ──► Handler ──► registry ─┬─ database: readings, each at most once per its interval
//	                                 ├─ process: loops, lead, connections, HTTP, streams
//	                                 └─ Go runtime
//
// There are two scopes. What is read from the database is the same on every
// server: take the max over servers, not the sum. What belongs to the process
// adds up.
//
// However many scrapes come, a reading is made once per interval and by one of
// them; the others get its answer. A reading has a bounded time. If it fails,
// the scrape still works: weir_database_up is 0, what could not be read is left
// out, counters keep their value.
//
// Every metric is declared once, in the tables of database.go, fleet.go, process.go,
// http.go and stream.go; docs/monitoring.md is generated from them. No label
// takes values that users can make without bound.
package metrics
