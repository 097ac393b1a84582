// Package loop is the only owner of a clock. Everything that happens again and
// again is a [Tick]; this package says when.
//
//	           ┌────────────── Every, Next, Wake ──────────────┐
//	           ▼                                               │
//	wait ──► tick ── more ──► tick … at most burst in a row ── rest
//	           │
//	           └─ error or panic ──► back off, deaf to Wake ──► tick
//
// The contract of a Tick: it does a bounded piece of work, reads its state
// afresh, and obeys its context. It may be called at any time, sooner than it
// asked for and twice in a row: being called means "look", never "this
// happened". An error spoils that tick alone; other loops go on.
//
// Times are those of this machine and only say when to look. What is due is
// decided by the database clock.
package loop
