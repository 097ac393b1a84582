// Package rollout brings changes to databases, in stages, on the engine.
//
// A plan names stages of databases, and the changes that all of them get. It is
// frozen and hashed when it is created. A rollout is a job of the engine; each
// (stage, database, change) is a task of it, and a run is an attempt of that task:
//
//	Create ──► job: task per stage × database × change, each with a hold
//	              │
//	Start ────────┤   weir._rollout_hold_changes says for every waiting task what it still
//	Approve ──────┤   waits for; weir._rollout_settle applies the difference:
//	Promote ──────┼──►  start → earlier stage → approval → promotion → canary
//	Pause ────────┤      → a decision about a failure → resume → nothing
//	a task ended ─┘
//	              ▼ no hold            lane database/NAME (order of versions,
//	          PENDING ──────────────►  one at a time), pool rollout/ID (parallel)
//	                                       │
//	          AVAILABLE ◄──────────────────┘
//	              │ executor: a worker of service rollout, on every server
//	              ▼
//	          RUNNING ── claimed → locked → sent → applied, each written down before the act
//	              │
//	   DONE · FAILED · CANCELED · UNKNOWN (it may have been applied: resolver, or a person)
//
// # Who does what
//
//   - [Store] is for everybody: databases, preview, create, commands, reads.
//   - [Handle] makes a worker of the SDK an executor. It checks the plan, the
//     approvals, the database and the text of the change again before it connects.
//   - [Loops] are for the leader: the resolver of UNKNOWN runs, and a floor under the
//     settling that the engine's own transactions do.
//
// # Invariants
//
//   - What a person must still do is a hold, and one function decides it.
//   - Holds follow in the transaction in which a task ends, before the keys that it
//     frees are opened: after a failure nothing of a stopped stage starts.
//   - Nothing that may have run is run again by itself.
//   - A command is carried out, says that there was nothing to do, or is refused
//     with a reason. It is never ignored.
//   - The address of a database is a secret: it is in no row, event, error or log.
//
// All SQL of the package is in store.go and in the functions weir.rollout_*.
package rollout
