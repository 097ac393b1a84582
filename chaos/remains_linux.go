package chaos

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Remains returns the processes that a machine with a folder below root started and that
// still run: all, or only work (which carries a fence). They are recognized by their
// environment, which has the machine's folder in its PATH.
func Remains(root string, work bool) ([]string, error) {
	var left []string
	err := started(root, func(pid int, env []byte, line string) {
		if !work || bytes.Contains(env, []byte("WEIR_FENCE=")) {
			left = append(left, fmt.Sprintf("%d %.80q", pid, line))
		}
	})
	return left, err
}

// Keepers returns the keeper processes of a machine.
func Keepers(dir string) ([]int, error) {
	var keepers []int
	err := started(dir, func(pid int, _ []byte, line string) {
		if strings.HasPrefix(line, "weir-keeper") {
			keepers = append(keepers, pid)
		}
	})
	return keepers, err
}

// started visits the processes with a folder in their environment, with their
// command line.
func started(folder string, visit func(pid int, env []byte, line string)) error {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return fmt.Errorf("look for processes: %w", err)
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		env, err := os.ReadFile("/proc/" + e.Name() + "/environ")
		if err != nil || !bytes.Contains(env, []byte(folder)) {
			continue // the process is gone or belongs to another user; a zombie has no environment
		}
		line, err := os.ReadFile("/proc/" + e.Name() + "/cmdline")
		if err == nil {
			visit(pid, env, string(bytes.ReplaceAll(line, []byte{0}, []byte{' '})))
		}
	}
	return nil
}
