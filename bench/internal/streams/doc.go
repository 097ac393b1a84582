// Package streams measures how long a change takes to reach those who watch:
// many Server-Sent Events streams over real HTTP, while the real engine works.
//
//	this process                          its child
//	┌──────────────────────┐   loopback   ┌──────────────────────┐
//	│ watchers ◄───────────┼──────────────┼─ stream.Handler, Hub │
//	│ submit, worker ──────┼─► PostgreSQL ┼────────►             │
//	└──────────────────────┘              └──────────────────────┘
//
// The server is a process of its own, so that its memory is known. Latency runs
// from the time of the event in the database to the read of the client, by the
// one clock of the machine. Watchers are cut off at random and go on by
// Last-Event-ID; at the end each must have seen every event of the database
// exactly once.
package streams
