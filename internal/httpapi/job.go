package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/op"
)

// JobInput names a job.
type JobInput struct {
	Job string `path:"job" maxLength:"64" doc:"The id, whole or its end."`
}

func (a *API) jobID(ctx context.Context, in JobInput) (weir.ID, error) {
	return a.named(ctx, "job", a.config.Store.JobID, in.Job)
}

// ListJobsInput narrows the list.
type ListJobsInput struct {
	op.Paged
	State string `query:"state" doc:"Only jobs in this state."`
	Kind  string `query:"kind" doc:"Only jobs of this kind."`
	Name  string `query:"name" doc:"Only jobs of this name; with * at its end, whose name begins so."`

	Workflow string `query:"workflow" maxLength:"200" doc:"Only runs of the workflow of this name."`
	Schedule string `query:"schedule" maxLength:"200" doc:"Only jobs that this schedule made."`
	Parent   string `query:"parent" maxLength:"64" doc:"Only jobs that this task waits for: its id, whole or its end."`
	Origin   string `query:"origin" maxLength:"64" doc:"Only jobs that repeat this one: its id, whole or its end."`

	Of    string    `query:"of" maxLength:"64" doc:"Only jobs that steps of this job wait for: its id, whole or its end."`
	Since time.Time `query:"since" doc:"Only jobs that were made since."`
}

func (a *API) jobFilter(ctx context.Context, in *ListJobsInput) (f view.JobFilter, err error) {
	f = view.JobFilter{State: in.State, Kind: in.Kind, Name: in.Name, Workflow: in.Workflow, Schedule: in.Schedule, Since: in.Since}
	if in.Parent != "" {
		if f.Parent, err = a.named(ctx, "parent", a.config.Store.TaskID, in.Parent); err != nil {
			return f, err
		}
	}
	if in.Origin != "" {
		if f.Origin, err = a.named(ctx, "origin", a.config.Store.JobID, in.Origin); err != nil {
			return f, err
		}
	}
	if in.Of != "" {
		f.Of, err = a.named(ctx, "of", a.config.Store.JobID, in.Of)
	}
	return f, err
}

func (a *API) listJobs(ctx context.Context, in *ListJobsInput) (*Listed[view.Job], error) {
	filter, err := a.jobFilter(ctx, in)
	if err != nil {
		return nil, err
	}
	jobs, next, err := a.config.Store.JobPage(ctx, filter, in.Page())
	if err != nil {
		return nil, err
	}
	return pageOf(ctx, jobs, "after", next), nil
}

// JobSpec is a job as it is submitted.
type JobSpec struct {
	Name           string          `json:"name" doc:"For people."`
	Kind           string          `json:"kind,omitempty" doc:"Groups jobs of one sort. Default: job."`
	Priority       int             `json:"priority,omitempty" minimum:"-100" maximum:"100" doc:"That of its tasks that have none."`
	Params         json.RawMessage `json:"params,omitempty" doc:"Kept with the job."`
	IdempotencyKey string          `json:"idempotency_key,omitempty" doc:"The same key gives the same job."`
	Trace          string          `json:"trace,omitempty" doc:"That of its tasks that have none."`
	Tasks          []TaskSpec      `json:"tasks" minItems:"1" maxItems:"10000"`
}

// SubmitJobInput is one job: all of it is taken, or nothing.
type SubmitJobInput struct {
	op.Keyed
	Body JobSpec
}

// JobMade names the job.
type JobMade struct {
	ID weir.ID `json:"id"`
	// Existed is true if a job with this idempotency key was there already.
	Existed bool `json:"existed,omitempty" doc:"A job with this idempotency key was there already: nothing new was made."`
}

func (a *API) submitJob(ctx context.Context, in *SubmitJobInput) (*Made[JobMade], error) {
	b := &in.Body
	if err := mayRun(ctx, b.Tasks...); err != nil {
		return nil, err
	}
	job := weir.Job{Name: b.Name, Kind: b.Kind, Priority: b.Priority, Trace: b.Trace, Tasks: make([]weir.Task, len(b.Tasks))}
	if len(b.Params) > 0 {
		job.Params = b.Params
	}
	for i := range b.Tasks {
		job.Tasks[i] = b.Tasks[i].task()
	}
	var err error
	if job.IdempotencyKey, err = in.Key(auth.From(ctx), b.IdempotencyKey); err != nil {
		return nil, err
	}
	id, existed, err := a.config.Store.Existed(ctx, job.IdempotencyKey, func() (weir.ID, error) { return a.config.Commands.SubmitJob(ctx, job) })
	if err != nil {
		return nil, err
	}
	out := &Made[JobMade]{Status: http.StatusCreated, Location: location("jobs", id.String()), Body: JobMade{id, existed}}
	if existed {
		out.Status = http.StatusOK
	}
	return out, nil
}

func (a *API) showJob(ctx context.Context, in *JobInput) (*One[view.Job], error) {
	id, err := a.jobID(ctx, *in)
	if err != nil {
		return nil, err
	}
	return one(a.config.Store.Job(ctx, id))
}

// JobTasksInput narrows the tasks of a job.
type JobTasksInput struct {
	JobInput
	op.Paged
	State string `query:"state" doc:"Only tasks in this state."`
}

func (a *API) jobTasks(ctx context.Context, in *JobTasksInput) (*Listed[view.Task], error) {
	id, err := a.jobID(ctx, in.JobInput)
	if err != nil {
		return nil, err
	}
	if _, err := a.config.Store.Job(ctx, id); err != nil {
		return nil, err
	}
	tasks, next, err := a.config.Store.TaskPage(ctx, view.TaskFilter{Job: id, State: in.State}, in.Page())
	if err != nil {
		return nil, err
	}
	return pageOf(ctx, tasks, "after", next), nil
}

func (a *API) jobGraph(ctx context.Context, in *JobInput) (*One[view.Graph], error) {
	id, err := a.jobID(ctx, *in)
	if err != nil {
		return nil, err
	}
	if _, err := a.config.Store.Job(ctx, id); err != nil {
		return nil, err
	}
	return one(a.config.Store.Graph(ctx, id))
}

func (a *API) jobSpans(ctx context.Context, in *JobInput) (*All[view.Span], error) {
	id, err := a.jobID(ctx, *in)
	if err != nil {
		return nil, err
	}
	if _, err := a.config.Store.Job(ctx, id); err != nil {
		return nil, err
	}
	spans, err := a.config.Store.Spans(ctx, id)
	if err != nil {
		return nil, err
	}
	return all(spans), nil
}

// CancelJobInput is a command on a job. The body may be left out.
type CancelJobInput struct {
	JobInput
	Body *DecisionBody
}

// CancelJobOutput counts what it did.
type CancelJobOutput struct {
	Ended int `json:"ended" doc:"Tasks that are canceled now."`
	Asked int `json:"asked" doc:"Tasks that run and were asked to stop."`
}

func (a *API) cancelJob(ctx context.Context, in *CancelJobInput) (*One[CancelJobOutput], error) {
	id, err := a.jobID(ctx, in.JobInput)
	if err != nil {
		return nil, err
	}
	ended, asked, err := a.config.Commands.CancelJob(ctx, id, decision(ctx, in.Body))
	return one(CancelJobOutput{ended, asked}, err)
}

// RetryJobOutput counts what it did.
type RetryJobOutput struct {
	Tasks int `json:"tasks" doc:"Tasks that have a new round of attempts."`
}

func (a *API) retryJob(ctx context.Context, in *CancelJobInput) (*One[RetryJobOutput], error) {
	id, err := a.jobID(ctx, in.JobInput)
	if err != nil {
		return nil, err
	}
	tasks, err := a.config.Commands.RetryJob(ctx, id, decision(ctx, in.Body))
	return one(RetryJobOutput{tasks}, err)
}

func (a *API) whyJob(ctx context.Context, in *JobInput) (*All[Reason], error) {
	id, err := a.jobID(ctx, *in)
	if err != nil {
		return nil, err
	}
	reasons, err := a.config.Commands.WhyJob(ctx, id)
	if err != nil {
		return nil, err
	}
	return all(reasonsOf(reasons)), nil
}
