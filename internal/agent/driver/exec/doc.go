// Package exec runs work as processes of this machine: a list of arguments, no
// shell.
//
//	agent ── pipe ──► keeper ── fork ──► work (a process group of its own)
//	  │                 │                  │
//	  │                 └── exit.json ◄────┤ its end
//	  └── reads ◄─── stdout, stderr ◄──────┘ files, not pipes
//
// The keeper is a second process of the same binary, one per life of the agent.
// It is the parent of the work, so that the work outlives an agent that is
// killed: a later agent finds process, output and exit code in the state folder
// of the attempt and goes on. It also keeps the leash: work whose lease was not
// renewed dies in time even while the agent itself is stopped or dead. And it is
// the reaper of what the work leaves behind: when the first process of an
// attempt ends, its group is killed, and so is what left the group, which is
// found by what its environment says of its attempt.
//
// Whoever uses this package calls [KeeperMain] first thing in main (or TestMain).
//
// The environment of the work is what it is given and PATH, HOME, LANG and TZ.
// Nothing else of the agent's own gets in.
package exec
