// Package wake wakes sleeping nodes before there is work for them.
//
//	job, schedule or task     weir.plan_wakes       magic packet            heartbeat
//	due within 5 minutes  ──▶ picks one node    ──▶ HTTP call           ──▶ of the node:
//	that no node awake does   that could (waking)   script of the folder    awake
//	                                 ▲                     │ error, or not seen in time
//	                                 └── 30 s, 1 m, 2 m … ◀┘ (wake_failed)
//
// The database decides which node is woken when, where [weir.why] reads it too; this
// package acts. Each step is an event of the node.
//
// A row of the database says how to wake a node, and a user who may write that row must
// gain nothing else by it. So a script is a name in a folder of the operator, run with
// arguments and never by a shell; an address must begin with a prefix that the operator
// allowed, its redirects are not followed, and its name must not lead to a guarded
// address; a magic packet goes to a local network on the usual ports. All of this is
// checked again before each try, because the row may have been written by hand.
package wake
