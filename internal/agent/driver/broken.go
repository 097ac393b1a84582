package driver

import (
	"errors"
	"syscall"

	"github.com/weirhq/weir/internal/node"
)

// Broken is an error of the node and not of the work: another node may do the work, and
// no attempt is spent. Fault is [node.NoDriver] or another of those constants.
type Broken struct {
	Fault string
	Err   error
}

// Error names a full disk, because the error of the system may not. Where the fault itself
// is said, Err alone is the message.
func (b *Broken) Error() string {
	if b.Fault == node.DiskFull {
		return "disk full: " + b.Err.Error()
	}
	return b.Err.Error()
}

func (b *Broken) Unwrap() error { return b.Err }

// BrokenBy returns what is broken on the node if that caused an error, or nil. A full
// disk is recognized wherever it shows, because no driver and no work can do anything
// about it.
func BrokenBy(err error) *Broken {
	var b *Broken
	switch {
	case errors.As(err, &b):
		return b
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return &Broken{node.DiskFull, err}
	}
	return nil
}
