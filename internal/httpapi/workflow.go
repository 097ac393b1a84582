package httpapi

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/workflow"
	"github.com/weirhq/weir/internal/workflow/definition"
)

// Workflows keeps definitions and runs them. [*workflow.Store] does.
type Workflows interface {
	Put(ctx context.Context, by string, d *definition.Definition, source string, o workflow.PutOptions) (w workflow.Workflow, created bool, err error)
	Workflows(ctx context.Context, page view.Page) ([]workflow.Workflow, error)
	Workflow(ctx context.Context, name string, version int) (workflow.Workflow, error)
	Versions(ctx context.Context, name string, page view.Page) ([]workflow.Workflow, error)
	SetActive(ctx context.Context, by, name string, version int, active bool) error
	Delete(ctx context.Context, by, name string, version int) (versions int, err error)
	Check(ctx context.Context, workflow string, options definition.Options) error
	Run(ctx context.Context, r workflow.RunRequest) (weir.ID, error)
	Plan(ctx context.Context, name string, version int, options definition.Options) ([]workflow.Preview, error)
	PlanDefinition(ctx context.Context, d *definition.Definition, options definition.Options) ([]workflow.Preview, error)
	Backfill(ctx context.Context, r workflow.BackfillRequest) ([]time.Time, []weir.ID, error)
	Rerun(ctx context.Context, job weir.ID, r workflow.RerunRequest) (weir.ID, error)
}

// workflows are those of this server.
func (a *API) workflows() (Workflows, error) {
	if a.config.Workflows == nil {
		return nil, problem.New(problem.NotFound, "ask the server that does", "this server keeps no workflows")
	}
	return a.config.Workflows, nil
}

func (a *API) listWorkflows(ctx context.Context, in *op.Paged) (*Listed[workflow.Workflow], error) {
	store, err := a.workflows()
	if err != nil {
		return nil, err
	}
	list, err := store.Workflows(ctx, in.Page())
	if err != nil {
		return nil, err
	}
	return listed(ctx, list, in.Limit, func(w workflow.Workflow) string { return w.Name }), nil
}

// WorkflowInput names a workflow.
type WorkflowInput struct {
	Workflow string `path:"workflow" maxLength:"200"`
}

// WorkflowVersionInput names a version of a workflow.
type WorkflowVersionInput struct {
	WorkflowInput
	Version int `query:"version" minimum:"0" maximum:"2147483647" doc:"Left out: the newest active one."`
}

// workflowTag is the version of a workflow. A definition never changes.
func workflowTag(w workflow.Workflow) string { return op.Tag(w.ID, w.Active) }

func (a *API) showWorkflow(ctx context.Context, in *WorkflowVersionInput) (*Defined[workflow.Workflow], error) {
	store, err := a.workflows()
	if err != nil {
		return nil, err
	}
	w, err := store.Workflow(ctx, in.Workflow, in.Version)
	if err != nil {
		return nil, err
	}
	return &Defined[workflow.Workflow]{Status: http.StatusOK, ETag: workflowTag(w), Body: w}, nil
}

// VersionsInput asks for the versions of a workflow.
type VersionsInput struct {
	WorkflowInput
	Limit int `query:"limit" minimum:"1" maximum:"1000" default:"50" doc:"How many at most."`
	After int `query:"after" minimum:"0" maximum:"2147483647" doc:"The next of the page before."`
}

func (a *API) listVersions(ctx context.Context, in *VersionsInput) (*Listed[workflow.Workflow], error) {
	store, err := a.workflows()
	if err != nil {
		return nil, err
	}
	page := view.Page{Limit: in.Limit}
	if in.After > 0 {
		page.After = strconv.Itoa(in.After)
	}
	list, err := store.Versions(ctx, in.Workflow, page)
	if err != nil {
		return nil, err
	}
	return listed(ctx, list, in.Limit, func(w workflow.Workflow) string { return strconv.Itoa(w.Version) }), nil
}

// DefinitionBody is a definition: as JSON, as the text that somebody wrote, or
// as both, which must say the same.
type DefinitionBody struct {
	Definition json.RawMessage `json:"definition,omitempty" doc:"The definition as JSON: fields with values, or the list of steps."`
	Source     string          `json:"source,omitempty" maxLength:"1048576" doc:"The definition as text, YAML or JSON. It is kept with its comments."`
	File       string          `json:"file,omitempty" maxLength:"300" doc:"The name of the file, for what is said about its lines."`
}

// read reads the definition, and says what is wrong with its form.
func (b *DefinitionBody) read() (*definition.Definition, definition.Faults, error) {
	name := b.File
	if name == "" {
		name = "definition"
	}
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
	// Whoever sends both may have chosen another name or version for it.
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

// faulty is the problem that the faults of a definition are.
func faulty(err error) error {
	var faults definition.Faults
	if !errors.As(err, &faults) || len(faults) == 0 {
		return err
	}
	return &problem.Problem{Kind: problem.Invalid, Field: cmp.Or(faults[0].Path, "definition"), What: faults.Error(), Next: faults[0].Next, Err: err}
}

// PutWorkflowInput stores a definition.
type PutWorkflowInput struct {
	Body struct {
		DefinitionBody
		Inactive bool `json:"inactive,omitempty" doc:"Keep it, but do not run it."`
	}
}

// putWorkflow stores a definition under the name and version it says; without a
// version, under the next one. The same again changes nothing.
func (a *API) putWorkflow(ctx context.Context, in *PutWorkflowInput) (*Defined[workflow.Workflow], error) {
	store, err := a.workflows()
	if err != nil {
		return nil, err
	}
	d, err := in.Body.good()
	if err != nil {
		return nil, err
	}
	w, created, err := store.Put(ctx, auth.From(ctx).By(), d, in.Body.Source, workflow.PutOptions{Inactive: in.Body.Inactive})
	if err != nil {
		return nil, faulty(err)
	}
	out := &Defined[workflow.Workflow]{Status: http.StatusOK, ETag: workflowTag(w), Body: w}
	if created {
		out.Status = http.StatusCreated
	}
	return out, nil
}

// Fault is one thing that is wrong with a definition.
type Fault struct {
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Path    string `json:"path,omitempty" doc:"Leads to the value: steps[2].needs[0]."`
	What    string `json:"what"`
	Next    string `json:"next,omitempty" doc:"What to do about it."`
	Warning bool   `json:"warning,omitempty" doc:"It is allowed, but likely not meant."`
}

// LintInput is a definition to look at.
type LintInput struct{ Body DefinitionBody }

// LintOutput says what was found.
type LintOutput struct {
	Good   bool    `json:"good" doc:"It can be stored."`
	Name   string  `json:"name,omitempty"`
	Faults []Fault `json:"faults"`
}

func (a *API) lintWorkflow(_ context.Context, in *LintInput) (*One[LintOutput], error) {
	d, faults, err := in.Body.read()
	if err != nil {
		return nil, err
	}
	out := LintOutput{Faults: []Fault{}}
	if faults.Err() == nil {
		faults = append(faults, d.Lint()...)
		out.Name = d.Name
	}
	for _, f := range faults {
		out.Faults = append(out.Faults, Fault{f.Line, f.Column, f.Path, f.What, f.Next, f.Warning})
	}
	out.Good = faults.Err() == nil
	return one(out, nil)
}

// ActiveInput says whether a version can be run.
type ActiveInput struct {
	WorkflowInput
	Body struct {
		Version int  `json:"version" minimum:"1" maximum:"2147483647"`
		Active  bool `json:"active"`
	}
}

func (a *API) setActive(ctx context.Context, in *ActiveInput) (*Empty, error) {
	store, err := a.workflows()
	if err != nil {
		return nil, err
	}
	return nil, store.SetActive(ctx, auth.From(ctx).By(), in.Workflow, in.Body.Version, in.Body.Active)
}

// workflowSchema describes definitions to editors and programs.
func (a *API) workflowSchema() http.Handler {
	return a.fixed("application/schema+json", func() []byte { return definition.Schema() })
}

// DropWorkflowInput says what to delete of a workflow.
type DropWorkflowInput struct {
	WorkflowInput
	Version int `query:"version" minimum:"0" maximum:"2147483647" doc:"This version alone. Left out: all of them."`
}

// DropWorkflowOutput counts what is gone.
type DropWorkflowOutput struct {
	Versions int `json:"versions" doc:"How many versions were deleted. Jobs of them stay."`
}

func (a *API) dropWorkflow(ctx context.Context, in *DropWorkflowInput) (*One[DropWorkflowOutput], error) {
	store, err := a.workflows()
	if err != nil {
		return nil, err
	}
	n, err := store.Delete(ctx, auth.From(ctx).By(), in.Workflow, in.Version)
	return one(DropWorkflowOutput{n}, err)
}
