// Package metrics answers /metrics for Prometheus.
//
//	scrape ──► Handler ──► registry ─┬─ database: readings, each at most once per its interval
//	                                 ├─ process: loops, lead, connections, HTTP, streams
//	                                 └─ Go runtime
//
// There are two scopes. Metrics that are read from the database are the same on every
// server: take the max over servers, not the sum. Metrics of the process add up.
//
// However many scrapes arrive, a reading is made once per interval and by one of them;
// the others get its answer. A reading has a timeout. If it fails, the scrape still
// works: weir_database_up is 0, metrics that could not be read are left out, and counters
// keep their value.
//
// Every metric is declared once, in the tables of database.go, fleet.go, process.go,
// http.go and stream.go; docs/monitoring.md is generated from them. No label takes values
// that users can create without bound.
package metrics
