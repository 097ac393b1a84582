package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/rollout"
	"github.com/weirhq/weir/internal/rollout/target"
)

// Rollouts keeps databases and brings changes to them. [*rollout.Store] does.
type Rollouts interface {
	PutDatabase(ctx context.Context, by string, d rollout.Database, dsn string) (rollout.Database, error)
	Databases(ctx context.Context, f rollout.DatabaseFilter, page view.Page) ([]rollout.Database, error)
	Database(ctx context.Context, name string) (rollout.Database, error)
	DatabaseHistory(ctx context.Context, name string, page view.Page) ([]target.Entry, error)

	Preview(ctx context.Context, p rollout.Plan, o rollout.PreviewOptions) (rollout.Preview, error)
	Create(ctx context.Context, by string, p rollout.Plan, idempotencyKey string) (rollout.Rollout, error)
	Replace(ctx context.Context, by string, id weir.ID, p rollout.Plan) (rollout.Rollout, error)
	Rollouts(ctx context.Context, f rollout.Filter, page view.Page) ([]rollout.Rollout, error)
	TaskPage(ctx context.Context, id weir.ID, f rollout.TaskFilter, page view.Page) ([]rollout.Task, error)
}

// rollouts are those of this server.
func (a *API) rollouts() (Rollouts, error) {
	if a.config.Rollouts == nil {
		return nil, problem.New(problem.NotFound, "ask the server that does", "this server rolls nothing out")
	}
	return a.config.Rollouts, nil
}

// PlanBody is what a rollout is asked to do.
type PlanBody struct {
	Name       string      `json:"name" maxLength:"200" doc:"For people, such as orders-2026-11."`
	Stages     []StageBody `json:"stages" maxItems:"1000" doc:"In their order: one begins when the one before is complete."`
	Files      []FileBody  `json:"files" maxItems:"10000" doc:"The changes. The name of a file gives its version: V001__x.sql, 0001_x.sql, 20260101120000_x.sql, 0001_x.up.sql."`
	Parallel   int         `json:"parallel,omitempty" minimum:"0" maximum:"100000" doc:"How many runs may go on at once. Left out: no limit but one per database."`
	OutOfOrder bool        `json:"out_of_order,omitempty" doc:"Allow versions below the newest one that is applied."`
	RunAt      *time.Time  `json:"run_at,omitempty" doc:"Nothing runs before."`
	Note       string      `json:"note,omitempty" maxLength:"2000"`
}

// StageBody is a group of databases. A stage of a name alone takes the databases
// of the environment of that name.
type StageBody struct {
	Name        string            `json:"name" maxLength:"200"`
	Environment string            `json:"environment,omitempty" maxLength:"200" doc:"Take the databases of this environment."`
	Databases   []string          `json:"databases,omitempty" maxItems:"10000" doc:"Take these."`
	Labels      map[string]string `json:"labels,omitempty" doc:"Take those that have these labels."`
	Approvals   int               `json:"approvals,omitempty" minimum:"0" maximum:"20" doc:"How many people must say yes before it begins."`
	Promote     string            `json:"promote,omitempty" enum:"auto,manual" doc:"auto: it begins when the stage before is complete; manual: a person lets it begin. Default: auto."`
	OnFailure   string            `json:"on_failure,omitempty" enum:"stop,continue,at_most" doc:"stop: nothing new starts in it; continue; at_most: max_failures are borne. Default: stop."`
	MaxFailures int               `json:"max_failures,omitempty" minimum:"0" maximum:"100000"`
	Canary      int               `json:"canary,omitempty" minimum:"0" maximum:"100000" doc:"So many of its databases go first."`
}

// FileBody is a file of SQL.
type FileBody struct {
	Name string `json:"name" maxLength:"300"`
	Text string `json:"text"`
}

func (b *PlanBody) plan() rollout.Plan {
	p := rollout.Plan{Name: b.Name, Parallel: b.Parallel, OutOfOrder: b.OutOfOrder, RunAt: b.RunAt, Note: b.Note}
	for _, s := range b.Stages {
		p.Stages = append(p.Stages, rollout.Stage(s))
	}
	for _, f := range b.Files {
		p.Files = append(p.Files, rollout.File(f))
	}
	return p
}

// PreviewInput asks what a plan would do.
type PreviewInput struct {
	Body struct {
		PlanBody
		Offline bool `json:"offline,omitempty" doc:"Do not look at the databases: what is applied there is then not known."`
	}
}

func (a *API) previewRollout(ctx context.Context, in *PreviewInput) (*One[rollout.Preview], error) {
	store, err := a.rollouts()
	if err != nil {
		return nil, err
	}
	return one(store.Preview(ctx, in.Body.plan(), rollout.PreviewOptions{Offline: in.Body.Offline}))
}

// CreateRolloutInput makes a rollout.
type CreateRolloutInput struct {
	KeyInput
	Body struct {
		PlanBody
		IdempotencyKey string `json:"idempotency_key,omitempty" maxLength:"200" doc:"The same key gives the same rollout."`
	}
}

// RolloutMade is a rollout that was asked for.
type RolloutMade struct {
	rollout.Rollout
	Existed bool `json:"existed,omitempty" doc:"A rollout with this idempotency key was there already: nothing new was made."`
}

func (a *API) createRollout(ctx context.Context, in *CreateRolloutInput) (*Made[RolloutMade], error) {
	store, err := a.rollouts()
	if err != nil {
		return nil, err
	}
	key, err := in.key(ctx, in.Body.IdempotencyKey)
	if err != nil {
		return nil, err
	}
	var r rollout.Rollout
	_, existed, err := a.existed(ctx, key, func() (weir.ID, error) {
		r, err = store.Create(ctx, auth.From(ctx).By(), in.Body.plan(), key)
		return r.ID, err
	})
	if err != nil {
		return nil, err
	}
	out := &Made[RolloutMade]{Status: http.StatusCreated, Location: location("rollouts", r.ID.String()), Body: RolloutMade{r, existed}}
	if existed {
		out.Status = http.StatusOK
	}
	return out, nil
}

func madeRollout(r rollout.Rollout, err error) (*Made[rollout.Rollout], error) {
	if err != nil {
		return nil, err
	}
	return &Made[rollout.Rollout]{Status: http.StatusCreated, Location: location("rollouts", r.ID.String()), Body: r}, nil
}

// RolloutInput names a rollout.
type RolloutInput struct {
	Rollout string `path:"rollout" maxLength:"64" doc:"The id, whole or its end."`
}

// rolloutID reads which rollout is meant. A rollout is a job.
func (a *API) rolloutID(ctx context.Context, in RolloutInput) (Rollouts, weir.ID, error) {
	store, err := a.rollouts()
	if err != nil {
		return nil, weir.ID{}, err
	}
	id, err := a.named(ctx, "rollout", a.config.Store.RolloutID, in.Rollout)
	return store, id, err
}

// ReplaceRolloutInput edits a rollout.
type ReplaceRolloutInput struct {
	RolloutInput
	Body PlanBody
}

// replaceRollout answers with the rollout that takes the old one's place.
func (a *API) replaceRollout(ctx context.Context, in *ReplaceRolloutInput) (*Made[rollout.Rollout], error) {
	store, id, err := a.rolloutID(ctx, in.RolloutInput)
	if err != nil {
		return nil, err
	}
	return madeRollout(store.Replace(ctx, auth.From(ctx).By(), id, in.Body.plan()))
}

// ListRolloutsInput narrows the list.
type ListRolloutsInput struct {
	PageInput
	State    string `query:"state" enum:"not_started,running,waiting,paused,done,failed,canceled" doc:"Only rollouts in this state."`
	Search   string `query:"search" maxLength:"200" doc:"Only rollouts with this in their name."`
	Database string `query:"database" maxLength:"200" doc:"Only rollouts with a task in this database."`
}

func (a *API) listRollouts(ctx context.Context, in *ListRolloutsInput) (*Listed[rollout.Rollout], error) {
	store, err := a.rollouts()
	if err != nil {
		return nil, err
	}
	list, err := store.Rollouts(ctx, rollout.Filter{State: in.State, Search: in.Search, Database: in.Database}, in.page())
	if err != nil {
		return nil, err
	}
	return listed(ctx, list, in.Limit, func(r rollout.Rollout) string { return r.ID.String() }), nil
}

// RolloutTasksInput narrows the tasks of a rollout.
type RolloutTasksInput struct {
	RolloutInput
	PageInput
	Status   string `query:"status" enum:"NOT_STARTED,PENDING,AVAILABLE,RUNNING,DONE,FAILED,CANCELED,UNKNOWN,SKIPPED" doc:"Only tasks of this status."`
	Stage    string `query:"stage" maxLength:"200" doc:"Only tasks of this stage."`
	Database string `query:"database" maxLength:"200" doc:"Only tasks of this database."`
	Key      string `query:"key" maxLength:"300" doc:"Only the task STAGE/DATABASE/VERSION."`
}

func (a *API) rolloutTasks(ctx context.Context, in *RolloutTasksInput) (*Listed[rollout.Task], error) {
	store, id, err := a.rolloutID(ctx, in.RolloutInput)
	if err != nil {
		return nil, err
	}
	tasks, err := store.TaskPage(ctx, id, rollout.TaskFilter{Status: in.Status, Stage: in.Stage, Database: in.Database, Key: in.Key}, in.page())
	if err != nil {
		return nil, err
	}
	return listed(ctx, tasks, in.Limit, func(t rollout.Task) string { return t.ID.String() }), nil
}
