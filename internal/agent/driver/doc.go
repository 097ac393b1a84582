// Package driver is the interface between the agent and the ways to run work.
//
//	agent ──► Driver.Start ──► Running ──► Wait ──► Exit
//	             │                └──► Stop (grace, then kill)
//	             └──► Output: what the work prints
//
// The contract of a driver: one (task, attempt) runs once; Stop leaves nothing behind;
// everything that the driver starts carries its task, attempt and fence, by which alone a
// later process of the agent finds it. A driver does not handle leases, retries or limits
// of output, because the agent does.
package driver
