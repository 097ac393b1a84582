// Package driver is the seam between the agent and the ways to run work.
//
//	agent ──► Driver.Start ──► Running ──► Wait ──► Exit
//	             │                └──► Stop (grace, then kill)
//	             └──► Output: what the work prints
//
// The contract of a driver: one (task, attempt) runs once; Stop leaves nothing
// behind; whatever it starts carries its task, attempt and fence, so that a later
// life of the agent finds it by those and by nothing else. A driver knows no
// leases, retries or limits of output: those are the agent's.
package driver
