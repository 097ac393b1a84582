//go:build unix && !linux

package pg

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"syscall"
)

// dieWithParent does nothing here: the server outlives a kill -9 of Weir and is adopted
// by the next one.
func dieWithParent(*syscall.SysProcAttr) {}

// alive reports whether pid is a process.
func alive(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}

// mayServe reports whether the process can be the postmaster of data. It returns false
// only if that is certain: a postmaster is called postgres.
func mayServe(pid int, _ string) bool {
	name, err := output(context.Background(), "ps", "-o", "comm=", "-p", strconv.Itoa(pid))
	return err != nil || strings.Contains(name, "postgres")
}
