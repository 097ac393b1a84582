package rollout

import (
	"context"
	"net/http"
	"strings"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/op"
)

// Listing narrows the list of rollouts.
type Listing struct {
	op.Paged
	Filter
}

// Planning asks what a plan would do.
type Planning struct {
	Body PreviewBody
}

// PreviewBody is a plan, and how far to look.
type PreviewBody struct {
	Plan
	PreviewOptions
}

// Creating makes a rollout.
type Creating struct {
	op.Keyed
	Body CreateBody
}

// CreateBody is a plan to freeze.
type CreateBody struct {
	Plan
	IdempotencyKey string `json:"idempotency_key,omitempty" maxLength:"200" doc:"The same key gives the same rollout."`
}

// Replacing puts another plan in the place of one.
type Replacing struct {
	Named
	Body Plan
}

// Made is a rollout that was asked for.
type Made struct {
	Rollout
	Existed bool `json:"existed,omitempty" doc:"A rollout with this idempotency key was there already: nothing new was made."`
}

// Place implements [op.Made].
func (m Made) Place() []string { return []string{"rollouts", m.ID.String()} }

// Found implements [op.Made].
func (m Made) Found() bool { return m.Existed }

// Rollouts as such.
var (
	List = op.List(onRollouts(http.MethodGet, "list", "", auth.Read, "List rollouts, newest first"),
		func(ctx context.Context, s *Store, _ auth.Subject, in *Listing) ([]Rollout, error) {
			return s.Rollouts(ctx, in.Filter, in.Page())
		},
		func(r Rollout) string { return r.ID.String() })
	Foresee = op.New(large(onRollouts(http.MethodPost, "plan", "/preview", auth.Submit, "Say what a plan would do: order, locks, warnings, what is applied already")),
		func(ctx context.Context, s *Store, _ auth.Subject, in *Planning) (Preview, error) {
			return s.Preview(ctx, in.Body.Plan, in.Body.PreviewOptions)
		})
	Create = op.New(large(onRollouts(http.MethodPost, "create", "", auth.Submit, "Create a rollout: freeze a plan. It waits to be started")),
		func(ctx context.Context, s *Store, who auth.Subject, in *Creating) (made Made, err error) {
			key, err := in.Key(who, in.Body.IdempotencyKey)
			if err != nil {
				return made, err
			}
			_, made.Existed, err = view.New(s.pool).Existed(ctx, key, func() (weir.ID, error) {
				made.Rollout, err = s.Create(ctx, who.By(), in.Body.Plan, key)
				return made.ID, err
			})
			return made, err
		})
	Replace = op.New(replacing(onRollouts(http.MethodPut, "create", "/{rollout}", auth.Submit, "Put another plan in the place of one of which nothing has run: a new rollout, without approvals")),
		func(ctx context.Context, s *Store, who auth.Subject, in *Replacing) (made Made, err error) {
			id, err := in.find(ctx, s)
			if err != nil {
				return made, err
			}
			made.Rollout, err = s.Replace(ctx, who.By(), id, in.Body)
			return made, err
		})
)

// onRollouts describes an operation on rollouts as such.
func onRollouts(method, verb, below string, right auth.Verb, summary string) op.Operation {
	return op.Operation{Noun: "rollout", Verb: verb, Method: method, Path: "/rollouts" + below, Right: right, Summary: summary}
}

func large(o op.Operation) op.Operation { o.Large = true; return o }

// replacing: a replacement makes a new rollout, so it must not be sent again by itself.
func replacing(o op.Operation) op.Operation { o.Large, o.Once = true, true; return o }

// Commanded is what a command did, and to what.
type Commanded struct {
	ID weir.ID `json:"id" doc:"The rollout or the task."`
	Answer
}

// Named names a rollout.
type Named struct {
	Rollout string `path:"rollout" flag:"ID" maxLength:"200" doc:"The id, whole or its end, or the name."`
}

// NamedStage names a stage of a rollout.
type NamedStage struct {
	Named
	Stage string `path:"stage" flag:"STAGE" maxLength:"200"`
}

// NamedTask names a task of a rollout.
type NamedTask struct {
	Rollout string `path:"rollout" maxLength:"200" doc:"The id, whole or its end, or the name; - is the rollout of the task."`
	Task    string `path:"task" flag:"TASK" maxLength:"300" doc:"The id, whole or its end, or STAGE/DATABASE/VERSION with its slashes escaped."`
}

// Typed reads what a person types: the id of a task, or ROLLOUT/STAGE/DATABASE/VERSION.
func (n *NamedTask) Typed() {
	name, key, ok := strings.Cut(n.Task, "/")
	if n.Rollout = anyRollout; ok {
		n.Rollout, n.Task = name, key
	}
}

// PauseBody says why.
type PauseBody struct {
	Reason string `json:"reason,omitempty" flag:"note" maxLength:"1000" doc:"Why; it is shown where tasks wait."`
}

// Pausing lets nothing new start.
type Pausing struct {
	Named
	Body *PauseBody
}

// Decision is a command on a rollout that may have a reason.
type Decision struct {
	Named
	Body *op.DecisionBody
}

// TaskDecision is a command on a task that may have a reason.
type TaskDecision struct {
	NamedTask
	Body *op.DecisionBody
}

// SkipBody says why.
type SkipBody struct {
	Reason string `json:"reason" minLength:"1" maxLength:"1000" doc:"Why it need not run; it goes into the history."`
}

// Skipping decides that a change need not run on a database.
type Skipping struct {
	NamedTask
	Body *SkipBody
}

// ConsentBody is what goes with it.
type ConsentBody struct {
	Note string `json:"note,omitempty" maxLength:"1000" doc:"For people; kept with the approval."`
}

// Consent says yes to a stage.
type Consent struct {
	NamedStage
	Body *ConsentBody
}

// Resolution says what became of a run whose outcome nobody knows.
type Resolution struct {
	NamedTask
	Body struct {
		Applied bool   `json:"applied" doc:"true: the change is there, and the task ends DONE; false: it is not, and may be retried."`
		Reason  string `json:"reason" minLength:"1" maxLength:"1000" doc:"How you know."`
	}
}

// Commands on rollouts. Approvals count people: somebody who asks with a token is the
// same person, so they have the name and not what the timeline says.
var (
	Start = commands("start", "", auth.Command, "Let the first stage begin",
		func(ctx context.Context, s *Store, who auth.Subject, id weir.ID, _ *Named) (Answer, error) {
			return s.Start(ctx, who.By(), id)
		})
	Pause = commands("pause", "", auth.Command, "Let nothing new start; what runs goes on",
		func(ctx context.Context, s *Store, who auth.Subject, id weir.ID, in *Pausing) (Answer, error) {
			return s.Pause(ctx, who.By(), id, op.Given(in.Body).Reason)
		})
	Resume = commands("resume", "", auth.Command, "End a pause",
		func(ctx context.Context, s *Store, who auth.Subject, id weir.ID, _ *Named) (Answer, error) {
			return s.Resume(ctx, who.By(), id)
		})
	Abort = commands("abort", "", auth.Override, "Cancel what waits, ask what runs to stop; it cannot be taken back",
		func(ctx context.Context, s *Store, who auth.Subject, id weir.ID, in *Decision) (Answer, error) {
			return s.Abort(ctx, who.By(), id, op.Given(in.Body).Reason)
		})
	Promote = commands("promote", "/stages/{stage}", auth.Command, "Let a stage begin that waits for a person",
		func(ctx context.Context, s *Store, who auth.Subject, id weir.ID, in *NamedStage) (Answer, error) {
			return s.Promote(ctx, who.By(), id, in.Stage)
		})
	Approve = commands("approve", "/stages/{stage}", auth.Override, "Approve a stage of the plan as it is; one person counts once",
		func(ctx context.Context, s *Store, who auth.Subject, id weir.ID, in *Consent) (Answer, error) {
			return s.Approve(ctx, who.Name, id, in.Stage, op.Given(in.Body).Note)
		})
	Revoke = commands("revoke", "/stages/{stage}", auth.Override, "Take one's own approval back, before the stage begins",
		func(ctx context.Context, s *Store, who auth.Subject, id weir.ID, in *NamedStage) (Answer, error) {
			return s.Revoke(ctx, who.Name, id, in.Stage)
		})

	Retry = commands("retry", "/tasks/{task}", auth.Command, "Run a task again that failed or was canceled; sent twice it is one run",
		func(ctx context.Context, s *Store, who auth.Subject, id weir.ID, _ *NamedTask) (Answer, error) {
			return s.Retry(ctx, who.By(), id)
		})
	Cancel = commands("cancel", "/tasks/{task}", auth.Command, "Cancel the run of a task; one that runs is asked to stop",
		func(ctx context.Context, s *Store, who auth.Subject, id weir.ID, in *TaskDecision) (Answer, error) {
			return s.Cancel(ctx, who.By(), id, op.Given(in.Body).Reason)
		})
	Skip = commands("skip", "/tasks/{task}", auth.Override, "Decide that a change need not run on a database; it takes a reason",
		func(ctx context.Context, s *Store, who auth.Subject, id weir.ID, in *Skipping) (Answer, error) {
			return s.Skip(ctx, who.By(), id, op.Given(in.Body).Reason)
		})
	Resolve = commands("resolve", "/tasks/{task}", auth.Override, "Say what became of a run whose outcome nobody knows",
		func(ctx context.Context, s *Store, who auth.Subject, id weir.ID, in *Resolution) (Answer, error) {
			return s.Resolve(ctx, who.By(), id, in.Body.Applied, in.Body.Reason)
		})
)

// OfChange names a change of a rollout.
type OfChange struct {
	Named
	Change string `path:"change" maxLength:"300" doc:"Its version, or its name."`
}

// ListingTasks narrows the tasks of a rollout.
type ListingTasks struct {
	Named
	op.Paged
	TaskFilter
}

// OfRun names a run of a task.
type OfRun struct {
	NamedTask
	Attempt int `path:"attempt" minimum:"0" maximum:"2147483647" doc:"0 is the newest."`
}

// Reads of rollouts.
var (
	Show = reads("show", "", "Show a rollout with its stages, changes and warnings",
		func(ctx context.Context, s *Store, id weir.ID, _ *Named) (Rollout, error) { return s.Rollout(ctx, id) })
	ShowChange = reads("change", "/changes/{change}", "Show a change with its SQL",
		func(ctx context.Context, s *Store, id weir.ID, in *OfChange) (ChangeState, error) {
			return s.Change(ctx, id, in.Change)
		})
	ListTasks = op.List(onRollouts(http.MethodGet, "tasks", "/{rollout}/tasks", auth.Read, "List tasks of a rollout in the order of the plan"),
		func(ctx context.Context, s *Store, _ auth.Subject, in *ListingTasks) ([]Task, error) {
			id, err := in.find(ctx, s)
			if err != nil {
				return nil, err
			}
			return s.TaskPage(ctx, id, in.TaskFilter, in.Page())
		},
		func(t Task) string { return t.ID.String() })
	ShowTask = reads("task", "/tasks/{task}", "Show a task: one change for one database",
		func(ctx context.Context, s *Store, id weir.ID, _ *NamedTask) (Task, error) { return s.Task(ctx, id) })
	ShowRun = reads("log", "/tasks/{task}/runs/{attempt}", "Show a run: statements, waits, sessions, who blocks whom",
		func(ctx context.Context, s *Store, id weir.ID, in *OfRun) (RunReport, error) {
			return s.Run(ctx, id, in.Attempt)
		})
)

// reads describes a read of a rollout, or of what lies below it in the route.
func reads[In, Out any](verb, below, summary string, do func(ctx context.Context, s *Store, id weir.ID, in *In) (Out, error)) *op.Op[*Store, In, Out] {
	o := op.Operation{Noun: "rollout", Verb: verb, Method: http.MethodGet, Path: "/rollouts/{rollout}" + below, Right: auth.Read, Summary: summary}
	return op.New(o, func(ctx context.Context, s *Store, _ auth.Subject, in *In) (out Out, err error) {
		id, err := any(in).(named).find(ctx, s)
		if err != nil {
			return out, err
		}
		return do(ctx, s, id, in)
	})
}

// named is an input that names a rollout, or a task of one.
type named interface {
	find(ctx context.Context, s *Store) (weir.ID, error)
}

// commands describes a command on a rollout, on what lies below it in the route.
func commands[In any](verb, below string, right auth.Verb, summary string, do func(ctx context.Context, s *Store, who auth.Subject, id weir.ID, in *In) (Answer, error)) *op.Op[*Store, In, Commanded] {
	o := op.Operation{Noun: "rollout", Verb: verb, Method: http.MethodPost, Path: "/rollouts/{rollout}" + below + "/" + verb, Right: right, Summary: summary}
	return op.New(o, func(ctx context.Context, s *Store, who auth.Subject, in *In) (Commanded, error) {
		id, err := any(in).(named).find(ctx, s)
		if err != nil {
			return Commanded{}, err
		}
		a, err := do(ctx, s, who, id, in)
		return Commanded{id, a}, err
	})
}
