// Package agent runs the tasks of a node: it claims, starts, watches and reports them.
//
//	        ┌────────── heartbeat, orders ◄──┐
//	claim ──┤                                ├── Transport (SQL or HTTPS)
//	        └─► attempt ──► driver ──► work  │
//	               │  ▲                │     │
//	               │  └── lines ◄──────┘     │
//	               └─► report (start, notes, log, end), renew, artifacts
//
// The contract:
//
//   - Work is dead before its lease can pass to another worker. The agent counts the
//     lease from before it sent its request, by a clock that includes the machine's
//     sleep, and kills the work with time to spare. Drivers with a leash do so even if
//     the agent is stopped.
//   - Work goes on without contact for as long as its run says (docs/decisions/0033). Its
//     lease is as much longer than the time in which the agent renews it.
//   - An end that could not be reported is kept and reported again, and its lease is
//     renewed meanwhile, so that finished work is not repeated because a server was slow
//     or away. After five lease lengths the task goes to another worker. A claim whose
//     answer was lost is repeated with the same id.
//   - One call reports what is new of all attempts: starts, notes and small pieces of logs
//     wait for each other for a moment, longer the more attempts the agent holds
//     (docs/decisions/0038). An end goes at once and takes along what waits, so that
//     nothing of an attempt arrives after its end.
//   - The output of work is never trusted: lines, results and events are bounded, made
//     valid and stripped of secrets before they leave the machine.
//   - An attempt leaves no process and no folder behind.
//   - What the node broke is not the work's fault: a missing driver, an engine that is
//     away, a full disk, a folder that is gone, no memory. Such an attempt is handed back
//     without spending anything, and the agent leaves the service to other nodes: until
//     the driver answers, or for a time that doubles with each fault.
//   - Devices are reported completely or not at all: see package device. When work on a
//     device fails, the agent looks for the device and reports the devices that are
//     present before it reports the failure, so that a lost hub is recognized as one and
//     costs no attempt.
//   - An agent that was killed continues with the work that it finds, or kills it. An agent
//     that detaches leaves its work running for the next process in the same way.
//
// The line protocol on stdout is "::progress 40", "::result {json}" and "::event warn
// message". Every other line is log. The exit code decides the outcome.
package agent
