// Package engine is the part of the engine that needs somebody to call it: the
// passage of time, schedules, partitions. The engine itself is SQL
// (schema/functions); Go calls it and adds no rule.
//
// # States
//
// A state is a table, a transition moves a row (weir.transition has them all):
//
//	submit ──► pending ──opened──► available ──claimed──► running ──► done
//	   │          ▲                 ▲    ▲                 │ │ │
//	   └──────────┼── no gate ──────┘    └─expired,returned┘ │ └────► failed
//	              └───────────retrying, snoozed──────────────┘
//
//	pending, available, running ──► canceled        pending, available, failed ──► skipped
//	failed, canceled, skipped ──retried──► pending      done too, of rule finally
//	pending, available ──► done, failed (weir.decide: somebody knows how it ends)
//
// # Gates
//
// A pending task stands at exactly one gate and steps to the next when it opens:
//
//	needs ──► plan ──► time ──► hold ──► lane (order, exclusion) ──► pool (count, rate) ──► available
//	  │         │        │        │              │                        │
//	finish   plan_task  tend   release     finish, tend,            finish, tend,
//	of a need                              weir_gates               weir_gates
//
// Under each gate stands what opens it. The hint weir_gates names keys that may
// have room; the sweep looks at all of them, so a lost hint costs time, never a
// task. The same holds for [PlanChannel].
//
// # Jobs that grow
//
// The form of some tasks is known only when their needs have ended. Such a task
// is submitted with plan and comes to stand at that gate; whoever plans (the
// leader, for workflows) reads what its needs gave and calls one of
//
//	plan_task             its final params: it goes on to the next gate
//	decide                it ends as done, failed or skipped and never runs
//	add_tasks, wait_for   it was split: new tasks join the job, and once they
//	                      have ended it stands at the gate plan again
//
// A job may be queued before its tasks are known: open_job gives it its place in
// the order, add_tasks builds it, close_job ends it unbuilt. All of them take the
// lock of the job, as the end of each of its tasks does, so that a need that ends
// at that moment is either seen as ended or finds the new edge. All of them may be
// called twice and by two planners.
//
// # Invariants
//
//   - A task is in exactly one of pending, available, running, finished.
//   - At most one lease per task; what a stale token writes is refused.
//   - Limits of lanes and pools hold at every instant of the committed history.
//   - A transition and its event commit together.
//   - A schedule submits each of its runs once, whoever fires it.
//
// weir.doctor() checks them. The loops here keep none of them up: each may be
// late, run twice or on two servers, and nothing breaks. They carry the epoch of
// the leader all the same, so that one server acts at a time.
//
// # Loops
//
//	tend        package tending
//	schedules   package tending
//	partitions  1 h: made ahead, dropped after the retention
//	tally       5 s, 15 s when nothing happens: what each minute brought, for charts
//	analyze     5 min, if an hour has passed or the tables have doubled
//
// Lists and details for faces are in package view; the tests of the SQL are in
// package enginetest.
package engine
