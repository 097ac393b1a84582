package work

import (
	"context"
	"net/http"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/reason"
)

// NamedTask names a task.
type NamedTask struct {
	Task string `path:"task" flag:"ID" maxLength:"300" doc:"The id, whole or its end, or JOB/STEP with its slash escaped: id of a job, key of a task."`
}

// TaskFilter selects tasks.
type TaskFilter struct {
	State   weir.State `query:"state" json:"state,omitempty" doc:"Only tasks in this state."`
	Service string     `query:"service" json:"service,omitempty" doc:"Only tasks of this service."`
	Gate    weir.Gate  `query:"gate" json:"gate,omitempty" doc:"Only tasks that wait at this gate."`
	Pool    string     `query:"pool" json:"pool,omitempty" doc:"Only tasks of this pool."`
	Lane    string     `query:"lane" json:"lane,omitempty" doc:"Only tasks of this lane."`
	Key     string     `query:"key" json:"key,omitempty" doc:"Only tasks with this key."`
	Worker  string     `query:"worker" json:"worker,omitempty" doc:"Only tasks that run on this worker."`
	Node    string     `query:"node" json:"node,omitempty" doc:"Only tasks that run on this node."`
	Job     string     `query:"job" json:"job,omitempty" maxLength:"64" doc:"Only tasks of this job: its id, whole or its end."`
	Since   time.Time  `query:"since" json:"since,omitzero" doc:"Only tasks that were made since."`
}

// TasksOf turns a filter of the store into the form that people use.
func TasksOf(f view.TaskFilter) TaskFilter {
	return TaskFilter{f.State, f.Service, f.Gate, f.Pool, f.Lane, f.Key, f.Worker, f.Node, spelled(f.Job), f.Since}
}

func (f *TaskFilter) read(ctx context.Context, s *Store) (out view.TaskFilter, err error) {
	out = view.TaskFilter{
		State: f.State, Service: f.Service, Gate: f.Gate, Pool: f.Pool, Lane: f.Lane, Key: f.Key, Worker: f.Worker, Node: f.Node, Since: f.Since,
	}
	out.Job, err = maybe(ctx, "job", s.View.JobID, f.Job)
	return out, err
}

// ListingTasks narrows the list of tasks.
type ListingTasks struct {
	op.Paged
	TaskFilter
}

// Deciding is a command on a task that may have a reason.
type Deciding struct {
	NamedTask
	Body *op.DecisionBody
}

// Prioritizing changes the order of waiting tasks.
type Prioritizing struct {
	NamedTask
	Body struct {
		Priority int `json:"priority" minimum:"-100" maximum:"100"`
	}
}

// CancelOutput tells whether the task has ended or was asked to.
type CancelOutput struct {
	Ended bool `json:"ended" doc:"True: it is canceled. False: it runs and was asked to stop."`
}

// Reason is one gate of a task or a job.
type Reason struct {
	Gate    string         `json:"gate"`
	Open    bool           `json:"open"`
	Text    string         `json:"reason" doc:"The reason for people, in English."`
	Code    string         `json:"code,omitempty" doc:"The kind of reason, for programs."`
	Args    map[string]any `json:"args,omitempty" doc:"What the code is about: names, counts, seconds, times."`
	Blocker weir.ID        `json:"blocker,omitzero"`
	Since   time.Time      `json:"since,omitzero"`
}

// In returns the reason for people in a language.
func (r Reason) In(language string) string {
	return (&reason.Coded{Code: r.Code, Args: r.Args}).In(language, r.Text)
}

// Named reports whether that begins with a name, which is written as it is.
func (r Reason) Named(language string) bool { return reason.Named(language, r.Code) }

func reasonsOf(reasons []weir.Reason, err error) (op.Page[Reason], error) {
	out := make([]Reason, len(reasons))
	for i, r := range reasons {
		out[i] = Reason(r)
	}
	return op.PageOf(out, ""), err
}

// Reads of tasks.
var (
	ListTasks = op.New(on("task", http.MethodGet, "list", "/tasks", auth.Read, "List tasks"),
		func(ctx context.Context, s *Store, _ auth.Subject, in *ListingTasks) (out op.Page[view.Task], err error) {
			f, err := in.read(ctx, s)
			if err != nil {
				return out, err
			}
			return paged(s.View.TaskPage(ctx, f, in.Page()))
		})
	ShowTask = readsTask("show", "", "Show a task",
		func(ctx context.Context, s *Store, id weir.ID) (view.Task, error) { return s.View.Task(ctx, id) })
	WhyTask = readsTask("why", "/why", "Say why a task is where it is, gate by gate",
		func(ctx context.Context, s *Store, id weir.ID) (op.Page[Reason], error) {
			return reasonsOf(s.Client.Why(ctx, id))
		})
	TaskEvents = readsTask("events", "/events", "Show the life of a task, oldest first: its moves, and the newest 1,000 lines of the rest",
		func(ctx context.Context, s *Store, id weir.ID) (op.Page[view.Event], error) {
			return whole(s.View.TaskEvents(ctx, id))
		})
	TaskAttempts = readsTask("attempts", "/attempts", "List the attempts at a task",
		func(ctx context.Context, s *Store, id weir.ID) (op.Page[view.Attempt], error) {
			return whole(s.View.Attempts(ctx, id))
		})
)

// Commands on tasks.
var (
	CancelTask = onTask(http.MethodPost, "cancel", auth.Command, "Cancel a task",
		func(ctx context.Context, s *Store, who auth.Subject, id weir.ID, in *Deciding) (out CancelOutput, err error) {
			out.Ended, err = s.Client.Cancel(ctx, id, decided(who, in.Body))
			return out, err
		})
	RetryTask = onTask(http.MethodPost, "retry", auth.Command, "Give a task that ended badly a new round of attempts",
		func(ctx context.Context, s *Store, who auth.Subject, id weir.ID, _ *NamedTask) (op.Nothing, error) {
			return op.Nothing{}, s.Client.Retry(ctx, id, who.By())
		})
	SkipTask = onTask(http.MethodPost, "skip", auth.Override, "Decide that a task need not run",
		func(ctx context.Context, s *Store, who auth.Subject, id weir.ID, in *Deciding) (op.Nothing, error) {
			return op.Nothing{}, s.Client.Skip(ctx, id, decided(who, in.Body))
		})
	HoldTask = onTask(http.MethodPost, "hold", auth.Command, "Keep a task from starting",
		func(ctx context.Context, s *Store, who auth.Subject, id weir.ID, in *Deciding) (op.Nothing, error) {
			return op.Nothing{}, s.Client.Hold(ctx, id, decided(who, in.Body))
		})
	ReleaseTask = onTask(http.MethodPost, "release", auth.Command, "Let a held task go on",
		func(ctx context.Context, s *Store, who auth.Subject, id weir.ID, in *Deciding) (op.Nothing, error) {
			return op.Nothing{}, s.Client.Approve(ctx, id, decided(who, in.Body))
		})
	RefuseTask = onTask(http.MethodPost, "refuse", auth.Command, "Decide that a held task must not run: it fails",
		func(ctx context.Context, s *Store, who auth.Subject, id weir.ID, in *Deciding) (op.Nothing, error) {
			return op.Nothing{}, s.Client.Refuse(ctx, id, decided(who, in.Body))
		})
	SetPriority = onTask(http.MethodPut, "priority", auth.Command, "Change the priority of a task that waits",
		func(ctx context.Context, s *Store, who auth.Subject, id weir.ID, in *Prioritizing) (op.Nothing, error) {
			return op.Nothing{}, s.Client.SetPriority(ctx, id, in.Body.Priority, who.By())
		})
)

// readsTask describes a read of a task.
func readsTask[Out any](verb, below, summary string,
	do func(ctx context.Context, s *Store, id weir.ID) (Out, error),
) *op.Op[*Store, NamedTask, Out] {
	return op.New(on("task", http.MethodGet, verb, "/tasks/{task}"+below, auth.Read, summary),
		func(ctx context.Context, s *Store, _ auth.Subject, in *NamedTask) (out Out, err error) {
			id, err := in.find(ctx, s)
			if err != nil {
				return out, err
			}
			return do(ctx, s, id)
		})
}

// named is an input that names a task or a job.
type named interface {
	find(ctx context.Context, s *Store) (weir.ID, error)
}

// onTask describes a command on a task.
func onTask[In, Out any](method, verb string, right auth.Verb, summary string,
	do func(ctx context.Context, s *Store, who auth.Subject, id weir.ID, in *In) (Out, error),
) *op.Op[*Store, In, Out] {
	return op.New(on("task", method, verb, "/tasks/{task}/"+verb, right, summary), found(do))
}

// found calls a function with the task or the job that the input names.
func found[In, Out any](
	do func(ctx context.Context, s *Store, who auth.Subject, id weir.ID, in *In) (Out, error),
) func(context.Context, *Store, auth.Subject, *In) (Out, error) {
	return func(ctx context.Context, s *Store, who auth.Subject, in *In) (out Out, err error) {
		id, err := any(in).(named).find(ctx, s)
		if err != nil {
			return out, err
		}
		return do(ctx, s, who, id, in)
	}
}

// decided returns a decision in the form of the timeline.
func decided(who auth.Subject, body *op.DecisionBody) weir.Decision {
	return weir.Decision{By: who.By(), Reason: op.Given(body).Reason, Names: who.Names()}
}

// paged returns a page whose next one the store knows; whole returns a list that has no
// pages.
func paged[T any](rows []T, next string, err error) (op.Page[T], error) {
	return op.PageOf(rows, next), err
}

func whole[T any](rows []T, err error) (op.Page[T], error) { return op.PageOf(rows, ""), err }
