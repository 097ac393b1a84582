// Package wire is the JSON that an agent and a server exchange over HTTP. Both ends use
// these types, so that they cannot drift apart; package node documents their meaning.
//
//	agent ── POST /api/v1/agent/claim {"id": …, "services": …, "wait_ms": 20000} ──► server
//	      ◄──────────── {"items": [{"task": …, "attempt": 1, "token": …, …}]} ──────
//
// Durations are whole milliseconds and count from the moment of the answer, because two
// machines never compare their clocks. Tokens are in bodies and in the header [Fence],
// never in an address, because proxies log addresses.
package wire
