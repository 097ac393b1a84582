package node

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Run says how a task is to be run: what a step's definition says, decoded. The
// engine only carries it.
type Run struct {
	// Driver is exec, docker, compose or http.
	Driver string            `json:"driver,omitempty"`
	Argv   []string          `json:"argv,omitempty"`
	Env    map[string]string `json:"env,omitempty"`
	// Dir is where the command starts. Empty: the attempt's private folder.
	Dir string `json:"dir,omitempty"`

	Image   string  `json:"image,omitempty"`
	CPU     float64 `json:"cpu,omitempty"`
	Memory  string  `json:"memory,omitempty"`
	Pids    int     `json:"pids,omitempty"`
	Network string  `json:"network,omitempty"`

	Compose *Compose `json:"compose,omitempty"`

	URL     string            `json:"url,omitempty"`
	Method  string            `json:"method,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`

	// Secrets is variable → name of the secret; Files is file below the folder
	// secrets → name of the secret.
	Secrets map[string]string `json:"secrets,omitempty"`
	Files   map[string]string `json:"files,omitempty"`
	// Artifacts are patterns of paths below WEIR_OUT. Nil: everything.
	Artifacts []string `json:"artifacts,omitempty"`
	Inputs    []Input  `json:"inputs,omitempty"`

	Timeout Timeout `json:"timeout,omitzero"`
	// RetryOn are the exit codes worth another attempt. Empty: all of them.
	RetryOn []int `json:"retry_on,omitempty"`
	// InfraOn are the exit codes that say that not the work failed, but what it ran
	// on. They count for work on devices.
	InfraOn []int `json:"infra_on,omitempty"`
}

// Compose is a service of a compose file.
type Compose struct {
	File    string `json:"file,omitempty"`
	Service string `json:"service,omitempty"`
	URL     string `json:"url,omitempty"`
	// Idle is after how long without work the service is stopped. Zero: as the
	// agent has it, 10 minutes.
	Idle Span `json:"idle,omitzero"`
}

// Input asks for the outputs of an earlier step of the same job. Name is a
// pattern; empty: all of them.
type Input struct {
	From string `json:"from"`
	Name string `json:"name,omitempty"`
}

// Timeout has the limits that only the agent can keep. The run's own is the
// deadline of the lease.
type Timeout struct {
	// Start is how long it may take until the work runs.
	Start Span `json:"start,omitzero"`
	// Heartbeat is how long the work may say nothing at all.
	Heartbeat Span `json:"heartbeat,omitzero"`
}

// Span is a duration that is written as "1m30s" or "2d", or as a number of seconds.
type Span time.Duration

// UnmarshalJSON reads either form.
func (s *Span) UnmarshalJSON(text []byte) error {
	var seconds float64
	if json.Unmarshal(text, &seconds) == nil {
		*s = Span(seconds * float64(time.Second))
		return nil
	}
	var word string
	if err := json.Unmarshal(text, &word); err != nil {
		return errors.New(`expected a duration such as "90s"`)
	}
	d, err := parseSpan(word)
	if err != nil {
		return fmt.Errorf(`%q is not a duration such as "90s"`, word)
	}
	*s = Span(d)
	return nil
}

// parseSpan reads what Go reads, and days before it: 2d, 1d12h.
func parseSpan(word string) (d time.Duration, err error) {
	before, rest, found := strings.Cut(word, "d")
	if !found {
		return time.ParseDuration(word)
	}
	days, err := strconv.ParseUint(before, 10, 16)
	if err == nil && rest != "" {
		d, err = time.ParseDuration(rest)
	}
	return time.Duration(days)*24*time.Hour + d, err
}

// MarshalJSON writes the first form.
func (s Span) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(s).String()) }

// ParseRun decodes how a task is to be run. Nothing gives the zero Run.
func ParseRun(text json.RawMessage) (Run, error) {
	var r Run
	if len(text) == 0 {
		return r, nil
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return r, fmt.Errorf("read how the task is to be run: %w", err)
	}
	if r.Driver == "" {
		r.Driver = r.infer()
	}
	return r, nil
}

// infer is the driver that fits what is given.
func (r Run) infer() string {
	switch {
	case r.Compose != nil:
		return "compose"
	case r.Image != "":
		return "docker"
	case r.URL != "":
		return "http"
	case len(r.Argv) > 0:
		return "exec"
	}
	return ""
}
