//go:build unix && !linux

package chaos

import "syscall"

// dieWithParent does nothing here: an agent that is not paused ends when its parent's end
// of the pipe is closed.
func dieWithParent(*syscall.SysProcAttr) {}
