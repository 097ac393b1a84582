// Package weirflow runs workflows on Weir in its usual form: a server and, for steps that
// are processes, an agent, each in its own process; and an application with the SDK's
// worker, which is this process.
//
//	this process              its children
//	┌───────────────┐         ┌─────────────────────┐
//	│ Run, handlers │         │ weir server (leads) │
//	│ (SDK worker)  │         │ weir agent          │──► /bin/true
//	└──────┬────────┘         └──────────┬──────────┘
//	       └────────► PostgreSQL ◄───────┘
//
// The children are this very program: [Child] turns it into weir.
package weirflow
