// Package node is about machines: what an agent may report and ask, over SQL or through
// the server.
//
//	agent ── Transport ──┬── Desk ──────────────────────────► weir.* functions, bucket, vault
//	                     └── HTTPS ──► httpapi ──► Desk ──►
//
// A [Desk] acts for one node. Every call that names a lease carries (task, attempt,
// token), and the desk also checks that the lease is held by a worker of its node: the
// holder of one machine's credential cannot touch the work of another machine. Calls are
// batched and can be repeated: a lost answer does no harm. The desks of a server share an
// [Ends]: ends that several nodes report at the same moment are written together.
//
// A node that reports devices is a PC: work of the service [Fleet] is claimed for it
// together with the device that it runs on.
//
// The agent, the server's routes and the drivers share the types of this package.
package node
