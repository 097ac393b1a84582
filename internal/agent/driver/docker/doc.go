// Package docker runs work in containers of the Docker engine on this machine.
//
//	Start ─► image there? ─► create ─► start ─► Running
//	           │ pull          │ name weir-<task>-<attempt>
//	           └─ lines to     │ labels weir.task, weir.attempt, weir.fence,
//	              the log      │        weir.node, weir.agent
//	                           ▼
//	        /weir/params.json, /weir/in, /weir/secrets   read only
//	        /weir/out                                    writable
//
// A container gets nothing that its step could use against the machine: no privileges, no
// capability, no way to gain one, no folder of the machine except parts of the attempt's
// own, no device, no port, no network unless the step asks for one that the operator
// allows, and always limits on CPU, memory and processes. One pure function decides all
// of this: see options.go.
//
// The name is made of task and attempt, so the engine itself refuses to start one attempt
// twice: the second start gets the running container. The driver watches each container
// from its start to its end, then removes it.
//
// A container dies before the lease of its task can pass to another worker, even if the
// agent was killed: see warden.go.
//
// Every call to the engine has a timeout. The driver waits for an engine that restarts;
// if the engine stays away longer than Config.Patience, Wait returns that the outcome of
// the work is unknown.
package docker
