// Package timeline reads the events that the engine writes: live, for whoever
// follows them, and whole, for whoever keeps them after the retention.
//
// # Order
//
// Events are read in the order (transaction, number), and only up to the oldest
// transaction that still runs:
//
//	xid     101   102   103   104   105
//	        done  done  runs  done  runs
//	       ◄─── readable ──┤  104 waits for 103
//
// A number alone would not do: number 8 may commit before number 7, and a reader
// that has passed 8 would never look back. In this order nothing can appear
// before a cursor (R8): going on from the last cursor gives every event once.
// The price is that one long transaction holds readers back; doctor names it.
//
// A row may tell of a whole batch, one line per task. A cursor is xid.seq behind
// the row, or xid.seq+n behind its line n: who breaks off in the middle goes on
// there.
//
// # Feed and hub
//
// A [Feed] is one reader, pulled, so a slow one holds up nobody and fills no
// buffer. Hints wake it; without them it looks at most every two seconds, and
// every quarter of one while tasks run.
//
// A [Hub] reads once for all who follow in this process, while somebody does:
//
//	                     ┌──────── ring: the newest events ────────┐
//	database ── Feed ──► │ start                               end │
//	    │                └──▲──────────▲─────────────────────▲─────┘
//	    │                   │          │                     │
//	    └──► catches up ────┘     Follower, Follower, … each with a place
//
// A [Follower] is a place and a filter. If its place lies in the ring it reads
// there, else in the database until it does. Both are in the same order, so the
// place alone makes the seam: no gap, no duplicate, and no queue per follower.
//
// # Export
//
// A partition whose range has ended, and to which no running transaction can
// still add, is handed to an [Exporter] and then noted with weir.mark_exported,
// which counts it once more. Only then may weir.drop_partitions drop it.
//
// The exporter is an [Archive] in a bucket or a folder. It reads back what it has
// written before it says that it is safe. [ReadExport] gives the rows again, and
// [Events] makes the events of them that a feed would have given.
package timeline
