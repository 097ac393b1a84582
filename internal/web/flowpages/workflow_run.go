package flowpages

import (
	"context"
	"strconv"
	"time"

	"github.com/weirhq/weir/internal/period"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/trace"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/ui"
	"github.com/weirhq/weir/internal/workflow"
)

func (w *pages) askRun(r *site.Request) (ui.Question, error) {
	ctx := r.Context()
	v, err := w.workflowOf(r)
	if err != nil {
		return ui.Question{}, err
	}
	return ui.Question{
		Title: ui.Say(ctx, "run.title", ui.Cut(ui.Line(v.Name), 80)), Button: ui.Say(ctx, "run.workflow"), Back: v.href(""),
		Fields: runFields(ctx, v),
		Text:   ui.Say(ctx, "run.text", v.Version, ui.Count(ctx, "run.steps", v.Steps)),
	}, nil
}

// runFields are the params of a workflow as a form.
func runFields(ctx context.Context, v workflowView) []ui.Field {
	var fields []ui.Field
	var params []param
	if v.steps != nil {
		params = paramsOf(v.steps, v.Source)
	}
	for _, p := range params {
		fields = append(fields, p.field(ctx))
	}
	box := ui.Field{Name: jsonField, Label: ui.Say(ctx, "word.paramsasjson"), Type: "area", Optional: true, Rows: 3, Auto: "off", Hint: ui.Say(ctx, "run.json")}
	if len(params) == 0 {
		box.Example = `{"name": "world"}`
		box.Hint, box.Rows = ui.Say(ctx, "run.json.only"), 5
	}
	fields = append(fields, box,
		ui.Field{Name: "at", Label: ui.Say(ctx, "word.start"), Optional: true, Example: "now", Hint: ui.Say(ctx, "run.at"), Auto: "off"},
		ui.Field{Name: "priority", Label: ui.Say(ctx, "word.priority"), Type: "number", Optional: true, Hint: ui.Say(ctx, "run.priority"), Example: priorityOf(v)})
	fields[0].Focus = true
	return fields
}

func priorityOf(v workflowView) string {
	if v.steps == nil {
		return "0"
	}
	return strconv.Itoa(v.steps.Priority)
}

func (w *pages) runWorkflow(r *site.Request) (site.Done, error) {
	ctx := r.Context()
	v, err := w.workflowOf(r)
	if err != nil {
		return site.Done{}, err
	}
	request := &workflow.RunBody{Trace: trace.Parent(r.Context())}
	// Without a version in the address it is the newest active one.
	if v.pinned {
		request.Version = v.Version
	}
	if v.steps != nil {
		if request.Options.Params, err = readParams(r, paramsOf(v.steps, v.Source)); err != nil {
			return site.Done{}, err
		}
		if _, err = v.steps.Input(request.Options); err != nil {
			return site.Done{}, placedParam(err, runFields(ctx, v))
		}
	}
	if request.At, err = startTime(r); err != nil {
		return site.Done{}, err
	}
	if text := r.Field("priority"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < -100 || n > 100 {
			return site.Done{}, problem.Refuse("priority", "give a number from -100 to 100", "%q does not do", text)
		}
		request.Priority = &n
	}
	made, err := workflow.Run.Call(r.Context(), w.Operations, &workflow.Running{Named: workflow.Named{Workflow: v.Name}, Body: *request})
	if err != nil {
		return site.Done{}, placedParam(err, runFields(ctx, v))
	}
	said := ui.Say(ctx, "said.run")
	if !request.At.IsZero() {
		said = ui.Say(ctx, "said.run.later")
	}
	return site.Done{To: site.JobPath(made.ID), Say: said}, nil
}

// startTime is when a job is due: zero for now.
func startTime(r *site.Request) (time.Time, error) {
	text := r.Field("at")
	if text == "" || text == "now" {
		return time.Time{}, nil
	}
	if after, err := period.Parse(text); err == nil {
		return r.Now.Add(after), nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, problem.Refuse("at", "write it so: 30m, 2h, or 2026-11-15T10:00:00Z", "%q is no time", text)
	}
	return at, nil
}
