package work

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

// NamedJob names a job.
type NamedJob struct {
	Job string `path:"job" flag:"ID" maxLength:"64" doc:"The id, whole or its end."`
}

// JobFilter selects jobs.
type JobFilter struct {
	State    string    `query:"state" json:"state,omitempty" doc:"Only jobs in this state."`
	Kind     string    `query:"kind" json:"kind,omitempty" doc:"Only jobs of this kind."`
	Name     string    `query:"name" json:"name,omitempty" doc:"Only jobs of this name; with * at its end, whose name begins so."`
	Workflow string    `query:"workflow" json:"workflow,omitempty" maxLength:"200" doc:"Only runs of the workflow of this name."`
	Schedule string    `query:"schedule" json:"schedule,omitempty" maxLength:"200" doc:"Only jobs that this schedule made."`
	Parent   string    `query:"parent" json:"parent,omitempty" maxLength:"64" doc:"Only jobs that this task waits for: its id, whole or its end."`
	Origin   string    `query:"origin" json:"origin,omitempty" maxLength:"64" doc:"Only jobs that repeat this one: its id, whole or its end."`
	Of       string    `query:"of" json:"of,omitempty" maxLength:"64" doc:"Only jobs that steps of this job wait for: its id, whole or its end."`
	Since    time.Time `query:"since" json:"since,omitzero" doc:"Only jobs that were made since."`
}

// JobsOf turns a filter of the store into the form that people use.
func JobsOf(f view.JobFilter) JobFilter {
	return JobFilter{f.State, f.Kind, f.Name, f.Workflow, f.Schedule, spelled(f.Parent), spelled(f.Origin), spelled(f.Of), f.Since}
}

func (f *JobFilter) read(ctx context.Context, s *Store) (out view.JobFilter, err error) {
	out = view.JobFilter{State: f.State, Kind: f.Kind, Name: f.Name, Workflow: f.Workflow, Schedule: f.Schedule, Since: f.Since}
	if out.Parent, err = maybe(ctx, "parent", s.View.TaskID, f.Parent); err != nil {
		return out, err
	}
	if out.Origin, err = maybe(ctx, "origin", s.View.JobID, f.Origin); err != nil {
		return out, err
	}
	out.Of, err = maybe(ctx, "of", s.View.JobID, f.Of)
	return out, err
}

// ListingJobs narrows the list of jobs.
type ListingJobs struct {
	op.Paged
	JobFilter
}

// ListingJobTasks narrows the tasks of a job.
type ListingJobTasks struct {
	NamedJob
	op.Paged
	State weir.State `query:"state" doc:"Only tasks in this state."`
}

// DecidingJob is a command on a job that may have a reason.
type DecidingJob struct {
	NamedJob
	Body *op.DecisionBody
}

// Signaling tells a job that something happened outside.
type Signaling struct {
	NamedJob
	Body SignalBody
}

// SignalBody is the event.
type SignalBody struct {
	Event   string          `json:"event" maxLength:"100" doc:"Its name, which a step of the job waits for, now or later."`
	Payload json.RawMessage `json:"payload,omitempty" doc:"Any JSON: the result of the steps that wait for it. At most 256 KiB."`
}

// SignalOutput counts the tasks that an event ended.
type SignalOutput struct {
	Tasks int `json:"tasks" doc:"Tasks that waited for it and are done now. None: it is kept for those that wait later."`
}

// CancelJobOutput counts the tasks that are canceled and those that were asked to stop.
type CancelJobOutput struct {
	Ended int `json:"ended" doc:"Tasks that are canceled now."`
	Asked int `json:"asked" doc:"Tasks that run and were asked to stop."`
}

// RetryJobOutput counts the retried tasks.
type RetryJobOutput struct {
	Tasks int `json:"tasks" doc:"Tasks that have a new round of attempts."`
}

// Reads of jobs, and commands on them.
var (
	ListJobs = op.New(on("job", http.MethodGet, "list", "/jobs", auth.Read, "List jobs"),
		func(ctx context.Context, s *Store, _ auth.Subject, in *ListingJobs) (out op.Page[view.Job], err error) {
			f, err := in.read(ctx, s)
			if err != nil {
				return out, err
			}
			return paged(s.View.JobPage(ctx, f, in.Page()))
		})
	ShowJob = onJob(http.MethodGet, "show", "", auth.Read, "Show a job",
		func(ctx context.Context, s *Store, _ auth.Subject, id weir.ID, _ *NamedJob) (view.Job, error) {
			return s.View.Job(ctx, id)
		})
	ListJobTasks = onJob(http.MethodGet, "tasks", "/tasks", auth.Read, "List the tasks of a job in its order",
		func(ctx context.Context, s *Store, _ auth.Subject, id weir.ID, in *ListingJobTasks) (out op.Page[view.Task], err error) {
			if _, err := s.View.Job(ctx, id); err != nil {
				return out, err
			}
			return paged(s.View.TaskPage(ctx, view.TaskFilter{Job: id, State: in.State}, in.Page()))
		})
	JobGraph = onJob(http.MethodGet, "graph", "/graph", auth.Read, "Show the tasks of a job and their needs, at most 2,000",
		func(ctx context.Context, s *Store, _ auth.Subject, id weir.ID, _ *NamedJob) (out view.Graph, err error) {
			if _, err := s.View.Job(ctx, id); err != nil {
				return out, err
			}
			return s.View.Graph(ctx, id)
		})
	JobSpans = onJob(http.MethodGet, "spans", "/spans", auth.Read, "List when the attempts of a job ran, at most 5,000",
		func(ctx context.Context, s *Store, _ auth.Subject, id weir.ID, _ *NamedJob) (out op.Page[view.Span], err error) {
			if _, err := s.View.Job(ctx, id); err != nil {
				return out, err
			}
			return whole(s.View.Spans(ctx, id))
		})
	CancelJob = onJob(http.MethodPost, "cancel", "/cancel", auth.Command, "Cancel every task of a job that has not ended",
		func(ctx context.Context, s *Store, who auth.Subject, id weir.ID, in *DecidingJob) (out CancelJobOutput, err error) {
			out.Ended, out.Asked, err = s.Client.CancelJob(ctx, id, decided(who, in.Body))
			return out, err
		})
	SignalJob = onJob(http.MethodPost, "signal", "/signal", auth.Command, "Tell a job that something happened outside, for the steps that wait for it",
		func(ctx context.Context, s *Store, who auth.Subject, id weir.ID, in *Signaling) (out SignalOutput, err error) {
			out.Tasks, err = s.Client.Signal(ctx, id, in.Body.Event, in.Body.Payload, who.By())
			return out, err
		})
	RetryJob = onJob(http.MethodPost, "retry", "/retry", auth.Command, "Give what failed or was canceled in a job a new round of attempts",
		func(ctx context.Context, s *Store, who auth.Subject, id weir.ID, in *DecidingJob) (out RetryJobOutput, err error) {
			out.Tasks, err = s.Client.RetryJob(ctx, id, decided(who, in.Body))
			return out, err
		})
	WhyJob = onJob(http.MethodGet, "why", "/why", auth.Read, "Say why a job is where it is",
		func(ctx context.Context, s *Store, _ auth.Subject, id weir.ID, _ *NamedJob) (op.Page[Reason], error) {
			return reasonsOf(s.Client.WhyJob(ctx, id))
		})
)

// onJob describes an operation on a job.
func onJob[In, Out any](method, verb, below string, right auth.Verb, summary string,
	do func(ctx context.Context, s *Store, who auth.Subject, id weir.ID, in *In) (Out, error),
) *op.Op[*Store, In, Out] {
	return op.New(on("job", method, verb, "/jobs/{job}"+below, right, summary), found(do))
}
