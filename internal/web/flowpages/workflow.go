package flowpages

import (
	"context"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/web/picture"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/ui"
	"github.com/weirhq/weir/internal/web/workpages"
	"github.com/weirhq/weir/internal/workflow"
	"github.com/weirhq/weir/internal/workflow/definition"
)

// workflowTabs are the views of a workflow, by the end of their addresses.
var workflowTabs = []struct{ key, end string }{
	{"word.steps", ""}, {"word.jobs", "/jobs"}, {"word.versions", "/versions"}, {"ui.source", "/source"},
}

// workflowView is what all views of a workflow show.
type workflowView struct {
	workflow.Workflow
	// steps is nil if the definition cannot be read; fault says why.
	steps *definition.Definition
	fault string
	tab   string
	// pinned says that the address names the version.
	pinned         bool
	mayRun, manage bool
	maySchedule    bool
	mayTrigger     bool
}

// href is the address of a view of this version.
func (v workflowView) href(end string) string {
	path := site.WorkflowPath(v.Name) + end
	if v.pinned && end != "/versions" && end != "/jobs" {
		return site.QueryPath(path, "version", strconv.Itoa(v.Version))
	}
	return path
}

func (v workflowView) tabs(ctx context.Context) []ui.Tab {
	var out []ui.Tab
	for _, t := range workflowTabs {
		tab := ui.Tab{Label: ui.Say(ctx, t.key), Href: v.href(t.end), Current: t.end == v.tab}
		if t.end == "" {
			tab.Count = ui.Number(v.Steps)
		}
		out = append(out, tab)
	}
	return out
}

// aWorkflow serves one view of a workflow.
func (w *pages) aWorkflow(tab string, body func(*site.Request, workflowView) (templ.Component, error)) func(*site.Request) (site.View, error) {
	return func(r *site.Request) (site.View, error) {
		v, err := w.workflowOf(r)
		if err != nil {
			return site.View{}, err
		}
		v.tab = tab
		inner, err := body(r, v)
		if err != nil {
			return site.View{}, err
		}
		return site.View{Head: ui.Head{Title: ui.Line(v.Name)}, Plain: true, Body: workflowPage(v, inner), Follow: flowEvents()}, nil
	}
}

// workflowOf reads the version that the address asks for.
func (w *pages) workflowOf(r *site.Request) (workflowView, error) {
	store, err := w.Flows()
	if err != nil {
		return workflowView{}, err
	}
	version, err := versionOf(r)
	if err != nil {
		return workflowView{}, err
	}
	v := workflowView{
		pinned: version > 0, mayRun: r.Can(auth.Submit, "workflow"), manage: r.Can(auth.Manage, "workflow"), maySchedule: r.Can(auth.Manage, "schedule"),
		mayTrigger: r.Can(auth.Manage, "trigger"),
	}
	if v.Workflow, err = readWorkflow(r.Context(), store, r.PathValue("name"), version); err != nil {
		return workflowView{}, err
	}
	v.mayRun = v.mayRun && v.Active
	if v.steps, err = definition.ParseJSON(v.Definition); err != nil {
		v.steps, v.fault = nil, problem.Explain(err).What
	}
	return v, nil
}

// readWorkflow reads a version. Without one it is the one that a run takes, or
// the newest if none is active.
func readWorkflow(ctx context.Context, store *workflow.Store, name string, version int) (workflow.Workflow, error) {
	found, err := store.Workflow(ctx, name, version)
	if version > 0 || !site.Gone(err) {
		return found, err
	}
	all, err := store.Versions(ctx, name, view.Page{Limit: 1})
	if err != nil {
		return workflow.Workflow{}, err
	}
	return all[0], nil
}

// versionOf is the version in the address, or zero.
func versionOf(r *site.Request) (int, error) {
	text := r.Query("version")
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 1 {
		return 0, problem.New(problem.NotFound, "check the address", "%q is no version", text)
	}
	return int(n), nil
}

func (w *pages) workflowSteps(r *site.Request, v workflowView) (templ.Component, error) {
	schedules, err := w.Store.SchedulesOf(r.Context(), []string{v.Name})
	if err != nil {
		return nil, err
	}
	triggers, err := w.Workflows.Triggers(r.Context(), v.Name, view.Page{Limit: 100})
	if err != nil {
		return nil, err
	}
	return stepsTab(v, schedules, triggers), nil
}

func (w *pages) workflowJobs(r *site.Request, v workflowView) (templ.Component, error) {
	return workpages.WorkflowJobs(w.Config, r, v.Name)
}

func (w *pages) workflowVersions(r *site.Request, v workflowView) (templ.Component, error) {
	rows, err := w.Workflows.Versions(r.Context(), v.Name, site.NamesPage(r))
	if err != nil {
		return nil, err
	}
	rows, newest, older := site.NamesPaged(r, rows, func(f workflow.Workflow) string { return strconv.Itoa(f.Version) })
	return versionsTab(v, rows, newest, older), nil
}

func (w *pages) workflowSource(_ *site.Request, v workflowView) (templ.Component, error) {
	return sourceTab(v, sourceText(v.Workflow)), nil
}

// sourceText is the definition as it was written, or else as it is kept.
func sourceText(f workflow.Workflow) string {
	if f.Source != "" {
		return f.Source
	}
	return indented(f.Definition)
}

// workflowSourceFile is the text of a version, whole.
func (w *pages) workflowSourceFile(r *site.Request) (contentType string, data []byte, err error) {
	v, err := w.workflowOf(r)
	return site.TextType, []byte(sourceText(v.Workflow)), err
}

// drawnSteps is the definition as the picture takes it.
func drawnSteps(ctx context.Context, v workflowView) picture.Graph {
	steps := v.steps.Steps
	out := picture.Graph{Title: ui.Say(ctx, "workflow.titled", ui.Line(v.Name)), More: max(0, len(steps)-site.StepsShown)}
	at := map[string]int{}
	for i, s := range steps[:min(len(steps), site.StepsShown)] {
		at[s.Key] = i
		out.Tasks = append(out.Tasks, picture.Task{Key: ui.Line(s.Key), Service: ui.Line(s.Service), State: picture.State(stepKind(s)), Note: stepNote(ctx, s), Href: "#step-" + s.Key})
		for _, need := range v.steps.Drawn(&s) {
			if from, ok := at[need]; ok {
				out.Edges = append(out.Edges, [2]int{from, i})
			}
		}
	}
	// A need may stand below the step that names it.
	for i, s := range steps[:len(out.Tasks)] {
		for _, need := range v.steps.Drawn(&s) {
			if from, ok := at[need]; ok && from > i {
				out.Edges = append(out.Edges, [2]int{from, i})
			}
		}
	}
	return out
}

// stepKind is in a word what a step is.
func stepKind(s definition.Step) string {
	switch {
	case s.Workflow != "":
		return "workflow"
	case s.Run != nil && s.Run.Driver != "" && s.Run.Driver != "func":
		return s.Run.Driver
	case s.Script != "":
		return "exec"
	}
	return "service"
}

// stepDoes is what a step does, on one line.
func stepDoes(s definition.Step) string {
	switch {
	case s.Workflow != "":
		return s.Workflow
	case s.Script != "" && s.Run != nil:
		return strings.TrimSpace(s.Run.Image + " " + s.Script)
	case s.Script != "":
		return s.Script
	case s.Run == nil:
		return s.Service
	case s.Run.Image != "":
		return strings.TrimSpace(s.Run.Image + " " + strings.Join(s.Run.Argv, " "))
	case len(s.Run.Argv) > 0:
		return strings.Join(s.Run.Argv, " ")
	case s.Run.URL != "":
		return strings.TrimSpace(s.Run.Method + " " + s.Run.URL)
	case s.Run.Compose != nil:
		return s.Run.Compose.File + " " + s.Run.Compose.Service
	}
	return s.Service
}

func stepNote(ctx context.Context, s definition.Step) string {
	return strings.Join(stepNotes(ctx, s), ", ")
}

// stepNotes are what is special about a step.
func stepNotes(ctx context.Context, s definition.Step) []string {
	var out []string
	add := func(when bool, text string) {
		if when {
			out = append(out, ui.Line(text))
		}
	}
	add(s.Map != nil, ui.Say(ctx, "note.map"))
	add(s.When != "", ui.Say(ctx, "note.when", s.When))
	add(s.Rule != "" && s.Rule != "all_success", ui.Code(ctx, "rule.", s.Rule))
	add(s.Finally, ui.Code(ctx, "rule.", "finally"))
	add(s.Approval != nil, ui.Say(ctx, "note.approval", s.Approval.Words()))
	add(s.Pool != "", ui.Say(ctx, "note.pool", s.Pool))
	add(s.Delay != 0, ui.Say(ctx, "note.after", s.Delay.String()))
	add(s.Sticky != nil, ui.Say(ctx, "note.sticky"))
	add(s.Retry != nil && s.Retry.MaxAttempts > 0, attemptsNote(ctx, s.Retry))
	return out
}

func attemptsNote(ctx context.Context, r *definition.Retry) string {
	if r == nil {
		return ""
	}
	return ui.Count(ctx, "note.attempts", r.MaxAttempts)
}
