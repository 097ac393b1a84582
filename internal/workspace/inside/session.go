package inside

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// signalSession sends a signal to everything that a shell has started on its terminal, in
// whatever group it is. What has made a session of its own is not meant.
func signalSession(leader int, signal syscall.Signal) {
	all, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return
	}
	for _, path := range all {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		if fields := statOf(text); len(fields) < 4 || fields[3] != strconv.Itoa(leader) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil {
			_ = syscall.Kill(pid, signal) // it may have ended
		}
	}
}

// statOf are the fields behind the name of a process: state, parent, group, session …
// The name itself may hold spaces and parentheses: 1234 (a ) b) S 1 …
func statOf(text []byte) []string {
	return strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
}

// ended says that a process of ours has ended, whether it was reaped or not.
func ended(pid int) bool {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat") // #nosec G304 G703 -- the path is a number
	if err != nil {
		return true
	}
	fields := statOf(text)
	return len(fields) > 0 && (fields[0] == "Z" || fields[0] == "X")
}
