package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/op"
)

// TaskInput names a task.
type TaskInput struct {
	Task string `path:"task" maxLength:"64" doc:"The id, whole or its end."`
}

func (a *API) taskID(ctx context.Context, in TaskInput) (weir.ID, error) {
	return a.named(ctx, "task", a.config.Store.TaskID, in.Task)
}

// ListTasksInput narrows the list.
type ListTasksInput struct {
	op.Paged
	State   string `query:"state" doc:"Only tasks in this state."`
	Service string `query:"service" doc:"Only tasks of this service."`
	Gate    string `query:"gate" doc:"Only tasks that wait at this gate."`
	Pool    string `query:"pool" doc:"Only tasks of this pool."`
	Lane    string `query:"lane" doc:"Only tasks of this lane."`
	Key     string `query:"key" doc:"Only tasks with this key."`
	Worker  string `query:"worker" doc:"Only tasks that run on this worker."`
	Node    string `query:"node" doc:"Only tasks that run on this node."`
	Job     string `query:"job" maxLength:"64" doc:"Only tasks of this job: its id, whole or its end."`

	Since time.Time `query:"since" doc:"Only tasks that were made since."`
}

func (a *API) listTasks(ctx context.Context, in *ListTasksInput) (*Listed[view.Task], error) {
	f := view.TaskFilter{State: in.State, Service: in.Service, Gate: in.Gate, Pool: in.Pool, Lane: in.Lane, Key: in.Key, Worker: in.Worker, Node: in.Node, Since: in.Since}
	if in.Job != "" {
		job, err := a.named(ctx, "job", a.config.Store.JobID, in.Job)
		if err != nil {
			return nil, err
		}
		f.Job = job
	}
	tasks, next, err := a.config.Store.TaskPage(ctx, f, in.Page())
	if err != nil {
		return nil, err
	}
	return pageOf(ctx, tasks, "after", next), nil
}

// Submitted says which task a submission led to.
type Submitted struct {
	ID      weir.ID `json:"id"`
	Existed bool    `json:"existed" doc:"A task with the same key was there already; nothing was written."`
}

// Made is the answer of a create: 201, or 200 if it was there already.
type Made[T any] struct {
	Status   int
	Location string `header:"Location" doc:"Where it is."`
	Body     T
}

// SubmitTaskInput is one task.
type SubmitTaskInput struct {
	op.Keyed
	Body TaskSpec
}

func (a *API) submitTask(ctx context.Context, in *SubmitTaskInput) (*Made[Submitted], error) {
	if err := mayRun(ctx, in.Body); err != nil {
		return nil, err
	}
	task := in.Body.task()
	var err error
	if task.IdempotencyKey, err = in.Key(auth.From(ctx), task.IdempotencyKey); err != nil {
		return nil, err
	}
	receipt, err := a.config.Commands.Submit(ctx, task)
	if err != nil {
		return nil, single(err)
	}
	out := &Made[Submitted]{Status: http.StatusCreated, Location: location("tasks", receipt.ID.String()), Body: Submitted{receipt.ID, receipt.Existed}}
	if receipt.Existed {
		out.Status = http.StatusOK
	}
	return out, nil
}

// SubmitTasksInput is a batch: all of it is taken, or nothing.
type SubmitTasksInput struct {
	op.Keyed
	Body struct {
		Tasks []TaskSpec `json:"tasks" minItems:"1" maxItems:"5000"`
	}
}

func (a *API) submitTasks(ctx context.Context, in *SubmitTasksInput) (*Made[op.Page[Submitted]], error) {
	if err := mayRun(ctx, in.Body.Tasks...); err != nil {
		return nil, err
	}
	tasks := make([]weir.Task, len(in.Body.Tasks))
	for i := range tasks {
		tasks[i] = in.Body.Tasks[i].task()
		tasks[i].IdempotencyKey = nth(ctx, in.Keyed, tasks[i].IdempotencyKey, i)
	}
	receipts, err := a.config.Commands.SubmitMany(ctx, tasks)
	if err != nil {
		return nil, err
	}
	out := &Made[op.Page[Submitted]]{Status: http.StatusCreated, Body: op.Page[Submitted]{Items: make([]Submitted, len(receipts))}}
	for i, r := range receipts {
		out.Body.Items[i] = Submitted{r.ID, r.Existed}
	}
	return out, nil
}

func (a *API) showTask(ctx context.Context, in *TaskInput) (*One[view.Task], error) {
	id, err := a.taskID(ctx, *in)
	if err != nil {
		return nil, err
	}
	return one(a.config.Store.Task(ctx, id))
}

// Reason is one gate of a task or a job.
type Reason struct {
	Gate    string    `json:"gate"`
	Open    bool      `json:"open"`
	Reason  string    `json:"reason"`
	Blocker weir.ID   `json:"blocker,omitzero"`
	Since   time.Time `json:"since,omitzero"`
}

func (a *API) whyTask(ctx context.Context, in *TaskInput) (*All[Reason], error) {
	id, err := a.taskID(ctx, *in)
	if err != nil {
		return nil, err
	}
	reasons, err := a.config.Commands.Why(ctx, id)
	if err != nil {
		return nil, err
	}
	return all(reasonsOf(reasons)), nil
}

func reasonsOf(reasons []weir.Reason) []Reason {
	out := make([]Reason, len(reasons))
	for i, r := range reasons {
		out[i] = Reason{r.Gate, r.Open, r.Text, r.Blocker, r.Since}
	}
	return out
}

func (a *API) taskEvents(ctx context.Context, in *TaskInput) (*All[view.Event], error) {
	id, err := a.taskID(ctx, *in)
	if err != nil {
		return nil, err
	}
	events, err := a.config.Store.TaskEvents(ctx, id)
	if err != nil {
		return nil, err
	}
	return all(events), nil
}

func (a *API) taskAttempts(ctx context.Context, in *TaskInput) (*All[view.Attempt], error) {
	id, err := a.taskID(ctx, *in)
	if err != nil {
		return nil, err
	}
	attempts, err := a.config.Store.Attempts(ctx, id)
	if err != nil {
		return nil, err
	}
	return all(attempts), nil
}

// DecisionBody says why. Who is known.
type DecisionBody = op.DecisionBody

// DecisionInput is a command on a task. The body may be left out.
type DecisionInput struct {
	TaskInput
	Body *DecisionBody
}

func (in *DecisionInput) decision(ctx context.Context) weir.Decision {
	return decision(ctx, in.Body)
}

func decision(ctx context.Context, body *DecisionBody) weir.Decision {
	return weir.Decision{By: auth.From(ctx).By(), Reason: op.Given(body).Reason}
}

// CancelOutput says whether it has ended or was asked to.
type CancelOutput struct {
	Ended bool `json:"ended" doc:"True: it is canceled. False: it runs and was asked to stop."`
}

func (a *API) cancelTask(ctx context.Context, in *DecisionInput) (*One[CancelOutput], error) {
	id, err := a.taskID(ctx, in.TaskInput)
	if err != nil {
		return nil, err
	}
	ended, err := a.config.Commands.Cancel(ctx, id, in.decision(ctx))
	return one(CancelOutput{ended}, err)
}

func (a *API) retryTask(ctx context.Context, in *TaskInput) (*Empty, error) {
	return a.onTask(ctx, *in, func(id weir.ID) error { return a.config.Commands.Retry(ctx, id, auth.From(ctx).By()) })
}

func (a *API) skipTask(ctx context.Context, in *DecisionInput) (*Empty, error) {
	return a.onTask(ctx, in.TaskInput, func(id weir.ID) error { return a.config.Commands.Skip(ctx, id, in.decision(ctx)) })
}

func (a *API) holdTask(ctx context.Context, in *DecisionInput) (*Empty, error) {
	return a.onTask(ctx, in.TaskInput, func(id weir.ID) error { return a.config.Commands.Hold(ctx, id, in.decision(ctx)) })
}

func (a *API) releaseTask(ctx context.Context, in *TaskInput) (*Empty, error) {
	return a.onTask(ctx, *in, func(id weir.ID) error { return a.config.Commands.Release(ctx, id, auth.From(ctx).By()) })
}

// PriorityInput changes the order of what waits.
type PriorityInput struct {
	TaskInput
	Body struct {
		Priority int `json:"priority" minimum:"-100" maximum:"100"`
	}
}

func (a *API) setPriority(ctx context.Context, in *PriorityInput) (*Empty, error) {
	return a.onTask(ctx, in.TaskInput, func(id weir.ID) error {
		return a.config.Commands.SetPriority(ctx, id, in.Body.Priority, auth.From(ctx).By())
	})
}

func (a *API) onTask(ctx context.Context, in TaskInput, f func(weir.ID) error) (*Empty, error) {
	id, err := a.taskID(ctx, in)
	if err != nil {
		return nil, err
	}
	return nil, f(id)
}
