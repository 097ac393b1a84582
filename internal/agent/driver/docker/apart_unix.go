//go:build unix

package docker

import (
	"os/exec"
	"syscall"
)

// apart keeps the signals of the agent's terminal from the warden.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
