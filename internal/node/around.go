package node

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/weirhq/weir/internal/problem"
)

// Command is a command that runs on the PC of a device, without a shell.
type Command struct {
	Argv    []string `json:"argv" minItems:"1" maxItems:"1000" doc:"Program and arguments; {serial} and {target} stand for those of the device."`
	Timeout Span     `json:"timeout,omitzero" doc:"The longest time, from 1s to 1h. Default: 5m."`
}

// Around are the commands before and after each run on a device.
type Around struct {
	// Setup runs before the work. If it fails, the work does not run, and the attempt
	// counts as broken by the infrastructure.
	Setup *Command `json:"setup,omitempty"`
	// Cleanup runs after the work, however that ended, while the lease holds. If it
	// fails, the device becomes suspect.
	Cleanup *Command `json:"cleanup,omitempty"`
	// Power is set if Setup is the power command of a device that is out: it switches the
	// device off and on, so the work waits until the device is back.
	Power bool `json:"power,omitempty"`
}

const (
	commandUsual = 5 * time.Minute
	commandLeast = time.Second
	commandMost  = time.Hour
	// commandSlack is the time to kill a command that does not end and to report it:
	// weir._fleet_around counts it too.
	commandSlack = 10 * time.Second
)

// Limit returns the longest time of the command. It is zero for no command.
func (c *Command) Limit() time.Duration {
	switch {
	case c == nil:
		return 0
	case c.Timeout <= 0:
		return commandUsual
	}
	return time.Duration(c.Timeout)
}

// Check returns what is wrong with the command of a field.
func (c *Command) Check(field string) error {
	switch {
	case c == nil:
		return nil
	case len(c.Argv) == 0 || len(c.Argv) > 1000 || c.Argv[0] == "":
		return problem.Refuse(field+".argv", fmt.Sprintf("for example %s: {argv: [adb, -s, '{target}', reboot], timeout: 2m}", field), "it is not a list of 1 to 1000 words")
	case c.Timeout != 0 && (time.Duration(c.Timeout) < commandLeast || time.Duration(c.Timeout) > commandMost):
		return problem.Refuse(field+".timeout", "write a span between 1s and 1h, as 90s or 20m", "%s.timeout is %s", field, time.Duration(c.Timeout))
	}
	if p := CheckArguments(field+".argv", c.Argv); p != nil {
		return p
	}
	return nil
}

// CheckArguments returns what is wrong with the arguments of a command for a device:
// {serial} and {target} are allowed in arguments that are one word, such as
// --device={serial}. An argument with white space is probably a line for a shell, in which
// a name that another party chose would become part of a program. Such a line uses the
// environment variables instead.
func CheckArguments(field string, argv []string) *problem.Problem {
	for i, word := range argv {
		if strings.ContainsAny(word, " \t\r\n") && (strings.Contains(word, "{serial}") || strings.Contains(word, "{target}")) {
			return problem.Refuse(fmt.Sprintf("%s[%d]", field, i), "in a script read $WEIR_DEVICE_SERIAL and $WEIR_DEVICE_TARGET",
				"{serial} and {target} stand in an argument that is one word")
		}
	}
	return nil
}

// Span returns how much longer than its own timeout a run may take because of the
// commands, and how much of that is left for what follows the work.
func (a Around) Span() (all, after time.Duration) {
	if a == (Around{}) {
		return 0, 0
	}
	after = a.Cleanup.Limit() + commandSlack
	return a.Setup.Limit() + after, after
}

// ParseAround reads the commands from how a task is to be run: see [ParseRun].
func ParseAround(text json.RawMessage) (a Around, err error) {
	if len(text) == 0 {
		return a, nil
	}
	if err := json.Unmarshal(text, &a); err != nil {
		return Around{}, fmt.Errorf("read what runs before and after the task: %w", err)
	}
	return a, nil
}
