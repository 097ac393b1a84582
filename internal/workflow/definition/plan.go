package definition

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"time"

	"github.com/weirhq/weir/internal/problem"
)

// maxPlan bounds the params of all tasks that are made at once.
const maxPlan = 32 << 20

// insist is the default length of a preference.
const insist = 10 * time.Second

// Job is what templates read as .job.
type Job struct {
	// ID may be empty: a step that reads it is then planned after the job exists.
	ID          string
	Name        string
	ScheduledAt time.Time
	// Zone is that of the schedule the job is of. Empty means the workflow's.
	Zone string
	// Options are the fields of the job's options that Weir gives no meaning to.
	Options map[string]any
}

// Input is what a job is planned from. Params are the result of [Definition.Input].
type Input struct {
	Params  map[string]any
	Options Options
	Job     Job
}

// Task is a step in the form of the engine: its JSON has the fields of the SQL type
// weir.task_spec.
type Task struct {
	Key     string          `json:"key"`
	Service string          `json:"service"`
	Params  json.RawMessage `json:"params,omitempty"`
	Needs   []string        `json:"needs,omitempty"`
	Rule    string          `json:"rule,omitempty"`
	// Priority is the task's priority. Nil means the job's.
	Priority    *int              `json:"priority,omitempty"`
	Labels      map[string]string `json:"labels,omitempty"`
	Hold        string            `json:"hold,omitempty"`
	Pool        string            `json:"pool,omitempty"`
	MaxAttempts int               `json:"max_attempts,omitempty"`
	Timeout     string            `json:"timeout,omitempty"`
	Backoff     string            `json:"backoff,omitempty"`
	BackoffCap  string            `json:"backoff_cap,omitempty"`
	// Plan is set if the leader resolves the task when its needs are met.
	Plan bool            `json:"plan,omitempty"`
	Run  json.RawMessage `json:"run,omitempty"`

	Patience *Patience `json:"-"`
}

// Patience says what happens to a task that no worker takes. Nil means that it waits.
type Patience struct {
	// Relax is the time after which Labels replace the task's. Zero means never.
	Relax  time.Duration
	Labels map[string]string
	// Fail is the time after which the task fails. Zero means never.
	Fail time.Duration
}

// Plan makes the tasks of a job, in the order of the steps. Static steps are complete; a
// dynamic one (Plan is set) is completed by [Definition.Resolve].
func (d *Definition) Plan(in Input) ([]Task, error) {
	env := d.env(in.Params, in.Job, nil)
	tasks := make([]Task, 0, len(d.Steps))
	total := 0
	for i := range d.Steps {
		c, faults := d.compile(&d.Steps[i])
		if len(faults) > 0 {
			return nil, faults
		}
		task, err := d.planStep(c, in, env)
		if err != nil {
			return nil, err
		}
		if total += len(task.Params) + len(task.Run); total > maxPlan {
			return nil, tooLarge("params", "the tasks of one job have more than 32 MiB of params")
		}
		tasks = append(tasks, task)
	}
	return tasks, nil
}

func tooLarge(field, what string) error {
	return &problem.Problem{Kind: problem.TooLarge, Field: field, What: what, Next: "put the data into a bucket and pass its key"}
}

func (d *Definition) planStep(c *compiled, in Input, env map[string]any) (Task, error) {
	s := c.step
	task := Task{
		Key: s.Key, Service: s.service(), Needs: d.waitsFor(s), Rule: s.rule(), Priority: d.priority(s, in.Options),
		Plan: c.dynamic(in.Job) || in.Options.Steps[s.Key].Skip,
	}
	if s.Map != nil { // its items are retried
		return task, nil
	}
	d.tries(&task, s)
	if s.Workflow != "" {
		task.Timeout = ""
		return task, nil
	}
	task.Pool = s.Pool
	if !task.Plan {
		made, err := d.render(c, in.Params, in.Options, env)
		if err != nil {
			return task, err
		}
		made.fill(&task)
		return task, nil
	}
	// What is known already is set on the task, so that `why` and the graph show it while
	// it waits.
	if !isTemplate(s.Approval.Words()) {
		task.Hold = s.Approval.Words()
	}
	task.Labels = plainLabels(d.Labels, s.Labels, in.Options.Labels)
	task.Patience = d.patience(s, nil, nil)
	return task, nil
}

func plainLabels(all ...map[string]string) map[string]string {
	var out map[string]string
	for _, labels := range all {
		for key, value := range labels {
			if isTemplate(value) {
				continue
			}
			if out == nil {
				out = map[string]string{}
			}
			out[key] = value
		}
	}
	return out
}

func (d *Definition) priority(s *Step, options Options) *int {
	return orElse(options.Steps[s.Key].Priority, s.Priority)
}

// tries copies the retries and the limit of a run.
func (d *Definition) tries(task *Task, s *Step) {
	if retry := orElse(s.Retry, d.Retry); retry != nil {
		task.MaxAttempts, task.Backoff, task.BackoffCap = retry.MaxAttempts, retry.Backoff.interval(), retry.Cap.interval()
	}
	if timeout := d.timeout(s); timeout != nil {
		task.Timeout = timeout.Run.interval()
	}
}

func orElse[T any](p, other *T) *T {
	if p != nil {
		return p
	}
	return other
}

// patience combines the limit of waiting with the step's preference. wanted are the
// labels with the preferred ones, needed those without.
func (d *Definition) patience(s *Step, wanted, needed map[string]string) *Patience {
	p := &Patience{}
	if timeout := d.timeout(s); timeout != nil {
		p.Fail = time.Duration(timeout.Queue)
	}
	if len(wanted) > len(needed) || !maps.Equal(wanted, needed) {
		p.Labels = needed
		if p.Labels == nil {
			p.Labels = map[string]string{}
		}
		if s.Prefer != nil {
			p.Relax = time.Duration(s.Prefer.For)
			if p.Relax == 0 {
				p.Relax = insist
			}
		}
		if s.Sticky != nil && !s.Sticky.Hard {
			p.Relax = max(p.Relax, time.Duration(s.Sticky.For))
			if p.Relax == 0 {
				p.Relax = insist
			}
		}
	}
	if p.Relax == 0 && p.Fail == 0 {
		return nil
	}
	return p
}

// dynamic reports whether the step cannot be made before its needs have ended.
func (c *compiled) dynamic(job Job) bool {
	s := c.step
	if s.When != "" || s.Map != nil || s.Workflow != "" || s.Sticky != nil || s.Delay > 0 || s.asks() {
		return true
	}
	for _, r := range c.all {
		if r.path[0] == "needs" {
			return true
		}
		if r.path[0] == "job" && (len(r.path) == 1 || r.path[1] == "id" && job.ID == "" || r.path[1] == "scheduled_at" && job.ScheduledAt.IsZero()) {
			return true
		}
	}
	return false
}

// Dynamic reports whether a step is resolved after its needs have ended.
func (d *Definition) Dynamic(key string) bool {
	s := d.Step(key)
	if s == nil {
		return false
	}
	c, faults := d.compile(s)
	return len(faults) > 0 || c.dynamic(Job{})
}

// env returns what templates and expressions read.
func (d *Definition) env(params map[string]any, job Job, needs map[string]NeedFacts) map[string]any {
	about := map[string]any{"name": job.Name}
	if job.Name == "" {
		about["name"] = d.Name
	}
	if job.ID != "" {
		about["id"] = job.ID
	}
	// Without its zone the time would name a wrong day: who reads it is told that it is
	// not there.
	if zone, err := zoneNamed(cmp.Or(job.Zone, d.Zone, "UTC")); err == nil && !job.ScheduledAt.IsZero() {
		about["scheduled_at"] = moment{Time: job.ScheduledAt.In(zone)}
	}
	about["options"] = job.Options
	if job.Options == nil {
		about["options"] = map[string]any{}
	}
	ended := make(map[string]any, len(needs))
	for key, need := range needs {
		ended[key] = need.env()
	}
	if params == nil {
		params = map[string]any{}
	}
	return map[string]any{
		"params": params, "needs": ended, "job": about, "workflow": map[string]any{"name": d.Name, "version": int64(d.Version)},
	}
}

func parseVersion(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0
	}
	return n
}

// stepError says where in a step a value could not be made.
func stepError(s *Step, path string, err error) error {
	return &problem.Problem{Kind: problem.Invalid, Field: "steps." + s.Key + "." + path, What: fmt.Sprintf("step %s: %s: %s", s.Key, path, err), Next: "mend the workflow, or what the step before it gives", Err: err}
}
