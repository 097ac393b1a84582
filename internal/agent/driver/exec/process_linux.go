package exec

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// adoptOrphans makes this process the parent of the orphans of its descendants.
func adoptOrphans() error { return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// dieWithParent makes a process die with the keeper, because without the keeper its exit
// would be unknown.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }

// reap waits for a child's end and kills its group before it returns the group's number
// to the kernel.
func reap(pid int) syscall.WaitStatus {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	_ = syscall.Kill(-pid, syscall.SIGKILL)
	return wait4(pid)
}

// punch returns the blocks at a file's beginning to the file system. The file keeps its
// length.
func punch(f *os.File, upTo int64) error {
	return unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, 0, upTo)
}

// bornAt returns when a process started, in the kernel's ticks, or 0 if there is no such
// process. A process that is dead and not yet reaped has no start time.
func bornAt(pid int) uint64 {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	// The name is in parentheses and may contain anything, including parentheses.
	i := bytes.LastIndexByte(stat, ')')
	if i < 0 {
		return 0
	}
	fields := strings.Fields(string(stat[i+1:])) // from the third field on
	if len(fields) < 20 || fields[0] == "Z" || fields[0] == "X" {
		return 0
	}
	born, err := strconv.ParseUint(fields[19], 10, 64)
	if err != nil {
		return 0
	}
	return born
}

// children returns the child processes of pid, including dead ones that are not reaped.
func children(pid int) []int {
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil || len(lists) == 0 {
		return childrenByScan(pid)
	}
	var found []int
	for _, list := range lists {
		text, err := os.ReadFile(list) // #nosec G304 -- of /proc
		if err != nil {
			continue // the thread is gone, and its children have another parent
		}
		for word := range strings.FieldsSeq(string(text)) {
			if child, err := strconv.Atoi(word); err == nil {
				found = append(found, child)
			}
		}
	}
	return found
}

// childrenByScan is for kernels without lists of children.
func childrenByScan(pid int) []int {
	var found []int
	for _, other := range processes() {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", other))
		if i := bytes.LastIndexByte(stat, ')'); err == nil && i > 0 {
			if fields := strings.Fields(string(stat[i+1:])); len(fields) > 1 && fields[1] == strconv.Itoa(pid) {
				found = append(found, other)
			}
		}
	}
	return found
}

// carried returns what the initial environment of a process says of its attempt.
func carried(pid int) (c cargo) {
	env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil || !bytes.Contains(env, []byte("WEIR_FENCE=")) {
		return c
	}
	for line := range bytes.SplitSeq(env, []byte{0}) {
		name, value, _ := strings.Cut(string(line), "=")
		switch name {
		case "WEIR_TASK_ID":
			c.task = value
		case "WEIR_ATTEMPT":
			c.attempt, _ = strconv.Atoi(value) // a value that is not a number is no attempt
		case "WEIR_FENCE":
			c.fence = value
		case "WEIR_OUT":
			c.out = value
		}
	}
	return c
}

// processes returns all processes of this machine.
func processes() []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var found []int
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			found = append(found, pid)
		}
	}
	return found
}
