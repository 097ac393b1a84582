// Package floor is the bare SQL of the moves that a task makes, driven by pgx: insert,
// claim a batch, finish a batch. It has the tables of the design in their smallest form
// (task, available, running with a token, finished, three events for each task) and
// nothing above them: no functions, no gates, no SDK, no renewals.
//
// It shows how fast the moves can be on this machine, so that the difference to Weir is
// the cost of Weir's own layers.
package floor
