// Package workflow keeps workflows and runs them on the engine.
//
// A definition (package definition) is stored under a name and a version, and
// never changes. A run of it is a job, pinned to the version it started with:
//
//	Run ── due now, nothing to wait for ──► weir.workflow_run ─────────────┐
//	 │                                                                     ▼
//	 └─ due later, max_running, rerun ─► queued job ── builder ──────► live job
//	     schedule, backfill, child ─────►     ▲        (in order)          │
//	                                     note: why not                     │ a step whose form depends
//	                                                                       ▼ on what its needs gave
//	                                                    ┌──────── gate plan ◄──────────┐
//	                                                    │ planner                      │
//	             params, labels, run ◄──────────────────┤                              │
//	             done, failed, skipped ◄────────────────┤                              │
//	             map: its items, then again ────────────┼─► items have ended ──────────┤
//	             workflow: a child job, then again ─────┴─► job has ended ─────────────┘
//
// A step whose params are known when the job is made is a plain task: the engine
// starts it in the transaction that ends its last need, and nobody here takes
// part. All others stand at the gate plan once their needs have ended.
//
// # Who does what
//
//   - [Store] is for everybody: put, run, rerun, backfill, plan, delete. It keeps parsed
//     definitions; that the newest version it knows is still the newest, the
//     statement that submits the job checks.
//   - [Loops] are for the leader: one loop that builds due jobs, plans steps, and
//     keeps the patience of tasks that nobody takes. NOTIFY wakes it; it looks once
//     a second besides.
//
// # Invariants
//
//   - Every write of the leader is one statement under the fence of its term.
//   - The SQL functions check again what the leader saw: two of them at once, or
//     one that is late, change nothing.
//   - One bad job, step or definition fails alone, with a cause that a person can
//     read.
//   - A job of a schedule that forbids overlaps is built when no other of it lives;
//     a job of a workflow with max_running when there is room, in global order.
//   - The limit of a map is a pool of its own, map: and the step's task. Items are
//     in it, and so are the jobs of items that are workflows: the builder counts
//     them. It goes with the map, and comes back with a retry.
//   - A deleted workflow is read by the jobs that ran it, and by nobody else.
//
// All SQL of the package is in store.go and in the functions weir.workflow_*.
package workflow
