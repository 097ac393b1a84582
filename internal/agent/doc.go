// Package agent runs the tasks of a node: it claims, starts, watches, reports.
//
//	        ┌────────── heartbeat, orders ◄──┐
//	claim ──┤                                ├── Transport (SQL or HTTPS)
//	        └─► attempt ──► driver ──► work  │
//	               │  ▲                │     │
//	               │  └── lines ◄──────┘     │
//	               └─► start, renew, notes, log, artifacts, end
//
// The contract:
//
//   - Work is dead before its lease can pass to somebody else. The agent counts
//     from before it asked, by a clock that counts the machine's sleep too, and
//     kills with time to spare. Drivers with a leash do so even for an agent that
//     is stopped.
//   - An end that could not be told is kept and told again, and its lease renewed
//     for so long: what is done is not done again because a server was slow or away.
//     After five lengths of the lease the task goes to somebody else. A claim whose
//     answer was lost is asked for again by its id.
//   - What the work prints is never trusted: lines, results and events are
//     bounded, made valid and freed of secrets before they leave the machine.
//   - An attempt leaves nothing behind: no process, no folder.
//   - Devices are reported whole, or not at all: see package device. When work on a
//     device fails the agent looks for it, and reports what is there, before it
//     says so: a lost hub is seen as one, and costs no attempt.
//   - An agent that was killed goes on with what it finds, or kills it.
//
// The line protocol on stdout: "::progress 40", "::result {json}" and
// "::event warn message". Everything else is log. The exit code decides.
package agent
