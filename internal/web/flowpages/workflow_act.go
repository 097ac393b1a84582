package flowpages

import (
	"errors"
	"strings"

	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/ui"
	"github.com/weirhq/weir/internal/workflow"
	"github.com/weirhq/weir/internal/workflow/definition"
)

const (
	// faultsShown is how many faults of a definition a page lists.
	faultsShown = 50
	// firstWorkflow is what the form begins with.
	firstWorkflow = `name: hello
params:
  name: {type: string, default: world}
steps:
  - key: greet
    run: [echo, "hello, {{ .params.name }}"]
`
)

// askNewWorkflow is a definition as a form. After a refusal it lists what is
// wrong with what was sent.
func (w *pages) askNewWorkflow(r *site.Request) (ui.Question, error) {
	ctx := r.Context()
	store, err := w.Flows()
	if err != nil {
		return ui.Question{}, err
	}
	q := ui.Question{
		Title: ui.Say(ctx, "word.newworkflow"), Button: ui.Say(ctx, "workflow.apply"), Wide: true, Back: "/workflows",
		Text: ui.Say(ctx, "workflow.new.text"),
	}
	text := firstWorkflow
	if from := r.Query("from"); from != "" {
		was, err := readWorkflow(r.Context(), store, from, 0)
		if err != nil {
			return ui.Question{}, err
		}
		q.Title, q.Back, text = ui.Say(ctx, "workflow.newof", ui.Cut(ui.Line(from), 80)), site.WorkflowPath(from), sourceText(was)
		q.Text = ui.Say(ctx, "workflow.version.text")
	}
	q.Fields = []ui.Field{{Name: "source", Label: ui.Say(ctx, "word.definition"), Type: "area", Rows: 24, Value: text, Focus: true, Auto: "off"}}
	if sent := sentSource(r); sent != "" {
		_, faults := readDefinition(sent)
		if len(faults) > 0 {
			q.More = faultList(faults, sent)
		}
	}
	return q, nil
}

// sentSource is the text of the form. Browsers end its lines as they like.
func sentSource(r *site.Request) string {
	return strings.ReplaceAll(r.PostForm.Get("source"), "\r\n", "\n")
}

// readDefinition parses and lints a text.
func readDefinition(text string) (*definition.Definition, definition.Faults) {
	d, faults := definition.Parse("workflow", []byte(text))
	if d == nil || faults.Err() != nil {
		return nil, faults
	}
	return d, append(faults, d.Lint()...)
}

func (w *pages) putWorkflow(r *site.Request) (site.Done, error) {
	ctx := r.Context()
	text := sentSource(r)
	d, faults := readDefinition(text)
	if bad := faults.Errors(); len(bad) > 0 {
		return site.Done{}, problem.Refuse("source", "mend what is listed above", "%s wrong with it", ui.Plural(len(bad), "thing is", "things are"))
	}
	if from := r.Query("from"); from != "" && d.Name != from {
		return site.Done{}, problem.Refuse("source", "write name: "+from+", or make it a workflow of its own on the page of workflows", "it is called %q, and this is the page of %q", d.Name, from)
	}
	in := &workflow.Putting{Body: workflow.PutBody{DefinitionBody: workflow.DefinitionBody{Source: text}}}
	stored, err := workflow.Put.Call(r.Context(), w.Operations, in)
	if err != nil {
		if bad := definition.Faults(nil); errors.As(err, &bad) {
			return site.Done{}, problem.Refuse("source", "", "%v", bad)
		}
		return site.Done{}, err
	}
	said := ui.Say(ctx, "said.workflow.stored", stored.Version, stored.Name)
	if !stored.Created {
		said = ui.Say(ctx, "said.workflow.same", stored.Version, stored.Name)
	}
	if faults = append(faults, stored.Warnings...); len(faults) > 0 {
		said += " " + ui.Say(ctx, "said.workflow.likely", faults[0].What)
	}
	return site.Done{To: site.WorkflowPath(stored.Name), Say: said}, nil
}

func (w *pages) activateWorkflow(r *site.Request) (site.Done, error) {
	return w.setActive(r, true, "said.workflow.active")
}

func (w *pages) deactivateWorkflow(r *site.Request) (site.Done, error) {
	return w.setActive(r, false, "said.workflow.inactive")
}

// askDropWorkflow asks whether to delete a version, or without one all of them.
func (w *pages) askDropWorkflow(r *site.Request) (ui.Question, error) {
	ctx := r.Context()
	store, err := w.Flows()
	if err != nil {
		return ui.Question{}, err
	}
	version, err := versionOf(r)
	if err != nil {
		return ui.Question{}, err
	}
	f, err := readWorkflow(r.Context(), store, r.PathValue("name"), version)
	if err != nil {
		return ui.Question{}, err
	}
	name := ui.Cut(ui.Line(f.Name), 80)
	q := ui.Question{
		Title: ui.Say(ctx, "ask.workflow.drop", name), Button: ui.Say(ctx, "word.deletetheworkflow"), Danger: true, Back: site.WorkflowPath(f.Name) + "/versions",
		Text: ui.Say(ctx, "ask.workflow.drop.text"),
	}
	if version > 0 {
		q.Title, q.Button = ui.Say(ctx, "ask.version.drop", version, name), ui.Say(ctx, "ask.version.drop.button")
		q.Text = ui.Say(ctx, "ask.version.drop.text")
	}
	return q, nil
}

func (w *pages) dropWorkflow(r *site.Request) (site.Done, error) {
	ctx := r.Context()
	version, err := versionOf(r)
	if err != nil {
		return site.Done{}, err
	}
	name := r.PathValue("name")
	gone, err := workflow.Delete.Call(r.Context(), w.Operations, &workflow.Deleting{Named: workflow.Named{Workflow: name}, Version: version})
	if err != nil {
		return site.Done{}, err
	}
	if version > 0 {
		return site.Done{To: site.WorkflowPath(name) + "/versions", Say: ui.Say(ctx, "said.version.gone", version, name)}, nil
	}
	return site.Done{To: "/workflows", Say: ui.Say(ctx, "said.workflow.gone", name, ui.Count(ctx, "workflow.versions", gone.Versions))}, nil
}

func (w *pages) setActive(r *site.Request, active bool, key string) (site.Done, error) {
	version, err := versionOf(r)
	if err != nil {
		return site.Done{}, err
	}
	name := r.PathValue("name")
	in := &workflow.Activating{Named: workflow.Named{Workflow: name}, Body: workflow.ActiveBody{Version: version, Active: active}}
	if _, err := workflow.SetActive.Call(r.Context(), w.Operations, in); err != nil {
		return site.Done{}, err
	}
	return site.Done{To: site.WorkflowPath(name) + "/versions", Say: ui.Say(r.Context(), key, version)}, nil
}
