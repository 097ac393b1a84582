// Package coordinator makes one of many processes the leader, and runs what only
// a leader may. Servers have one lead, clients of the SDK that tend the engine
// without a server another; see internal/tending.
//
// A lead is a row of weir.system_locks: holder, epoch, expires_at. It is a
// lease, not a session lock: a leader that is paused or cut off loses it by the
// database clock, and the next one gets epoch + 1.
//
//	        weir.lead                           renewed at a third of the ttl
//	candidate ─────────► leader (epoch 7) ──────────────────────────────┐
//	    ▲  null: wait       │                                           │
//	    │  until it ends    │ deadline, another epoch, or null          │
//	    │                   ▼                                           │
//	    └──── all loops have ended ◄───── the term's context is cancelled
//
// Two lines of defence keep a term's acts inside the term (R9):
//
//  1. The term's context ends at a deadline on this machine's monotonic clock:
//     the start of the last successful renewal + ttl − margin. The database
//     counted its ttl from a later instant, so our deadline comes first. It
//     holds as long as this process runs.
//  2. Every write begins with weir.fenced(epoch) in the same transaction. It
//     refuses an older epoch (WR410, [ErrTermOver]) and locks the row, so that
//     no other term can begin before the transaction ends. It holds whatever
//     happens to this process: paused, swapped out, cut off.
//
// A database user that may not lead can still do what any number of processes may do
// at once: [Config.Unled] lets the loops run in a term whose epoch is 0, without a
// fence.
//
// A leader that stops resigns, and tells the others on the channel
// [Channel]: one of them leads at once.
package coordinator
