// Package timeline reads the events that the engine writes: live, for followers, and by
// partition, for archives that outlive the retention.
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
// A number alone is not enough: number 8 may commit before number 7, and a reader that
// has passed 8 would never look back. In this order nothing can appear before a cursor
// (R8): reading on from the last cursor returns every event once. The price is that one
// long transaction holds readers back; doctor names it.
//
// A row may describe a whole batch, one line per task. A cursor is xid.seq behind the
// row, or xid.seq+n behind its line n, so that a reader that breaks off in the middle of
// a batch continues there.
//
// # Feed and hub
//
// A [Feed] is one reader. It is pulled, so a slow reader delays no other and fills no
// buffer. Hints wake it; without them it polls at most every two seconds, and every
// quarter of a second while tasks run.
//
// A [Hub] reads once for all followers in this process, while there are any:
//
//	                     ┌──────── ring: the newest events ────────┐
//	database ── Feed ──► │ start                               end │
//	    │                └──▲──────────▲─────────────────────▲─────┘
//	    │                   │          │                     │
//	    └──► catches up ────┘     Follower, Follower, … each with a place
//
// A [Follower] is a place and a filter. If its place lies in the ring it reads there,
// else in the database until it does. Both have the same order, so the place alone joins
// them: no gap, no duplicate, and no queue per follower.
//
// # Export
//
// A partition whose range has ended, and to which no running transaction can still add,
// is handed to an [Exporter] and then recorded with weir.mark_exported, which counts it
// once more. Only then may weir.drop_partitions drop it.
//
// The exporter is an [Archive] in a bucket or a folder. It reads back what it has written
// before it reports success. [ReadExport] returns the rows again, and [Events] turns them
// into the events that a feed would have returned.
package timeline
