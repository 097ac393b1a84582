// Package tending does what time alone brings about: tasks that are due, leases that
// ran out, gates that opened unheard, schedules. The coordinator of a server and the
// SDK do it with the same two loops, so a program that only uses the SDK needs no
// server.
//
//	                    ┌──────────── tend ─────────────┐   ┌────── schedules ──────┐
//	Every, Gates,       │ keys of a hint ──► open_gates │   │ read what is due soon │
//	Expect, next task ─►│ else, or if due ──► weir.tend │   │ Due ──► fire_schedules│◄─ 3 s, next run
//	                    │ sweep every 15 s, and for     │   │ one by one if refused │
//	                    │ hints that name no key        │   └───────────────────────┘
//	                    └───────────────────────────────┘
//
// # Contract
//
//   - Every statement goes through the [Term]: it is fenced by the term's epoch if there
//     is one, and READ COMMITTED, because gates open in no other isolation.
//   - Nothing breaks when two tend at once, or nobody for a while. weir.tend lets one
//     caller through, and weir.fire_schedules moves a schedule on only from the time that
//     was read. The term saves work; it guards nothing here.
//   - A pass is never further away than Every, and comes sooner for what is known to be
//     due: the next task that the last pass saw, or that [Tender.Expect] named.
//   - A time that a pass left in the past is not due again, because it waits for something
//     else, such as room in a pool: passes do not spin.
//   - A hint that is lost costs time, never a task: the sweep looks at every key.
//   - A schedule that cannot run is left alone for a minute, and the others run. Its policy
//     says what it missed.
//   - The database tells the workers what became available. Ready says it to those of this
//     process, which may hear nothing through a pooler.
//
// Who tends is decided by package coordinator. The lead of servers and that of clients
// are two locks: a client stops when a heartbeat says that a coordinator tends.
package tending
