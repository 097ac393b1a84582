// Package relay carries many connections over one pipe: the way into a workspace that has
// no network.
//
//	proxy ── Dial ──▶ Session ══ pipe ══▶ Serve ──▶ 127.0.0.1:port
//
// The pipe is the input and the output of a process within the workspace, so it leads to
// no other place. What comes back on it is the word of the workspace, which nobody trusts:
// it cannot open connections itself, and what it has sent and nobody has read is bounded.
package relay
