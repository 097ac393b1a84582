// Package work is the engine as people use it: the operations on tasks, jobs, pools,
// schedules, nodes and workers, artifacts and secrets, the timeline, search and health.
//
//	faces ── op.Caller ── work.Store ─┬─ view.Store   reads
//	                                  ├─ weir.Client  changes one object
//	                                  └─ bulk.Doer    changes all that match a filter
//
// The engine itself knows no operation and no right, because programs with the SDK use it
// as well.
//
// Invariants:
//
//   - An operation names a task, a job or a pool the way a person does; the store finds
//     which one is meant.
//   - Every change carries its author, for the timeline.
//   - Within a server, one caller at a time reads a definition (a pool, a schedule) and
//     replaces it. Between two servers the engine compares the version that was seen, if
//     the caller names one.
package work
