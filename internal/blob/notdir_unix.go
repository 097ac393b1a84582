//go:build unix

package blob

import (
	"errors"
	"syscall"
)

// isNotDir reports whether a path leads through something that is no folder.
func isNotDir(err error) bool { return errors.Is(err, syscall.ENOTDIR) }
