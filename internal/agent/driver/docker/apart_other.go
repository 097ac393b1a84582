//go:build !unix

package docker

import "os/exec"

// apart does nothing on systems whose terminals send no signals.
func apart(*exec.Cmd) {}
