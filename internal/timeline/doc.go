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
// # Feed
//
// A [Feed] is pulled, so a slow reader holds up nobody and fills no buffer.
// Hints wake it; without them it looks at most every two seconds.
//
// # Export
//
// A partition whose range has ended, and to which no running transaction can
// still add, is handed to an [Exporter] and then noted with weir.mark_exported,
// which counts it once more. Only then may weir.drop_partitions drop it.
package timeline
