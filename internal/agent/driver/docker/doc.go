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
// A container gets nothing that its step could use against the machine: no
// privileges, no capability, no way to gain one, no folder of the machine but
// parts of the attempt's own, no device, no port, no network unless the step
// asks for one that the operator allows, and limits of CPU, memory and
// processes always. What is created is decided in one pure function, see
// options.go.
//
// The name is made of task and attempt, so the engine itself refuses to start
// one attempt twice: the second start gets what runs. The driver watches each
// container from its start to its end, then removes it.
//
// A container dies when the lease of its task can pass to somebody else, even
// if the agent was killed: see warden.go.
//
// Every call of the engine has a deadline. An engine that restarts is waited
// for; when it stays away longer than the patience, Wait says that nobody knows
// how the work ended.
package docker
