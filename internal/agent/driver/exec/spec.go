package exec

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/weirhq/weir/internal/agent/driver"
)

// The files of an attempt's state folder.
const (
	stateFile  = "exec.json"
	exitFile   = "exit.json"
	leashFile  = "leash"
	stdoutFile = "stdout"
	stderrFile = "stderr"
)

// spec is what the keeper should start.
type spec struct {
	ID      uint64   `json:"id"`
	State   string   `json:"state"`
	Task    string   `json:"task"`
	Attempt int      `json:"attempt"`
	Fence   string   `json:"fence"`
	Path    string   `json:"path"`
	Argv    []string `json:"argv"`
	Env     []string `json:"env"`
	Dir     string   `json:"dir"`
	// As is the user to run as; nil means the agent's own.
	As *account `json:"as,omitempty"`
}

// account is a user of this machine.
type account struct {
	UID    uint32   `json:"uid"`
	GID    uint32   `json:"gid"`
	Groups []uint32 `json:"groups,omitempty"`
	Home   string   `json:"-"`
	Name   string   `json:"-"`
}

// answer is a message of the keeper: that it is ready (ID 0), that work started (PID or
// Error), or that work ended (Exit).
type answer struct {
	ID   uint64 `json:"id"`
	PID  int    `json:"pid,omitempty"`
	Born uint64 `json:"born,omitempty"`
	// Isolation is how processes of an attempt are held together, with ID 0.
	Isolation string `json:"isolation,omitempty"`
	Error     string `json:"error,omitempty"`
	// Fault is what is broken on the node, if the work could not start for that.
	Fault string  `json:"fault,omitempty"`
	Exit  *ending `json:"exit,omitempty"`
}

// state is what a later agent needs to find the work again.
type state struct {
	Task    string `json:"task"`
	Attempt int    `json:"attempt"`
	Fence   string `json:"fence"`
	PID     int    `json:"pid"`
	// Born is when the process started, in the kernel's ticks: together with the pid it
	// identifies one process uniquely.
	Born   uint64 `json:"born"`
	Keeper int    `json:"keeper"`
	// Group is the folder of the attempt's cgroup, if it has one.
	Group string `json:"group,omitempty"`
}

// The ways to hold the processes of an attempt together, for people.
const (
	isolatedByCgroup = "cgroup v2: all processes of an attempt end together"
	isolatedByMark   = "process group and environment: a process that leaves its group and clears its environment is not found"
	isolatedByGroup  = "process group: a process that leaves its group is not found"
)

// cargo is what a process carries of its attempt in its environment.
type cargo struct {
	task, fence, out string
	attempt          int
}

// mark returns the mark, or "" for a process that belongs to no attempt.
func (c cargo) mark() string {
	if c.fence == "" {
		return ""
	}
	return driver.Mark(c.task, c.attempt, c.fence)
}

func (s state) mark() string { return driver.Mark(s.Task, s.Attempt, s.Fence) }

// ending is how the first process ended.
type ending struct {
	Code   int    `json:"code"`
	Signal string `json:"signal,omitempty"`
	// Cut is set if the leash ended the work.
	Cut bool `json:"cut,omitempty"`
}

// writeJSON replaces a file atomically.
func writeJSON(path string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	draft := path + ".new"
	if err := os.WriteFile(draft, text, 0o600); err != nil {
		return err
	}
	return os.Rename(draft, path)
}

func readJSON(path string, v any) error {
	text, err := os.ReadFile(path) // #nosec G304 -- a file of our own folder
	if err != nil {
		return err
	}
	return json.Unmarshal(text, v)
}

// writeLeash records the uptime at which the work must be dead. It always writes the same
// number of digits, in one write, so that a reader sees the old time or the new one.
func writeLeash(folder string, until time.Duration) error {
	f, err := os.OpenFile(filepath.Join(folder, leashFile), os.O_WRONLY|os.O_CREATE, 0o600) // #nosec G304 -- a file of our own folder
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "%020d", int64(until))
	if end := f.Close(); err == nil {
		err = end
	}
	return err
}

// readLeash returns that time, or zero if there is none.
func readLeash(folder string) time.Duration {
	text, err := os.ReadFile(filepath.Join(folder, leashFile)) // #nosec G304 -- a file of our own folder
	if err != nil {
		return 0
	}
	until, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		return 0
	}
	return time.Duration(until)
}
