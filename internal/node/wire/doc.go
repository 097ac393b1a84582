// Package wire is what an agent and a server say to each other over HTTP, as
// JSON. Both ends use these types, so that they cannot drift apart; what they
// mean is told by package node.
//
//	agent ── POST /api/v1/agent/claim {"id": …, "services": …, "wait_ms": 20000} ──► server
//	      ◄──────────── {"items": [{"task": …, "attempt": 1, "token": …, …}]} ──────
//
// Spans of time are whole milliseconds and count from the moment of the answer:
// two machines never compare their clocks. Tokens stand in bodies and in the
// header [Fence], never in an address, which proxies write to their logs.
package wire
