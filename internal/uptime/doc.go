// Package uptime counts time since the machine started, sleep included. Leases
// go on while a machine sleeps, so whoever keeps one must not use a clock that
// sleeps too; and one that somebody may set would kill work for nothing.
package uptime
