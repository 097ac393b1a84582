// Package node is about machines: what an agent may say and ask, over SQL or
// through the server.
//
//	agent ── Transport ──┬── Desk ──────────────────────────► weir.* functions, bucket, vault
//	                     └── HTTPS ──► httpapi ──► Desk ──►
//
// A [Desk] speaks for one node. Every call that names a lease carries (task,
// attempt, token), and the desk makes sure besides that the lease is held by a
// worker of its node: whoever has the credential of one machine cannot touch
// what another one does. Calls are batched and can be repeated: an answer that
// was lost does no harm. The desks of a server share an [Ends]: what several nodes
// end at one moment is written together.
//
// A node that reports devices is a PC: work of the service [Fleet] is claimed for
// it together with the device that it runs on.
//
// The types here are what the agent, the server's routes and the drivers share.
package node
