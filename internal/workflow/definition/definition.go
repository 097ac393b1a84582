package definition

import (
	_ "embed"
	"encoding/json"
	"regexp"
	"time"
)

// The limits of a definition. They bound memory and time: a workflow that needs more
// should use a sub-workflow or a bucket.
const (
	maxText   = 1 << 20 // bytes of a definition
	maxDepth  = 64      // lists and mappings inside one another
	maxValues = 250_000 // values of a definition after its aliases
	maxSteps  = 10_000  // steps of a workflow, and items of a map
	maxParams = 1 << 20 // bytes of the rendered params of a step
	maxKey    = 100     // characters of a key; an item adds its number
)

var (
	keyPattern    = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)
	envPattern    = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	secretPattern = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,99}$`)
	memoryPattern = regexp.MustCompile(`^[1-9][0-9]*[kKmMgG]?i?[bB]?$`)
)

// Definition is a workflow as its author wrote it. Make one with [Parse].
type Definition struct {
	Name string `json:"name,omitempty"`
	// Version 0 means the next free version when the definition is stored.
	Version     int    `json:"version,omitempty"`
	Description string `json:"description,omitempty"`
	// Params is the JSON Schema of the params of a job. Nil allows anything.
	Params json.RawMessage `json:"params,omitempty"`
	// Defaults are params that a job gets if they are not given. They take precedence
	// over the defaults inside the schema.
	Defaults map[string]any `json:"defaults,omitempty"`
	// MaxRunning is how many jobs of the workflow run at once. 0 means any number.
	MaxRunning int `json:"max_running,omitempty"`
	// Priority is the priority of its jobs, -100 to 100.
	Priority int `json:"priority,omitempty"`
	// Zone is that of the dates of its jobs, and of schedules that have none. Empty means
	// UTC.
	Zone string `json:"zone,omitempty"`
	// Labels are required of the node of every step.
	Labels map[string]string `json:"labels,omitempty"`
	// Env are variables of every step that has an environment. Values may be templates.
	Env map[string]string `json:"env,omitempty"`
	// Retry, Timeout and Disconnect apply to every step that has none of its own.
	Retry      *Retry      `json:"retry,omitempty"`
	Timeout    *Timeout    `json:"timeout,omitempty"`
	Disconnect *Disconnect `json:"disconnect,omitempty"`
	Schedules  []Schedule  `json:"schedules,omitempty"`
	Steps      []Step      `json:"steps"`

	// These are for faults: the file's name, the places of values by path, and its lines.
	// They are empty in a definition that was not parsed.
	file  string
	where map[string]place
	lines []string
	memo  *memo
}

// Schedule runs the workflow automatically.
type Schedule struct {
	// Name is unique in the definition. Empty means its number.
	Name string `json:"name,omitempty"`
	// Spec is a cron line, a nickname, "@every 90s" or "@at 2026-11-15T10:00:00Z".
	Spec string `json:"spec"`
	Zone string `json:"zone,omitempty"`
	// Params are options.params of the jobs.
	Params map[string]any `json:"params,omitzero"`
	// Overlap is skip, queue_one, queue_all, cancel_running or allow (default).
	Overlap string `json:"overlap,omitempty"`
	// Missed is skip, one (default) or all; CatchUp bounds how far back.
	Missed  string   `json:"missed,omitempty"`
	CatchUp Duration `json:"catch_up,omitempty"`
	Jitter  Duration `json:"jitter,omitempty"`
	Paused  bool     `json:"paused,omitempty"`
}

// Step is one piece of work, or a map of many, or another workflow.
type Step struct {
	Key         string `json:"key"`
	Description string `json:"description,omitempty"`
	// Service says which workers do the work. Empty means the driver's name.
	Service string   `json:"service,omitempty"`
	Needs   []string `json:"needs,omitempty"`
	// Rule is all_success (default), all_done or one_failed.
	Rule string `json:"rule,omitempty"`
	// Finally runs the step after all others have ended, however the job ended, also if
	// it was canceled.
	Finally bool `json:"finally,omitempty"`
	// When is an expression; false skips the step and its dependents continue.
	When string `json:"when,omitempty"`
	// Params are the params of the work. Nil means all params of the job; empty means
	// none.
	Params map[string]any `json:"params,omitzero"`
	Map    *Map           `json:"map,omitempty"`
	// Workflow is the name, or name@version, of a workflow that runs as this step.
	Workflow string   `json:"workflow,omitempty"`
	Retry    *Retry   `json:"retry,omitempty"`
	Timeout  *Timeout `json:"timeout,omitempty"`
	// Disconnect says what happens while the node has no contact.
	Disconnect *Disconnect       `json:"disconnect,omitempty"`
	Labels     map[string]string `json:"labels,omitempty"`
	Prefer     *Prefer           `json:"prefer,omitempty"`
	Sticky     *Sticky           `json:"sticky,omitempty"`
	Pool       string            `json:"pool,omitempty"`
	// Priority is the step's priority. Nil means the job's.
	Priority *int `json:"priority,omitempty"`
	// Approval holds the step until a person decides.
	Approval *Approval `json:"approval,omitempty"`
	// Wait makes the step wait for an event from outside.
	Wait *Wait `json:"wait,omitempty"`
	// Delay is the wait after the needs are met.
	Delay Duration `json:"delay,omitempty"`
	// Artifacts are globs below WEIR_OUT. Empty means every file.
	Artifacts []string `json:"artifacts,omitempty"`
	Inputs    []From   `json:"inputs,omitempty"`
	// Secrets maps variables of the environment, and Files relative paths, to
	// names of secrets.
	Secrets map[string]string `json:"secrets,omitempty"`
	Files   map[string]string `json:"files,omitempty"`
	Run     *Run              `json:"run,omitempty"`
	// Script is run by Shell, by default sh -eu, on the node or in the image of Run. It is
	// no template: its params are variables, and so is Env, whose values may be templates.
	Script string            `json:"script,omitempty"`
	Shell  []string          `json:"shell,omitempty"`
	Env    map[string]string `json:"env,omitempty"`

	Line   int `json:"-"`
	Column int `json:"-"`
}

// Map makes one task for each item of a list.
type Map struct {
	// Over is a list, or an expression that evaluates to one. Nil means Matrix.
	Over any `json:"over,omitempty"`
	// Matrix has axes, each a list or an expression that evaluates to one: every
	// combination of their values is an item, but for those of Exclude.
	Matrix  map[string]any   `json:"matrix,omitempty"`
	Exclude []map[string]any `json:"exclude,omitempty"`
	// Limit is how many items run at once. 0 means any number.
	Limit int `json:"limit,omitempty"`
	// Tolerate is how many items may fail while the step still counts as done.
	Tolerate int `json:"tolerate,omitempty"`
}

// Retry says how often a step is tried.
type Retry struct {
	MaxAttempts int      `json:"max_attempts,omitempty"`
	Backoff     Duration `json:"backoff,omitempty"`
	Cap         Duration `json:"cap,omitempty"`
	// On are the exit codes that are retried. Empty means all but 0.
	On []int `json:"on,omitempty"`
}

// Timeout has four limits; none is the default.
type Timeout struct {
	Queue     Duration `json:"queue,omitempty"`     // until a worker takes it; then it fails
	Start     Duration `json:"start,omitempty"`     // until the work shows a sign of life
	Run       Duration `json:"run,omitempty"`       // of one attempt
	Heartbeat Duration `json:"heartbeat,omitempty"` // between two signs of life
}

// Disconnect says what happens to work whose node has no contact.
type Disconnect struct {
	// Keep is how long the work goes on beyond its lease. Until then no other node gets
	// the step.
	Keep Duration `json:"keep"`
}

// maxKeep is the longest time that work may go on without contact.
const maxKeep = 24 * time.Hour

// Prefer names labels that are dropped if no matching node takes the step in time.
type Prefer struct {
	Labels map[string]string `json:"labels"`
	// For is how long to wait for such a node. Zero means 10 s.
	For Duration `json:"for,omitempty"`
}

// Sticky runs the step on the node of an earlier one.
type Sticky struct {
	To string `json:"to"`
	// Hard waits for the node forever; otherwise any node may take the step after For
	// (zero: 10 s).
	Hard bool     `json:"hard,omitempty"`
	For  Duration `json:"for,omitempty"`
}

// From fetches artifacts of an earlier step before the work starts.
type From struct {
	From string `json:"from"`
	// Name is a glob. Empty means all.
	Name string `json:"name,omitempty"`
}

// Run says how an agent runs the step. The driver determines which fields are set.
type Run struct {
	Driver  string            `json:"driver,omitempty"`
	Argv    []string          `json:"argv,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	Dir     string            `json:"dir,omitempty"`
	Image   string            `json:"image,omitempty"`
	CPU     float64           `json:"cpu,omitempty"`
	Memory  string            `json:"memory,omitempty"`
	Pids    int               `json:"pids,omitempty"`
	Network string            `json:"network,omitempty"`
	Compose *Compose          `json:"compose,omitempty"`
	URL     string            `json:"url,omitempty"`
	Method  string            `json:"method,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
}

// Compose names a service of a compose file that does the work.
type Compose struct {
	File    string `json:"file"`
	Service string `json:"service"`
	// URL is the address at which the service listens once it is up.
	URL string `json:"url,omitempty"`
	// Idle is the idle time after which the service is stopped. Zero means the agent's
	// default, 10 minutes.
	Idle Duration `json:"idle,omitempty"`
}

// Step returns the step with a key, or nil. The key of an item finds its map.
func (d *Definition) Step(key string) *Step {
	base := splitItem(key)
	if d.memo != nil {
		if i, ok := d.memo.number[base]; ok && i < len(d.Steps) && d.Steps[i].Key == base {
			return &d.Steps[i]
		}
	}
	for i := range d.Steps {
		if d.Steps[i].Key == base {
			return &d.Steps[i]
		}
	}
	return nil
}

// service returns which service does the work of a step, also if the step does not say
// so.
func (s *Step) service() string {
	switch {
	case s.Service != "":
		return s.Service
	case s.Workflow != "":
		return "workflow"
	case s.Wait != nil:
		return "wait"
	default:
		return s.driver()
	}
}

//go:embed workflow.schema.json
var published []byte

// Schema returns the JSON Schema of a definition, for editors and other tools. It
// describes what [Parse] accepts; [Definition.Lint] checks the meaning.
func Schema() json.RawMessage { return json.RawMessage(published) }
