//go:build unix && !linux

package exec

import (
	"context"
	"syscall"
)

// cgroups do not exist on other systems.
type cgroups struct{}

func openCgroups() *cgroups { return &cgroups{} }

func (c *cgroups) isolation() string { return isolatedByGroup }

func (c *cgroups) make() (string, error) { return "", nil }

func into(*syscall.SysProcAttr, string) (done func(), err error) { return func() {}, nil }

func killCgroup(string) {}

func removeCgroup(context.Context, string) {}
