package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/workflow"
	"github.com/weirhq/weir/internal/workflow/definition"
)

// OptionsBody is what is given to a run of a workflow.
type OptionsBody struct {
	Params map[string]any                    `json:"params,omitempty" doc:"Of the job; checked against the definition's schema."`
	Steps  map[string]definition.StepOptions `json:"steps,omitempty" doc:"Of single steps, by key."`
	Labels map[string]string                 `json:"labels,omitempty" doc:"Required of the node of every step, besides its own."`
}

func (b OptionsBody) options() definition.Options {
	return definition.Options{Params: b.Params, Steps: b.Steps, Labels: b.Labels}
}

// RunInput runs a workflow.
type RunInput struct {
	WorkflowInput
	op.Keyed
	Body struct {
		OptionsBody
		Version        int       `json:"version,omitempty" minimum:"0" maximum:"2147483647" doc:"Left out: the newest active one."`
		At             time.Time `json:"at,omitzero" doc:"When it is due. Left out: now."`
		Priority       *int      `json:"priority,omitempty" minimum:"-100" maximum:"100"`
		IdempotencyKey string    `json:"idempotency_key,omitempty" maxLength:"200" doc:"The same key gives the same job."`
		Trace          string    `json:"trace,omitempty"`
	}
}

// maySkip: a run that leaves out a step takes what skipping its task takes.
func maySkip(ctx context.Context) workflow.MaySkip {
	return func() error { return auth.Allow(auth.From(ctx), auth.Override, auth.Object{Kind: "task"}) }
}

func (a *API) runWorkflow(ctx context.Context, in *RunInput) (*Made[JobMade], error) {
	store, err := a.workflows()
	if err != nil {
		return nil, err
	}
	b := &in.Body
	request := workflow.RunRequest{
		Workflow: in.Workflow, Version: b.Version, Options: b.options(), At: b.At, Priority: b.Priority, Trace: b.Trace, By: auth.From(ctx).By(), MaySkip: maySkip(ctx),
	}
	if request.IdempotencyKey, err = in.Key(auth.From(ctx), b.IdempotencyKey); err != nil {
		return nil, err
	}
	id, existed, err := a.config.Store.Existed(ctx, request.IdempotencyKey, func() (weir.ID, error) { return store.Run(ctx, request) })
	return madeJob(id, existed, err)
}

// madeJob is 201, or 200 if the job was there already.
func madeJob(id weir.ID, existed bool, err error) (*Made[JobMade], error) {
	if err != nil {
		return nil, faulty(err)
	}
	out := &Made[JobMade]{Status: http.StatusCreated, Location: location("jobs", id.String()), Body: JobMade{id, existed}}
	if existed {
		out.Status = http.StatusOK
	}
	return out, nil
}

// PlannedStep is what a run would do with a step.
type PlannedStep struct {
	Key     string            `json:"key"`
	What    string            `json:"what" doc:"runs, skipped, later (known once its needs have ended), items or workflow."`
	Because string            `json:"because,omitempty"`
	Needs   []string          `json:"needs,omitempty"`
	Service string            `json:"service"`
	Labels  map[string]string `json:"labels,omitempty"`
	Pool    string            `json:"pool,omitempty"`
	Hold    string            `json:"hold,omitempty"`
	Task    json.RawMessage   `json:"task,omitempty" doc:"What would be submitted, as far as it is known."`
	Nodes   []string          `json:"nodes,omitempty" doc:"Those that live and could take it."`
	WhyNot  []string          `json:"why_not,omitempty" doc:"What is in the way of the others."`
}

func planned(steps []workflow.Preview) (*All[PlannedStep], error) {
	out := make([]PlannedStep, len(steps))
	for i, s := range steps {
		out[i] = PlannedStep{Key: s.Key, What: s.What, Because: s.Because, Needs: s.Needs, Service: s.Service, Labels: s.Labels, Pool: s.Pool, Hold: s.Hold, Nodes: s.Nodes, WhyNot: s.WhyNot}
		if s.Task != nil {
			var err error
			if out[i].Task, err = json.Marshal(s.Task); err != nil {
				return nil, fmt.Errorf("write the plan of %s: %w", s.Key, err)
			}
		}
	}
	return all(out), nil
}

// PlanInput asks what a run would do.
type PlanInput struct {
	WorkflowInput
	Body *struct {
		OptionsBody
		Version int `json:"version,omitempty" minimum:"0" maximum:"2147483647" doc:"Left out: the newest active one."`
	}
}

func (a *API) planWorkflow(ctx context.Context, in *PlanInput) (*All[PlannedStep], error) {
	store, err := a.workflows()
	if err != nil {
		return nil, err
	}
	version, options := 0, definition.Options{}
	if in.Body != nil {
		version, options = in.Body.Version, in.Body.options()
	}
	steps, err := store.Plan(ctx, in.Workflow, version, options)
	if err != nil {
		return nil, faulty(err)
	}
	return planned(steps)
}

// PlanDefinitionInput asks what a run of a definition that is not stored would
// do.
type PlanDefinitionInput struct {
	Body struct {
		DefinitionBody
		OptionsBody
	}
}

func (a *API) planDefinition(ctx context.Context, in *PlanDefinitionInput) (*All[PlannedStep], error) {
	store, err := a.workflows()
	if err != nil {
		return nil, err
	}
	d, err := in.Body.good()
	if err != nil {
		return nil, err
	}
	steps, err := store.PlanDefinition(ctx, d, in.Body.options())
	if err != nil {
		return nil, faulty(err)
	}
	return planned(steps)
}

// BackfillInput asks for the runs that a timetable names between two times.
type BackfillInput struct {
	WorkflowInput
	Body struct {
		From     time.Time    `json:"from" doc:"Included."`
		To       time.Time    `json:"to" doc:"Not included; not in the future."`
		Schedule string       `json:"schedule,omitempty" maxLength:"200" doc:"The schedule whose runs they are. Left out: spec says when."`
		Spec     string       `json:"spec,omitempty" maxLength:"200"`
		Zone     string       `json:"zone,omitempty" maxLength:"100"`
		Options  *OptionsBody `json:"options,omitempty" doc:"Left out: the schedule's."`
		DryRun   bool         `json:"dry_run,omitempty" doc:"Only say when."`
	}
}

// BackfillOutput says when and which.
type BackfillOutput struct {
	Times []time.Time `json:"times"`
	Jobs  []weir.ID   `json:"jobs" doc:"One for each time; none if it was only asked when."`
}

// backfillWorkflow can be sent again: a run that was made is not made twice.
func (a *API) backfillWorkflow(ctx context.Context, in *BackfillInput) (*One[BackfillOutput], error) {
	store, err := a.workflows()
	if err != nil {
		return nil, err
	}
	b := &in.Body
	request := workflow.BackfillRequest{Workflow: in.Workflow, From: b.From, To: b.To, Schedule: b.Schedule, Spec: b.Spec, Zone: b.Zone, DryRun: b.DryRun, By: auth.From(ctx).By(), MaySkip: maySkip(ctx)}
	if b.Options != nil {
		options := b.Options.options()
		request.Options = &options
	}
	times, jobs, err := store.Backfill(ctx, request)
	if err != nil {
		return nil, faulty(err)
	}
	return one(BackfillOutput{append([]time.Time{}, times...), append([]weir.ID{}, jobs...)}, nil)
}

// RerunInput runs a job of a workflow again.
type RerunInput struct {
	JobInput
	Body *struct {
		From   string `json:"from,omitempty" maxLength:"200" doc:"A step: it and what comes after it run again; what was done before stays."`
		Failed bool   `json:"failed,omitempty" doc:"Only what was not done runs again, and what comes after it."`
	}
}

func (a *API) rerunJob(ctx context.Context, in *RerunInput) (*Made[JobMade], error) {
	store, err := a.workflows()
	if err != nil {
		return nil, err
	}
	id, err := a.jobID(ctx, in.JobInput)
	if err != nil {
		return nil, err
	}
	request := workflow.RerunRequest{By: auth.From(ctx).By(), MaySkip: maySkip(ctx)}
	if in.Body != nil {
		request.From, request.Failed = in.Body.From, in.Body.Failed
	}
	again, err := store.Rerun(ctx, id, request)
	return madeJob(again, false, err)
}
