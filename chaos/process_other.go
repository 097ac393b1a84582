//go:build unix && !linux

package chaos

import "syscall"

// dieWithParent is left to the pipe here: an agent that is not paused ends when
// its parent's end is closed.
func dieWithParent(*syscall.SysProcAttr) {}
