package workflow

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/workflow/definition"
)

// Named names a workflow.
type Named struct {
	Workflow string `path:"workflow" flag:"NAME" maxLength:"200"`
}

// NamedVersion names a version of a workflow.
type NamedVersion struct {
	Named
	Version int `query:"version" minimum:"0" maximum:"2147483647" doc:"This version; left out: the newest active one."`
}

// ListingVersions bounds the versions of a workflow.
type ListingVersions struct {
	Named
	op.Paged
}

// DefinitionBody is a definition: as JSON, as its source text, or as both, which must be
// equal.
type DefinitionBody struct {
	Definition json.RawMessage `json:"definition,omitempty" doc:"The definition as JSON: fields with values, or the list of steps."`
	Source     string          `json:"source,omitempty" maxLength:"1048576" doc:"The definition as text, YAML or JSON. It is kept with its comments."`
	File       string          `json:"file,omitempty" maxLength:"300" doc:"The name of the file, for what is said about its lines."`
}

// Putting stores a definition.
type Putting struct {
	Body PutBody
}

// PutBody is a definition to store.
type PutBody struct {
	DefinitionBody
	Inactive bool `json:"inactive,omitempty" doc:"Keep it, but do not run it."`
}

// Stored is the version under which a definition was stored.
type Stored struct {
	Workflow
	Created bool `json:"created,omitempty" doc:"The version is new. Left out: it said the same already."`
	// Warnings are of what only a server knows.
	Warnings []definition.Fault `json:"warnings,omitempty" doc:"Users whom an approval names and who do not exist."`
}

// New implements [op.Defined].
func (s Stored) New() bool { return s.Created }

// Tag implements [op.Defined]. A definition never changes.
func (w Workflow) Tag() string { return op.Tag(w.ID, w.Active) }

// New implements [op.Defined].
func (w Workflow) New() bool { return false }

// Linting is a definition to check.
type Linting struct {
	Body DefinitionBody
}

// Linted is the result of a check.
type Linted struct {
	Good   bool               `json:"good" doc:"It can be stored."`
	Name   string             `json:"name,omitempty"`
	Faults []definition.Fault `json:"faults"`
}

// Activating sets whether a version can be run.
type Activating struct {
	Named
	Body ActiveBody
}

// ActiveBody names the version.
type ActiveBody struct {
	Version int  `json:"version" minimum:"1" maximum:"2147483647"`
	Active  bool `json:"active"`
}

// Deleting says what to delete of a workflow.
type Deleting struct {
	Named
	Version int `query:"version" minimum:"0" maximum:"2147483647" doc:"This version alone. Left out: all of them."`
}

// Deleted counts the deleted versions.
type Deleted struct {
	Versions int `json:"versions" doc:"How many versions were deleted. Jobs of them stay."`
}

// Planning asks what a run would do.
type Planning struct {
	Named
	Body *PlanBody
}

// PlanBody is what would be given to the run.
type PlanBody struct {
	definition.Options
	Version int `json:"version,omitempty" minimum:"0" maximum:"2147483647" doc:"Left out: the newest active one."`
}

// PlanningDefinition asks what a run of a definition that is not stored would do.
type PlanningDefinition struct {
	Body PlanDefinitionBody
}

// PlanDefinitionBody is the definition, and what would be given to the run.
type PlanDefinitionBody struct {
	DefinitionBody
	definition.Options
}

// Running runs a workflow.
type Running struct {
	Named
	op.Keyed
	Body RunBody
}

// RunBody is what is given to a run.
type RunBody struct {
	definition.Options
	Version        int       `json:"version,omitempty" minimum:"0" maximum:"2147483647" doc:"Left out: the newest active one."`
	At             time.Time `json:"at,omitzero" doc:"When it is due. Left out: now."`
	Zone           string    `json:"zone,omitempty" maxLength:"100" doc:"Of the job's dates, such as Europe/Budapest. Left out: the workflow's, or UTC."`
	Priority       *int      `json:"priority,omitempty" minimum:"-100" maximum:"100"`
	IdempotencyKey string    `json:"idempotency_key,omitempty" maxLength:"200" doc:"The same key gives the same job."`
	Trace          string    `json:"trace,omitempty"`
}

// Made is the job of a run.
type Made struct {
	ID      weir.ID `json:"id"`
	Origin  weir.ID `json:"origin,omitzero" doc:"The job that it does again."`
	Existed bool    `json:"existed,omitempty" doc:"A job with this idempotency key was there already: nothing new was made."`
}

// Place implements [op.Made].
func (m Made) Place() []string { return []string{"jobs", m.ID.String()} }

// Found implements [op.Made].
func (m Made) Found() bool { return m.Existed }

// Rerunning runs a job of a workflow again.
type Rerunning struct {
	Job  string `path:"job" flag:"ID" maxLength:"64" doc:"The id, whole or its end."`
	Body *RerunBody
}

// RerunBody says which part of it, and on which version and params.
type RerunBody struct {
	From    string         `json:"from,omitempty" maxLength:"200" doc:"A step: it and what comes after it run again; what was done before stays."`
	Failed  bool           `json:"failed,omitempty" doc:"Only what was not done runs again, and what comes after it; of another version or with other params, also what those change."`
	Newest  bool           `json:"newest,omitempty" doc:"On the newest active version of the workflow. Left out: on the job's own."`
	Version int            `json:"version,omitempty" minimum:"0" maximum:"2147483647" doc:"On this version. Left out: on the job's own."`
	Params  map[string]any `json:"params,omitempty" doc:"Over the params of the job, by name; null takes one away."`
}

// Remade is the job of a rerun, and which of its steps are reused.
type Remade struct {
	Made
	Steps []Verdict `json:"steps" doc:"Which steps end as they did, and why the others run."`
}

// Operations on workflows.
var (
	List = op.List(onWorkflows(http.MethodGet, "list", "", auth.Read, "List workflows"),
		func(ctx context.Context, s *Store, _ auth.Subject, in *op.Paged) ([]Workflow, error) {
			return s.Workflows(ctx, in.Page())
		},
		func(w Workflow) string { return w.Name })
	Put = op.New(large(onWorkflows(http.MethodPut, "apply", "", auth.Manage, "Store a definition: a new workflow, or a new version of one")),
		func(ctx context.Context, s *Store, who auth.Subject, in *Putting) (out Stored, err error) {
			d, err := in.Body.good()
			if err == nil {
				out.Workflow, out.Created, err = s.Put(ctx, who.By(), d, in.Body.Source, PutOptions{Inactive: in.Body.Inactive})
			}
			if err == nil {
				out.Warnings, err = s.warnings(ctx, d)
			}
			return out, faulty(err)
		})
	Lint = op.New(large(onWorkflows(http.MethodPost, "lint", "/lint", auth.Read, "Say what is wrong with a definition")),
		func(ctx context.Context, s *Store, _ auth.Subject, in *Linting) (Linted, error) {
			d, faults, err := in.Body.read()
			if err != nil {
				return Linted{}, err
			}
			out := Linted{Faults: []definition.Fault{}}
			if faults.Err() == nil {
				more, err := s.warnings(ctx, d)
				if err != nil {
					return Linted{}, err
				}
				faults, out.Name = slices.Concat(faults, d.Lint(), more), d.Name
			}
			out.Faults, out.Good = append(out.Faults, faults...), faults.Err() == nil
			return out, nil
		})
	PlanDefinition = op.New(
		large(onWorkflows(http.MethodPost, "plan", "/plan", auth.Read, "Say what a run of a definition would do, without storing it")),
		func(ctx context.Context, s *Store, _ auth.Subject, in *PlanningDefinition) (op.Page[Preview], error) {
			d, err := in.Body.good()
			if err != nil {
				return op.Page[Preview]{}, err
			}
			steps, err := s.PlanDefinition(ctx, d, in.Body.Options)
			return op.PageOf(steps, ""), faulty(err)
		})
	Show = op.New(onWorkflow(http.MethodGet, "show", "", auth.Read, "Show a workflow"),
		func(ctx context.Context, s *Store, _ auth.Subject, in *NamedVersion) (Workflow, error) {
			return s.Workflow(ctx, in.Workflow, in.Version)
		})
	Versions = op.List(onWorkflow(http.MethodGet, "versions", "/versions", auth.Read, "List the versions of a workflow, newest first"),
		func(ctx context.Context, s *Store, _ auth.Subject, in *ListingVersions) ([]Workflow, error) {
			if _, err := strconv.ParseUint(in.After, 10, 31); in.After != "" && err != nil {
				return nil, problem.Refuse("after", "give the next of the page before", "%.40q is not a version", in.After)
			}
			return s.Versions(ctx, in.Workflow, in.Page())
		},
		func(w Workflow) string { return strconv.Itoa(w.Version) })
	SetActive = op.New(onWorkflow(http.MethodPut, "activate", "/active", auth.Manage, "Say whether a version can be run"),
		func(ctx context.Context, s *Store, who auth.Subject, in *Activating) (op.Nothing, error) {
			return op.Nothing{}, s.SetActive(ctx, who.By(), in.Workflow, in.Body.Version, in.Body.Active)
		})
	Delete = op.New(onWorkflow(http.MethodDelete, "delete", "", auth.Manage, "Delete a workflow: one version, or all of them"),
		func(ctx context.Context, s *Store, who auth.Subject, in *Deleting) (out Deleted, err error) {
			out.Versions, err = s.Delete(ctx, who.By(), in.Workflow, in.Version)
			return out, err
		})
	Run = op.New(onWorkflow(http.MethodPost, "run", "/run", auth.Submit, "Run a workflow"),
		func(ctx context.Context, s *Store, who auth.Subject, in *Running) (made Made, err error) {
			b := &in.Body
			key, err := in.Key(who, b.IdempotencyKey)
			if err != nil {
				return made, err
			}
			r := RunRequest{
				Workflow: in.Workflow, Version: b.Version, Options: b.Options, At: b.At, Zone: b.Zone, Priority: b.Priority, IdempotencyKey: key, Trace: b.Trace,
				By: who.By(), MaySkip: MayOf(who),
			}
			made.ID, made.Existed, err = view.New(s.pool).Existed(ctx, key, func() (weir.ID, error) { return s.Run(ctx, r) })
			return made, faulty(err)
		})
	Plan = op.New(onWorkflow(http.MethodPost, "plan", "/plan", auth.Read, "Say what a run would do: which steps, where, and what not and why"),
		func(ctx context.Context, s *Store, _ auth.Subject, in *Planning) (op.Page[Preview], error) {
			b := op.Given(in.Body)
			steps, err := s.Plan(ctx, in.Workflow, b.Version, b.Options)
			return op.PageOf(steps, ""), faulty(err)
		})
	Backfill = op.New(onWorkflow(http.MethodPost, "backfill", "/backfill", auth.Submit, "Run a workflow for times that are over"),
		func(ctx context.Context, s *Store, who auth.Subject, in *Backfilling) (Backfilled, error) {
			out, err := s.Backfill(ctx, who, in)
			return out, faulty(err)
		})
	Rerun = op.New(op.Operation{
		Noun: "job", Verb: "rerun", Method: http.MethodPost, Path: "/jobs/{job}/rerun", Right: auth.Submit,
		Summary: "Run a job of a workflow again as a new one: all, from a step, or what failed",
	}, func(ctx context.Context, s *Store, who auth.Subject, in *Rerunning) (made Remade, err error) {
		if made.Origin, err = s.jobNamed(ctx, in.Job); err != nil {
			return made, err
		}
		made.ID, made.Steps, err = s.Rerun(ctx, made.Origin, RerunRequest{RerunBody: op.Given(in.Body), By: who.By(), MaySkip: MayOf(who)})
		return made, faulty(err)
	})
	PlanRerun = op.New(op.Operation{
		Noun: "job", Verb: "plan", Method: http.MethodPost, Path: "/jobs/{job}/rerun/plan", Right: auth.Read,
		Summary: "Say which steps a rerun of a job would reuse, and why it would run the others",
	}, func(ctx context.Context, s *Store, _ auth.Subject, in *Rerunning) (op.Page[Verdict], error) {
		job, err := s.jobNamed(ctx, in.Job)
		if err != nil {
			return op.Page[Verdict]{}, err
		}
		steps, err := s.PlanRerun(ctx, job, RerunRequest{RerunBody: op.Given(in.Body)})
		return op.PageOf(steps, ""), faulty(err)
	})
)

// jobNamed finds a job by its id, or the end of one.
func (s *Store) jobNamed(ctx context.Context, text string) (weir.ID, error) {
	id, err := view.New(s.pool).JobID(ctx, text)
	if err == nil {
		return id, nil
	}
	p := *problem.Explain(err)
	if p.Kind == problem.Invalid {
		p.Field = "job"
	}
	return id, &p
}

// onWorkflows describes an operation on workflows in general, onWorkflow one on a single
// workflow.
func onWorkflows(method, verb, below string, right auth.Verb, summary string) op.Operation {
	return op.Operation{Noun: "workflow", Verb: verb, Method: method, Path: "/workflows" + below, Right: right, Summary: summary}
}

func onWorkflow(method, verb, below string, right auth.Verb, summary string) op.Operation {
	return onWorkflows(method, verb, "/{workflow}"+below, right, summary)
}

func large(o op.Operation) op.Operation { o.Large = true; return o }

// MayOf allows leaving out a step to a subject that may skip a task.
func MayOf(who auth.Subject) MaySkip {
	return func() error { return auth.Allow(who, auth.Override, auth.Object{Kind: "task"}) }
}

// read reads the definition, and returns its syntactic faults.
func (b *DefinitionBody) read() (*definition.Definition, definition.Faults, error) {
	name := cmp.Or(b.File, "definition")
	switch {
	case b.Source == "" && len(b.Definition) == 0:
		return nil, nil, problem.Refuse("definition", "send the definition, or its source as text", "is required")
	case b.Source == "":
		d, faults := definition.Parse(name, b.Definition)
		return d, faults, nil
	}
	d, faults := definition.Parse(name, []byte(b.Source))
	if faults.Err() != nil || len(b.Definition) == 0 {
		return d, faults, nil
	}
	said, more := definition.Parse(name, b.Definition)
	if more.Err() != nil {
		return said, more, nil
	}
	// A client that sends both may have chosen another name or version for it.
	d.Name, d.Version = said.Name, said.Version
	if !bytes.Equal(d.JSON(), said.JSON()) {
		return nil, nil, problem.Refuse("source", "send one of them", "it does not say what definition says")
	}
	return d, faults, nil
}

// good reads a definition that has no faults.
func (b *DefinitionBody) good() (*definition.Definition, error) {
	d, faults, err := b.read()
	if err == nil {
		err = faulty(faults.Err())
	}
	if err == nil {
		err = faulty(d.Lint().Err())
	}
	return d, err
}

// faulty converts the faults of a definition into a problem.
func faulty(err error) error {
	var faults definition.Faults
	if !errors.As(err, &faults) || len(faults) == 0 {
		return err
	}
	return &problem.Problem{
		Kind: problem.Invalid, Field: cmp.Or(faults[0].Path, "definition"), What: faults.Error(), Next: faults[0].Next, Err: err,
	}
}
