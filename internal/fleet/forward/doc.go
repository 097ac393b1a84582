// Package forward carries TCP connections from a user's machine to a port of a device,
// through the server and the agent of the device's PC.
//
//	user's port ══ tunnel ══▶ server ◀══ tunnel ══ agent ──▶ the port that the PC's operator allows
//
// Both tunnels are opened from outside to the server, so the PC listens to nothing. Within them
// the user's machine and the agent speak package relay, which carries many connections over one
// pipe; the server only copies bytes. So one slow connection stops no other, and a sender
// waits when its receiver does not read.
//
// A forward is a row while it is open (weir.forwards). The server that the user called carries
// it: it asks the database every few seconds whether the forward may go on, and the door
// whether the user still may. An agent asks any server for the forwards of its PC. If it opens
// its tunnel at a server that does not carry the forward, that one passes the request on to
// the address in the row; without an address the agent tries again, until it meets the right
// server. See docs/decisions/0036-forwards.md.
package forward
