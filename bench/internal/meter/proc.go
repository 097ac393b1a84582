package meter

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"time"
)

// clockTick is the unit of CPU times in /proc: USER_HZ, which is 100 on every
// Linux that Go supports.
const clockTick = 10 * time.Millisecond

// procStat is the part of /proc/<pid>/stat that we use.
type procStat struct {
	command string
	parent  int
	// self is user and system time of the process; reaped is that of its
	// children that have ended and were waited for.
	self, reaped time.Duration
}

func readStat(pid int) (procStat, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return procStat{}, err
	}
	return parseStat(string(text))
}

// parseStat reads one line of /proc/<pid>/stat. The command is in parentheses and may
// itself contain spaces and parentheses, so the fields are counted from the last closing
// one.
func parseStat(line string) (procStat, error) {
	open, end := strings.IndexByte(line, '('), strings.LastIndexByte(line, ')')
	if open < 0 || end < open {
		return procStat{}, fmt.Errorf("parse process stat %q: no command in brackets", line)
	}
	fields := strings.Fields(line[end+1:])
	// state ppid ... utime stime cutime cstime are fields 3, 4 and 14 to 17.
	if len(fields) < 15 {
		return procStat{}, fmt.Errorf("parse process stat %q: %d fields after the command, want 15", line, len(fields))
	}
	var numbers [5]int64
	for i, at := range []int{1, 11, 12, 13, 14} {
		n, err := strconv.ParseInt(fields[at], 10, 64)
		if err != nil {
			return procStat{}, fmt.Errorf("parse process stat %q: %w", line, err)
		}
		numbers[i] = n
	}
	return procStat{
		command: line[open+1 : end],
		parent:  int(numbers[0]),
		self:    time.Duration(numbers[1]+numbers[2]) * clockTick,
		reaped:  time.Duration(numbers[3]+numbers[4]) * clockTick,
	}, nil
}

// familyCPU adds up a process, its living children and the children it has reaped. A
// backend that ends between two readings moves from the second to the third part, so no
// time is lost.
func familyCPU(parent int) (time.Duration, error) {
	stat, err := readStat(parent)
	if err != nil {
		return 0, fmt.Errorf("read CPU time of process %d: %w", parent, err)
	}
	total := stat.self + stat.reaped
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0, fmt.Errorf("list processes: %w", err)
	}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		// A process that ended since the listing is in reaped, or will be at
		// the next reading.
		if child, err := readStat(pid); err == nil && child.parent == parent {
			total += child.self + child.reaped
		}
	}
	return total, nil
}

// ProcessCPU returns the CPU time of a process of this machine, with all its threads and the
// children that it has waited for.
func ProcessCPU(pid int) (time.Duration, error) {
	stat, err := readStat(pid)
	if err != nil {
		return 0, fmt.Errorf("read CPU time of process %d: %w", pid, err)
	}
	return stat.self + stat.reaped, nil
}

// ProcessMilliseconds returns how long a process of this machine has used the CPU, with
// the nanosecond precision of the scheduler, or NaN if that is not available.
func ProcessMilliseconds(pid int) float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/schedstat", pid))
	if err != nil {
		return math.NaN()
	}
	ran, _, _ := strings.Cut(string(text), " ")
	nanoseconds, err := strconv.ParseInt(ran, 10, 64)
	if err != nil {
		return math.NaN()
	}
	return float64(nanoseconds) / 1e6
}
