// Package fleet runs jobs on devices that hang on PCs, on the engine.
//
// A PC is a node of the engine that reports devices. A fleet job wants units: one
// per device and round, or so many that any device may serve. A unit that is served
// has a task of the engine, made when a PC asks for work and never before:
//
//	Submit ──► waiting ──► ACTIVE (one; the oldest) ──► ended
//	             units are made here ─┘
//
//	PC ── report ──► which devices are there
//	 │
//	 └─── claim ───► under the PC's lock: min(slots, eligible) − running
//	                  1. health tasks that are due
//	                  2. retries of its devices
//	                  3. units of the ACTIVE job       unit ──► task, RUNNING at once
//	                                                             │
//	      done · failed attempt ──► retry (3) ──► FAILED_FINAL ◄─┘ lease, deadline 20 min
//	                                                  │
//	                 the same transaction, by a trigger at commit:
//	                 unit · health of the device · breaker of the job · next ACTIVE
//
// A device has two axes. Presence: online, missing for less than 30 s, offline.
// Health: good, unknown, suspect, quarantined, maintenance, retired. It is eligible
// when it is online and good, suspect, or unknown where no health task is defined.
//
// # Who does what
//
//   - [Store] is for everybody: jobs, devices, PCs, the policy, and why not.
//   - [Loops] are for the leader: what time alone brings about.
//   - Agents report and claim through package node.
//
// # Invariants
//
//   - At most one job is ACTIVE: a unique index. The next one becomes so in the
//     transaction that ends the last.
//   - A device runs one thing at a time: a unique index. A PC runs at most as many
//     devices as it has slots: they are counted under the lock of its row.
//   - A unit is where its task is, whichever way the lease ended. A job's total is
//     its units, so the engine ends it with the last of them.
//   - A device is never punished for what others broke: its PC, its hub, the
//     infrastructure, or a job that fails wherever it runs.
//   - An idle pass writes nothing.
//
// All SQL of the package is in store.go and in the functions weir.fleet_* and
// weir.device_*.
package fleet
