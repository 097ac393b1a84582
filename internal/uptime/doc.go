// Package uptime counts time since the machine started, including sleep. Leases continue
// while a machine sleeps, so the holder of a lease must not use a clock that stops during
// sleep; and a clock that can be set could kill work without a reason.
package uptime
