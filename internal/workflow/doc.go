// Package workflow stores workflows and runs them on the engine.
//
// A definition (package definition) is stored under a name and a version, and never
// changes. A run of it is a job, pinned to the version it started with:
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
// A step whose params are known when the job is made is a plain task: the engine starts
// it in the transaction that ends its last need, without this package. All other steps
// stand at the gate plan once their needs have ended.
package workflow
