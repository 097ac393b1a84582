// Package weirflow runs workflows on Weir as it is used: a server and, for steps
// that are processes, an agent, each a process of its own; and an application
// with the SDK's worker, which is this process.
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
