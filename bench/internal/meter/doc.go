// Package meter measures what a round costs, from outside the system under test: bytes of
// WAL, CPU time of Postgres and of this process, calls counted by pg_stat_statements and
// rows written by pg_stat_user_tables.
//
// A meter is read before and after; the difference is the cost. Every reading is
// cluster-wide, so only one system may run at a time.
package meter
