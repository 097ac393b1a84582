// Package streams measures how long a change takes to reach its watchers: many
// Server-Sent Events streams over real HTTP, while the real engine works.
//
//	this process                          its child
//	┌──────────────────────┐   loopback   ┌──────────────────────┐
//	│ watchers ◄───────────┼──────────────┼─ stream.Handler, Hub │
//	│ submit, worker ──────┼─► PostgreSQL ┼────────►             │
//	└──────────────────────┘              └──────────────────────┘
//
// The server is a separate process, so that its memory is known. Latency is measured from
// the time of the event in the database to the read of the client, by the one clock of
// the machine. Watchers are cut off at random and continue with Last-Event-ID; at the end
// each must have seen every event of the database exactly once.
package streams
