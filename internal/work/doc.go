// Package work is the engine as people use it: the operations on tasks, jobs, pools,
// schedules, nodes and workers, artifacts and secrets, the timeline and the whole.
//
//	faces ── op.Caller ── work.Store ─┬─ view.Store   what is read
//	                                  ├─ weir.Client  one thing is changed
//	                                  └─ bulk.Doer    all that match a filter are
//
// The engine itself knows no operation and no right: a program with the SDK is its user
// as well.
//
// Invariants:
//
//   - An operation names a task, a job, a pool the way a person does; the store reads which
//     one is meant.
//   - Who asks goes with every change, as the timeline tells it.
//   - One at a time reads a definition (a pool, a schedule) and writes over it. Between two
//     servers the engine compares what was seen, if the caller names one version.
package work
