//go:build unix

package docker

import (
	"os/exec"
	"syscall"
)

// apart protects the warden from the signals of the agent's terminal.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
