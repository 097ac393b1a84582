package httpapi

import (
	"context"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/engine/bulk"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/problem"
)

// Bulk does the same to all tasks or jobs of a filter. [*bulk.Doer] does.
type Bulk interface {
	ChangeTasks(ctx context.Context, f view.TaskFilter, o bulk.Order) (bulk.Result, error)
	ChangeJobs(ctx context.Context, f view.JobFilter, o bulk.Order) (bulk.Result, error)
}

func (a *API) bulk() (Bulk, error) {
	if a.config.Bulk == nil {
		return nil, problem.New(problem.NotFound, "ask the server that does", "this server changes things one at a time")
	}
	return a.config.Bulk, nil
}

// BulkOrder is what both bulk routes take.
type BulkOrder struct {
	Reason string `json:"reason,omitempty" maxLength:"1000" doc:"For people; goes to the timeline."`
	DryRun bool   `json:"dry_run,omitempty" doc:"Count and show some; change nothing."`
	Limit  int    `json:"limit,omitempty" minimum:"1" maximum:"1000" doc:"How many at most in this call. Default: 500."`
	After  string `json:"after,omitempty" maxLength:"64" doc:"The next of the call before."`
}

func (o BulkOrder) order(ctx context.Context, action string) bulk.Order {
	return bulk.Order{Action: action, Decision: weir.Decision{By: auth.From(ctx).By(), Reason: o.Reason}, Limit: o.Limit, After: o.After, DryRun: o.DryRun}
}

// BulkOutput says what became of it.
type BulkOutput struct {
	Matched int           `json:"matched" doc:"How many were found by this call; with dry_run, all of them up to 10,000."`
	Changed int           `json:"changed"`
	Moved   int           `json:"moved" doc:"Those that had got into another state by themselves before it was their turn."`
	Refused []BulkRefusal `json:"refused" doc:"Those that stayed as they are."`
	Sample  []BulkItem    `json:"sample,omitempty" doc:"With dry_run: some of them."`
	More    bool          `json:"more" doc:"There may be more: send the call again with next as after."`
	Next    string        `json:"next,omitempty"`
}

// BulkRefusal is a thing that did not change.
type BulkRefusal struct {
	ID  weir.ID `json:"id"`
	Why string  `json:"why"`
}

// BulkItem is a thing in a few words.
type BulkItem struct {
	ID    weir.ID `json:"id"`
	Name  string  `json:"name"`
	State string  `json:"state"`
}

func bulkOutput(r bulk.Result, err error) (*One[BulkOutput], error) {
	out := BulkOutput{Matched: r.Matched, Changed: r.Changed, Moved: r.Moved, Refused: make([]BulkRefusal, len(r.Refused)), More: r.Next != "", Next: r.Next}
	for i, refused := range r.Refused {
		out.Refused[i] = BulkRefusal(refused)
	}
	for _, item := range r.Sample {
		out.Sample = append(out.Sample, BulkItem(item))
	}
	return one(out, err)
}

// BulkTaskFilter chooses tasks, as the list of tasks does.
type BulkTaskFilter struct {
	State   string    `json:"state,omitempty" doc:"Only tasks in this state."`
	Service string    `json:"service,omitempty" doc:"Only tasks of this service."`
	Gate    string    `json:"gate,omitempty" doc:"Only tasks that wait at this gate."`
	Pool    string    `json:"pool,omitempty" doc:"Only tasks of this pool."`
	Lane    string    `json:"lane,omitempty" doc:"Only tasks of this lane."`
	Key     string    `json:"key,omitempty" doc:"Only tasks with this key."`
	Worker  string    `json:"worker,omitempty" doc:"Only tasks that run on this worker."`
	Node    string    `json:"node,omitempty" doc:"Only tasks that run on this node."`
	Job     string    `json:"job,omitempty" maxLength:"64" doc:"Only tasks of this job: its id, whole or its end."`
	Since   time.Time `json:"since,omitzero" doc:"Only tasks that were made since."`
}

// BulkTasksInput does something to many tasks.
type BulkTasksInput struct {
	Body struct {
		BulkOrder
		Action   string         `json:"action" enum:"cancel,retry,skip,hold,release,priority"`
		Filter   BulkTaskFilter `json:"filter" doc:"Which tasks. It must not be empty."`
		Priority *int           `json:"priority,omitempty" minimum:"-100" maximum:"100" doc:"The new one, for the action priority."`
	}
}

func (a *API) bulkTasks(ctx context.Context, in *BulkTasksInput) (*One[BulkOutput], error) {
	doer, err := a.bulk()
	if err != nil {
		return nil, err
	}
	b := &in.Body
	// What lets others go on takes more, one by one or all at once.
	if b.Action == bulk.Skip {
		if err := auth.Allow(auth.From(ctx), auth.Override, auth.Object{Kind: "task"}); err != nil {
			return nil, err
		}
	}
	order := b.order(ctx, b.Action)
	switch {
	case b.Priority != nil:
		order.Priority = *b.Priority
	case b.Action == bulk.Priority:
		return nil, problem.Refuse("priority", "give a number from -100 to 100", "is missing")
	}
	f := b.Filter
	filter := view.TaskFilter{State: f.State, Service: f.Service, Gate: f.Gate, Pool: f.Pool, Lane: f.Lane, Key: f.Key, Worker: f.Worker, Node: f.Node, Since: f.Since}
	if f.Job != "" {
		if filter.Job, err = a.named(ctx, "job", a.config.Store.JobID, f.Job); err != nil {
			return nil, err
		}
	}
	return bulkOutput(doer.ChangeTasks(ctx, filter, order))
}

// BulkJobFilter chooses jobs, as the list of jobs does.
type BulkJobFilter struct {
	State    string    `json:"state,omitempty" doc:"Only jobs in this state."`
	Kind     string    `json:"kind,omitempty" doc:"Only jobs of this kind."`
	Name     string    `json:"name,omitempty" doc:"Only jobs of this name; with * at its end, whose name begins so."`
	Workflow string    `json:"workflow,omitempty" doc:"Only runs of the workflow of this name."`
	Schedule string    `json:"schedule,omitempty" doc:"Only jobs that this schedule made."`
	Parent   string    `json:"parent,omitempty" maxLength:"64" doc:"Only jobs that this task waits for: its id, whole or its end."`
	Origin   string    `json:"origin,omitempty" maxLength:"64" doc:"Only jobs that repeat this one: its id, whole or its end."`
	Of       string    `json:"of,omitempty" maxLength:"64" doc:"Only jobs that steps of this job wait for: its id, whole or its end."`
	Since    time.Time `json:"since,omitzero" doc:"Only jobs that were made since."`
}

// BulkJobsInput does something to many jobs.
type BulkJobsInput struct {
	Body struct {
		BulkOrder
		Action string        `json:"action" enum:"cancel,retry"`
		Filter BulkJobFilter `json:"filter" doc:"Which jobs. It must not be empty."`
	}
}

func (a *API) bulkJobs(ctx context.Context, in *BulkJobsInput) (*One[BulkOutput], error) {
	doer, err := a.bulk()
	if err != nil {
		return nil, err
	}
	f := in.Body.Filter
	filter, err := a.jobFilter(ctx, &ListJobsInput{State: f.State, Kind: f.Kind, Name: f.Name, Workflow: f.Workflow, Schedule: f.Schedule, Parent: f.Parent, Origin: f.Origin, Of: f.Of, Since: f.Since})
	if err != nil {
		return nil, err
	}
	return bulkOutput(doer.ChangeJobs(ctx, filter, in.Body.order(ctx, in.Body.Action)))
}
