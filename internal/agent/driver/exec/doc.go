// Package exec runs work as processes of this machine: a list of arguments, no shell.
//
//	agent ── pipe ──► keeper ── fork ──► work (a process group of its own)
//	  │                 │                  │
//	  │                 └── exit.json ◄────┤ its end
//	  └── reads ◄─── stdout, stderr ◄──────┘ files, not pipes
//
// The keeper is a second process of the same binary, one per process of the agent. It is
// the parent of the work, so that the work outlives an agent that is killed: a later
// agent finds process, output and exit code in the state folder of the attempt and
// continues. The keeper also enforces the leash: work whose lease was not renewed dies in
// time even while the agent itself is stopped or dead. And it cleans up after the work:
// when the first process of an attempt ends, the keeper kills its group and also the
// processes that left the group, which it finds by the attempt that their environment
// names.
//
// Everything that an attempt starts is held together by a cgroup of version 2 where the
// keeper can make one, and else by that mark alone. A guardian, a third process, holds a
// pipe to the keeper and knows the attempts: when the keeper is killed, the guardian kills
// all their processes, because the kernel ends only the first one with the keeper. The
// keeper replaces a guardian that dies.
//
// A program that uses this package calls [KeeperMain] first in main (or TestMain).
//
// The environment of the work contains what the work is given and PATH, HOME, LANG and
// TZ. No other variable of the agent gets into it.
package exec
