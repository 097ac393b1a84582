// Package server gives the benchmark one PostgreSQL: a private one that it starts and
// removes, or the configured one. Every system under test gets its own database on it, so
// all share one set of settings, one WAL and one disk.
package server
