// Package workspaces measures workspaces on real parts.
//
//	House     weir up as a process, on the benchmark's PostgreSQL: a request that wakes
//	Gate      the proxy and a bare reverse proxy in one process, before one backend
//	Home      a home is archived, read back and restored, in a separate process
//	Pass      the controller looks at many workspaces, from a recording
//	Failover  two controllers as processes, and the one that leads is killed
//
// A part that must be a separate process is this program again, or weir, which is built.
package workspaces
