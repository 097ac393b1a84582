// Package workspaces measures workspaces on real parts.
//
//	House     weir up as a process, on the benchmark's PostgreSQL: a request that wakes
//	Gate      the proxy and a bare reverse proxy in one process, before one backend
//	Home      a home is archived, read back and brought back, in a process of its own
//	Pass      the controller looks at many workspaces, from a recording
//	Failover  two controllers as processes, and the one that leads is killed
//
// What has to be a process of its own is this program again, or weir, which is built.
package workspaces
