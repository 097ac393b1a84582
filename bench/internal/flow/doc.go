// Package flow defines what a workflow engine must be able to do to be measured.
//
// A [Shape] is the form of the work: steps in a row, many steps at once, many jobs at
// once, many schedules at one instant. An [Engine] starts a [Runner] for it, including
// workers, and the runner does the same work repeatedly:
//
//	Start ─► Run (not counted) ─► Run ─► Run … ─► Stop
//
// A run must check that everything was done before it returns a [Result].
package flow
