package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/reason"
)

// The states of a fleet job.
const (
	JobWaiting   = "waiting"
	JobActive    = "active"
	JobCanceling = "canceling"
	JobDone      = "done"
	JobFailed    = "failed"
	JobCanceled  = "canceled"
)

// JobStates are all of them, in the order in which they are shown.
var JobStates = []string{JobActive, JobWaiting, JobCanceling, JobDone, JobFailed, JobCanceled}

// The states of a unit.
const (
	UnitWaiting  = "waiting"
	UnitRunning  = "running"
	UnitRetrying = "retrying"
	UnitDone     = "done"
	UnitFailed   = "failed"
	UnitMissed   = "missed"
	UnitCanceled = "canceled"
)

// UnitStates are all of them, in the order in which they are shown.
var UnitStates = []string{UnitRunning, UnitRetrying, UnitWaiting, UnitFailed, UnitMissed, UnitCanceled, UnitDone}

// Job is a fleet job.
type Job struct {
	// ID is also the id of the engine's job.
	ID    weir.ID `json:"id"`
	Name  string  `json:"name"`
	State string  `json:"state"`
	// Lane is the lane of the job: one job of a lane is active.
	Lane     string `json:"lane" doc:"One job of a lane is active; jobs of different lanes run side by side."`
	Priority int    `json:"priority,omitempty"`
	By       string `json:"by,omitempty"`
	Schedule string `json:"schedule,omitempty"`
	// Cause says why the job failed; Stopped says why it was stopped as bad.
	Cause   string `json:"cause,omitempty"`
	Stopped string `json:"stopped,omitempty"`

	Counts Counts `json:"counts"`
	// Existed is set in the answer to a submission if there was a job with this
	// idempotency key, and nothing new was made.
	Existed bool `json:"existed,omitempty"`

	CreatedAt   time.Time  `json:"created_at"`
	ActivatedAt *time.Time `json:"activated_at,omitempty"`
	EndedAt     *time.Time `json:"ended_at,omitempty"`
	// LingersAt is since when no device can serve the remaining units; MissedAt is when
	// those are missed.
	LingersAt *time.Time `json:"lingers_at,omitempty"`
	MissedAt  *time.Time `json:"missed_at,omitempty"`
	Spec      *Spec      `json:"spec,omitempty" doc:"Shown with one job, not in lists."`
}

// Place implements [op.Made].
func (j Job) Place() []string { return []string{"fleet", "jobs", j.ID.String()} }

// Found implements [op.Made].
func (j Job) Found() bool { return j.Existed }

// Counts are the units of a job by state.
type Counts struct {
	Total    int `json:"total"`
	Waiting  int `json:"waiting"`
	Running  int `json:"running"`
	Retrying int `json:"retrying"`
	Done     int `json:"done"`
	Failed   int `json:"failed"`
	Missed   int `json:"missed"`
	Canceled int `json:"canceled"`
}

// add adds the counts of another job.
func (c *Counts) add(o Counts) {
	c.Total += o.Total
	c.Waiting += o.Waiting
	c.Running += o.Running
	c.Retrying += o.Retrying
	c.Done += o.Done
	c.Failed += o.Failed
	c.Missed += o.Missed
	c.Canceled += o.Canceled
}

// Unit is one run that a job wants.
type Unit struct {
	Job weir.ID `json:"job"`
	// JobName is set in lists of runs on a device, which belong to several jobs.
	JobName string `json:"job_name,omitempty"`
	Unit    int    `json:"unit"`
	Round   int    `json:"round"`
	State   string `json:"state"`
	// Device is empty while any device may serve the unit.
	Device string `json:"device,omitempty"`
	PC     string `json:"pc,omitempty"`
	// Task is zero until the unit is first served.
	Task    weir.ID `json:"task,omitzero"`
	Attempt int     `json:"attempt"`
	// Infra counts attempts that the infrastructure broke.
	Infra     int        `json:"infra,omitempty"`
	Cause     string     `json:"cause,omitempty"`
	StartedAt *time.Time `json:"started_at,omitempty"`
	Deadline  *time.Time `json:"deadline,omitempty"`
	RetryAt   *time.Time `json:"retry_at,omitempty"`
	EndedAt   *time.Time `json:"ended_at,omitempty"`
}

// JobFilter narrows a list of jobs. Zero fields match everything.
type JobFilter struct {
	State  string `query:"state" enum:"active,waiting,canceling,done,failed,canceled" doc:"Only jobs in this state."`
	Search string `query:"search" maxLength:"200" doc:"Only jobs with this in their name."`
}

// UnitFilter narrows a list of units. Zero fields match everything.
type UnitFilter struct {
	State  string `query:"state" enum:"running,retrying,waiting,failed,missed,canceled,done" doc:"Only units in this state."`
	Device string `query:"device" maxLength:"128" doc:"Only units of the device with this serial."`
	PC     string `query:"pc" maxLength:"200" doc:"Only units of devices of this PC."`
}

// Why says why a job makes no progress: in one line, and for each device that waits or
// was missed.
type Why struct {
	ID      weir.ID `json:"id"`
	Summary string  `json:"summary"`
	reason.Coded
	Devices []WhyDevice `json:"devices,omitempty"`
}

// WhyDevice is the reason of one device; Device is empty for a unit that any device may
// serve.
type WhyDevice struct {
	Device string `json:"device,omitempty"`
	PC     string `json:"pc,omitempty"`
	Why    string `json:"why"`
	reason.Coded
	// Answer says what it takes until the unit is served: one of the Answers. Empty for a
	// unit that has ended. AnswerAt is when it can be served by itself, if that is known.
	Answer   string     `json:"answer,omitempty" enum:"now,later,person,never" doc:"Whether it can be served: now, later by itself, only after a person has acted, or never."`
	AnswerAt *time.Time `json:"answer_at,omitempty"`
}

// Canceled is the result of a cancellation: how many ended, and how many were asked to
// stop.
type Canceled struct {
	ID        weir.ID `json:"id"`
	Canceled  int     `json:"canceled"`
	Requested int     `json:"requested"`
}

// Submit submits a job. A repeated idempotency key returns the same job, with Existed
// set; an empty key means none.
func (s *Store) Submit(ctx context.Context, by string, spec Spec, idempotencyKey string) (Job, error) {
	if spec.Name == "" {
		return Job{}, problem.Refuse("name", "say what the job is called", "a fleet job needs a name")
	}
	if err := spec.Check(); err != nil {
		return Job{}, err
	}
	text, err := spec.stored()
	if err != nil {
		return Job{}, fmt.Errorf("submit fleet job: %w", err)
	}
	id, existed, err := s.submit(ctx, spec.Name, text, by, idempotencyKey)
	if err != nil {
		return Job{}, fmt.Errorf("submit fleet job: %w", err)
	}
	j, err := s.Job(ctx, id)
	j.Existed = existed
	return j, err
}

// Jobs lists jobs, newest first. page.After is the last id of the previous page.
func (s *Store) Jobs(ctx context.Context, f JobFilter, page view.Page) ([]Job, error) {
	after, err := page.AfterID()
	if err != nil {
		return nil, err
	}
	list, err := s.jobs(ctx, jobFilter, after, f.State, f.Search, page.Most())
	if err != nil {
		return nil, fmt.Errorf("list fleet jobs: %w", err)
	}
	return list, nil
}

// Active returns the jobs that are served, one for each lane in use: by priority, then
// the oldest first.
func (s *Store) Active(ctx context.Context) ([]Job, error) {
	return s.jobs(ctx, jobActive)
}

// Job reads one job with its spec.
func (s *Store) Job(ctx context.Context, id weir.ID) (Job, error) {
	list, err := s.jobs(ctx, jobOf, id)
	if err == nil && len(list) == 0 {
		err = notFound("fleet job", id.String(), "see what there is", "weir fleet list")
	}
	if err != nil {
		return Job{}, fmt.Errorf("read fleet job: %w", err)
	}
	j := list[0]
	text, err := s.spec(ctx, id)
	if err != nil {
		return j, fmt.Errorf("read fleet job: %w", err)
	}
	j.Spec = new(Spec)
	if err := json.Unmarshal(text, j.Spec); err != nil {
		return j, fmt.Errorf("read fleet job: %w", err)
	}
	j.Spec.Name = j.Name
	return j, nil
}

// Units lists the units of a job in order. page.After is the last number of the previous
// page.
func (s *Store) Units(ctx context.Context, id weir.ID, f UnitFilter, page view.Page) ([]Unit, error) {
	after, err := numberAfter(page.After)
	if err != nil {
		return nil, err
	}
	list, err := s.units(ctx, unitFilter, id, after, f.State, f.Device, f.PC, page.Most())
	if err != nil {
		return nil, fmt.Errorf("list units: %w", err)
	}
	return list, nil
}

// Cancel cancels the rest of a job. Running tasks are asked to stop.
func (s *Store) Cancel(ctx context.Context, by string, id weir.ID, reason string) (Canceled, error) {
	c, err := s.cancel(ctx, id, by, reason)
	if c.ID = id; err != nil {
		return c, fmt.Errorf("cancel fleet job: %w", err)
	}
	return c, nil
}

// Why says why a job makes no progress, for at most most devices. Zero means 500.
func (s *Store) Why(ctx context.Context, id weir.ID, most int) (Why, error) {
	if most <= 0 {
		most = 500
	}
	w, err := s.why(ctx, id, most)
	if w.ID = id; err != nil {
		return w, fmt.Errorf("why fleet job: %w", err)
	}
	return w, nil
}
