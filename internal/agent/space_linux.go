package agent

import (
	"math"
	"os"

	"golang.org/x/sys/unix"
)

// space returns how many bytes the agent can still write below a folder. No bytes are left
// if no more files can be made.
func space(dir string) (left uint64, ok bool) {
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) != nil || s.Bsize <= 0 || s.Blocks == 0 {
		return math.MaxUint64, false
	}
	if s.Files > 0 && s.Ffree == 0 {
		return 0, true
	}
	blocks := s.Bavail
	if os.Geteuid() == 0 {
		blocks = s.Bfree // the kernel keeps some for root
	}
	return blocks * uint64(s.Bsize), true // #nosec G115 -- it is positive
}
