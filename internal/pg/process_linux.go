package pg

import (
	"bytes"
	"fmt"
	"os"
	"syscall"
)

// dieWithParent makes the kernel send a fast shutdown when Weir dies, even by
// kill -9.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGINT }

// alive reports whether pid is a process that still runs. A zombie does not, because it
// would stay for ever in a container whose init reaps no children.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	// The state follows the command's name, which is in brackets and may contain
	// anything, brackets included.
	_, after, _ := bytes.Cut(stat[bytes.LastIndexByte(stat, ')'):], []byte(" "))
	return len(after) > 0 && after[0] != 'Z' && after[0] != 'X'
}

// mayServe reports whether the process can be the postmaster of data. It returns false
// only if that is certain: a postmaster works in its data folder.
func mayServe(pid int, data string) bool {
	cwd, err := os.Stat(fmt.Sprintf("/proc/%d/cwd", pid))
	if err != nil {
		return true
	}
	want, err := os.Stat(data)
	return err != nil || os.SameFile(cwd, want)
}
