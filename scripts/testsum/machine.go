package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of /proc/stat on every Linux.
const tick = 10 * time.Millisecond

// work is what the cores of this machine have done since it started: all that ran
// on it, and what the host of a virtual machine kept for others.
type work struct{ ran, stolen time.Duration }

// worked reads the work so far; ok is false where the system does not tell.
func worked() (w work, ok bool) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return work{}, false
	}
	return parseWork(string(text))
}

// parseWork reads the first line of /proc/stat, whose columns are user, nice,
// system, idle, iowait, irq, softirq and steal; see man 5 proc_stat.
func parseWork(text string) (w work, ok bool) {
	line, _, _ := strings.Cut(text, "\n")
	fields := strings.Fields(line)
	if len(fields) < 9 || fields[0] != "cpu" {
		return work{}, false
	}
	for i, field := range fields[1:9] {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return work{}, false
		}
		switch i {
		case 3, 4: // idle
		case 7:
			w.stolen += time.Duration(n) * tick
		default:
			w.ran += time.Duration(n) * tick
		}
	}
	return w, true
}

// since says what this machine did from before to w, in a time of wall on so many
// cores.
func (w work) since(before work, wall time.Duration, cores int) string {
	ran, stolen := w.ran-before.ran, w.stolen-before.stolen
	text := fmt.Sprintf("the %d cores worked %.1f minutes", cores, ran.Minutes())
	if share := float64(stolen) / float64(wall) / float64(cores); share >= 0.01 {
		text += fmt.Sprintf(", and the host kept %.0f %% of them for others", 100*share)
	}
	return text
}
