package node

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/weirhq/weir/internal/period"
)

// Run says how to run a task: the decoded run section of a step's definition. The engine
// only passes it on.
type Run struct {
	// Driver is exec, docker, compose or http.
	Driver string            `json:"driver,omitempty"`
	Argv   []string          `json:"argv,omitempty"`
	Env    map[string]string `json:"env,omitempty"`
	// Dir is where the command starts. Empty means the attempt's private folder.
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

	// Secrets maps variables to names of secrets; Files maps files below the folder
	// secrets to names of secrets.
	Secrets map[string]string `json:"secrets,omitempty"`
	Files   map[string]string `json:"files,omitempty"`
	// Artifacts are patterns of paths below WEIR_OUT. Nil means everything.
	Artifacts []string `json:"artifacts,omitempty"`
	Inputs    []Input  `json:"inputs,omitempty"`

	Timeout Timeout `json:"timeout,omitzero"`
	// Disconnect says what happens while the node has no contact. Nil means what the node
	// does by default.
	Disconnect *Disconnect `json:"disconnect,omitempty"`
	// RetryOn are the exit codes that are retried. Empty means all of them.
	RetryOn []int `json:"retry_on,omitempty"`
	// InfraOn are the exit codes which mean that the infrastructure failed, and not the
	// work. They apply to work on devices.
	InfraOn []int `json:"infra_on,omitempty"`
}

// Disconnect says what happens to work whose node has no contact.
type Disconnect struct {
	// Keep is how long the work goes on beyond its lease. Until then no other node gets
	// the task.
	Keep Span `json:"keep"`
}

// KeepMost is the longest time that work may go on without contact.
const KeepMost = 24 * time.Hour

// Keep returns how long the work goes on without contact beyond its lease. Without a word
// of the step it is the node's usual time for work that the node itself runs, and zero for
// a call to a service, because the node can neither see nor stop what runs there.
func (r Run) Keep(usual time.Duration) time.Duration {
	if r.Disconnect != nil {
		return min(max(time.Duration(r.Disconnect.Keep), 0), KeepMost)
	}
	if r.Driver == "http" {
		return 0
	}
	return min(usual, KeepMost)
}

// For returns how a service is run for a step: as r says, with what only the step knows.
func (r Run) For(step Run) Run {
	r.Secrets, r.Files, r.Inputs = merged(r.Secrets, step.Secrets), merged(r.Files, step.Files), step.Inputs
	if step.Artifacts != nil {
		r.Artifacts = step.Artifacts
	}
	if step.RetryOn != nil {
		r.RetryOn = step.RetryOn
	}
	if step.Timeout != (Timeout{}) {
		r.Timeout = step.Timeout
	}
	if step.Disconnect != nil {
		r.Disconnect = step.Disconnect
	}
	return r
}

func merged(one, other map[string]string) map[string]string {
	both := maps.Clone(one)
	if both == nil {
		return other
	}
	maps.Copy(both, other)
	return both
}

// Compose is a service of a compose file.
type Compose struct {
	File    string `json:"file,omitempty"`
	Service string `json:"service,omitempty"`
	URL     string `json:"url,omitempty"`
	// Idle is the time without work after which the service is stopped. Zero means the
	// agent's default, 10 minutes.
	Idle Span `json:"idle,omitzero"`
}

// Input asks for the outputs of an earlier step of the same job. Name is a pattern; empty
// means all of them.
type Input struct {
	From string `json:"from"`
	Name string `json:"name,omitempty"`
}

// Timeout has the limits that only the agent can enforce. The limit of the whole run is
// the deadline of the lease.
type Timeout struct {
	// Start is how long it may take until the work runs.
	Start Span `json:"start,omitzero"`
	// Heartbeat is how long the work may be silent.
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
	d, err := period.Parse(word)
	if err != nil {
		return fmt.Errorf(`%q is not a duration such as "90s"`, word)
	}
	*s = Span(d)
	return nil
}

// MarshalJSON writes the first form.
func (s Span) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(s).String()) }

// ParseRun decodes how to run a task. Empty text gives the zero Run.
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

// infer returns the driver that matches the given fields.
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
