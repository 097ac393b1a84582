package flowpages

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/ui"
	"github.com/weirhq/weir/internal/work"
	"github.com/weirhq/weir/internal/workflow"
	"github.com/weirhq/weir/internal/workflow/definition"
)

// scheduleFields are a schedule as a form: of a workflow, if it runs one, or of
// a task.
func scheduleFields(ctx context.Context, s view.Schedule) []ui.Field {
	fields := []ui.Field{
		{Name: "spec", Label: ui.Say(ctx, "word.when"), Value: s.Spec, Example: "0 3 * * *", Hint: ui.Say(ctx, "schedule.spec.hint"), Auto: "off"},
		{Name: "zone", Label: ui.Say(ctx, "word.timezone"), Value: cmp.Or(s.Zone, "UTC"), Example: "Europe/Budapest", Hint: ui.Say(ctx, "schedule.zone.hint"), Auto: "off"},
		{Name: "missed", Label: ui.Say(ctx, "word.runsthatweremissed"), Type: "select", Options: ui.Codes(ctx, "missed.", weir.MissedOne, weir.MissedSkip, weir.MissedAll), Value: cmp.Or(s.Missed, string(weir.MissedOne))},
		{Name: "catch_up", Label: ui.Say(ctx, "word.notifolderthan"), Value: spanSaid(s.Spans[0]), Optional: true, Example: "6h", Hint: ui.Say(ctx, "schedule.catchup.hint"), Auto: "off"},
		{Name: "jitter", Label: ui.Say(ctx, "word.putoffbyupto"), Value: spanSaid(s.Spans[1]), Optional: true, Example: "1m", Hint: ui.Say(ctx, "schedule.jitter.hint"), Auto: "off"},
	}
	if s.Workflow != "" {
		return append(fields, flowFields(ctx, s)...)
	}
	task := `{"service": "report"}`
	if len(s.Task) > 0 {
		task = taskText(s.Task)
	}
	return append(fields, ui.Field{
		Name: "task", Label: ui.Say(ctx, "word.task"), Type: "area", Value: task, Hint: ui.Say(ctx, "schedule.task.hint"),
	})
}

// flowFields are what the schedule of a workflow asks.
func flowFields(ctx context.Context, s view.Schedule) []ui.Field {
	var options definition.Options
	params := ""
	// What somebody wrote by SQL may not fit; then the field is empty.
	if json.Unmarshal(s.Options, &options) == nil && len(options.Params) > 0 {
		params = indented(encoded(options.Params))
	}
	return []ui.Field{
		{
			Name: "workflow", Label: ui.Say(ctx, "word.workflow"), Value: s.Workflow, Hint: ui.Say(ctx, "schedule.workflow.hint"),
			Auto: "off",
		},
		{
			Name: "params", Label: ui.Say(ctx, "word.params"), Type: "area", Value: params, Optional: true,
			Example: `{"name": "world"}`, Hint: ui.Say(ctx, "schedule.params.hint"),
		},
		{
			Name: "overlap", Label: ui.Say(ctx, "word.whenthelastrunhasnotended"), Type: "select", Options: ui.Codes(ctx, "overlap.",
				weir.OverlapAllow, weir.OverlapSkip, weir.OverlapQueueOne, weir.OverlapQueueAll, weir.OverlapCancelRunning),
			Value: cmp.Or(s.Overlap, string(weir.OverlapAllow)),
		},
	}
}

// spanSaid is a number of seconds as a form shows it; nothing for zero.
func spanSaid(seconds float64) string {
	if seconds == 0 {
		return ""
	}
	return site.SpanText(time.Duration(seconds * float64(time.Second)))
}

// putSchedule writes what scheduleFields asked. is is what is there: the options that the
// form does not ask for stay, and one that is paused stays so.
func (w *pages) putSchedule(r *site.Request, name string, is view.Schedule, m op.Matched, said string) (site.Done, error) {
	in := work.PuttingSchedule{NamedSchedule: work.NamedSchedule{Schedule: name}, Matched: m}
	in.Body = work.ScheduleSpec{Spec: r.Field("spec"), Zone: r.Field("zone"), Missed: r.Field("missed"), Paused: is.Paused}
	for field, into := range map[string]*op.Period{"catch_up": &in.Body.CatchUp, "jitter": &in.Body.Jitter} {
		d, err := site.SpanField(r, field)
		if err != nil {
			return site.Done{}, err
		}
		*into = op.Period(d)
	}
	if r.PostForm.Has("workflow") {
		in.Body.Workflow, in.Body.Overlap = r.Field("workflow"), r.Field("overlap")
		if in.Body.Workflow == "" {
			return site.Done{}, problem.Refuse("workflow", "", "say which workflow runs")
		}
		var err error
		if in.Body.Options, err = optionsForm(r, is.Options); err != nil {
			return site.Done{}, err
		}
	} else {
		task, err := parseTask(r.Field("task"))
		if err != nil {
			return site.Done{}, err
		}
		in.Body.Task = &task
	}
	if _, err := work.PutSchedule.Call(r.Context(), w.Operations, &in); err != nil {
		return site.Done{}, placedSchedule(err, in.Body.Workflow)
	}
	return site.Done{To: site.SchedulePath(name), Say: said}, nil
}

// optionsForm puts the params of the form over the options that are there.
func optionsForm(r *site.Request, was json.RawMessage) (json.RawMessage, error) {
	options := map[string]json.RawMessage{}
	_ = json.Unmarshal(was, &options) // what is no object is replaced
	delete(options, "params")
	if text := r.Field("params"); text != "" {
		var params map[string]any
		if decode([]byte(text), &params) != nil || params == nil {
			return nil, problem.Refuse("params", `write an object such as {"name": "world"}`, "this is no JSON object")
		}
		options["params"] = json.RawMessage(text)
	}
	if len(options) == 0 {
		return nil, nil
	}
	return encoded(options), nil
}

func (w *pages) askNewSchedule(r *site.Request) (ui.Question, error) {
	ctx := r.Context()
	if flow := cmp.Or(r.PostForm.Get("workflow"), r.Query("workflow")); flow != "" || r.PostForm.Has("workflow") {
		name := ui.Field{
			Name: "name", Label: ui.Say(ctx, "word.name"), Example: "nightly", Value: flow + "-nightly",
			Focus: true, Auto: "off",
		}
		q := ui.Question{
			Title: ui.Say(ctx, "schedule.newof", ui.Cut(ui.Line(flow), 80)), Button: ui.Say(ctx, "schedule.create"), Text: ui.Say(ctx, "schedule.create.flow"),
			Fields: append([]ui.Field{name}, scheduleFields(ctx, view.Schedule{Workflow: cmp.Or(flow, " ")})...),
		}
		if flow != "" {
			q.Back = site.WorkflowPath(flow)
		}
		return q, nil
	}
	name := ui.Field{Name: "name", Label: ui.Say(ctx, "word.name"), Example: "nightly", Focus: true, Auto: "off"}
	return ui.Question{
		Title: ui.Say(ctx, "word.newschedule"), Button: ui.Say(ctx, "schedule.create"), Text: ui.Say(ctx, "schedule.create.task"),
		Fields: append([]ui.Field{name}, scheduleFields(ctx, view.Schedule{})...),
	}, nil
}

func (w *pages) createSchedule(r *site.Request) (site.Done, error) {
	name := r.Field("name")
	done, err := w.putSchedule(r, name, view.Schedule{}, op.Matched{IfNoneMatch: "*"}, ui.Say(r.Context(),
		"said.schedule.created", name))
	if err != nil && problem.Explain(err).Kind == problem.Conflict {
		err = problem.Refuse("name", "choose another name, or change that one", "there is a schedule %q already", name)
	}
	return done, err
}

// engineFields are those that the engine calls as the form does.
var engineFields = []string{"name", "spec", "zone", "missed", "workflow", "options", "overlap", "catch_up", "jitter"}

// placedSchedule puts a refusal at its field. What a workflow would refuse is about its
// params, and what the engine says of the task is about that.
func placedSchedule(err error, workflow string) error {
	p := problem.Explain(err)
	task := p.Below("tasks[0]")
	switch {
	case workflow != "" && p.Kind == problem.NotFound:
		return problem.Refuse("workflow", "choose one of the page of workflows, or activate a version of it", "no active workflow is called %q", workflow)
	case p.Kind != problem.Invalid || p.Field == "" || slices.Contains(engineFields, p.Field):
		return err
	case workflow != "":
		return p.Within("params")
	}
	return task.Within("task")
}

func (w *pages) askChangeSchedule(r *site.Request) (ui.Question, error) {
	ctx := r.Context()
	s, err := w.Store.Schedule(r.Context(), r.PathValue("schedule"))
	if err != nil {
		return ui.Question{}, err
	}
	fields := scheduleFields(ctx, s)
	fields[0].Focus = true
	return ui.Question{
		Title: ui.Say(ctx, "ask.change", ui.Cut(s.Name, 80)), Button: ui.Say(ctx, "schedule.change"), Back: site.SchedulePath(s.Name),
		Fields: fields,
		Text:   ui.Say(ctx, "schedule.change.text"),
	}, nil
}

func (w *pages) changeSchedule(r *site.Request) (site.Done, error) {
	// One that somebody deleted meanwhile must not come back.
	is, err := w.Store.Schedule(r.Context(), r.PathValue("schedule"))
	if err != nil {
		return site.Done{}, err
	}
	return w.putSchedule(r, is.Name, is, op.Matched{IfMatch: "*"}, ui.Say(r.Context(), "said.schedule.changed", is.Name))
}

// toSchedule leads to the schedule of the path and says what became of it.
func toSchedule(key string) func(*site.Request, op.Nothing) site.Done {
	return func(r *site.Request, _ op.Nothing) site.Done {
		name := r.PathValue("schedule")
		return site.Done{To: site.SchedulePath(name), Say: ui.Say(r.Context(), key, name)}
	}
}

func (w *pages) askDropSchedule(r *site.Request) (ui.Question, error) {
	ctx := r.Context()
	s, err := w.Store.Schedule(r.Context(), r.PathValue("schedule"))
	if err != nil {
		return ui.Question{}, err
	}
	return ui.Question{
		Title: ui.Say(ctx, "ask.schedule.drop", ui.Cut(s.Name, 80)), Button: ui.Say(ctx, "schedule.drop"), Danger: true, Back: site.SchedulePath(s.Name),
		Text: ui.Say(ctx, "schedule.drop.text"),
	}, nil
}

func scheduleGone(r *site.Request, _ op.Nothing) site.Done {
	return site.Done{To: "/schedules", Say: ui.Say(r.Context(), "said.schedule.gone", r.PathValue("schedule"))}
}

func (w *pages) askRunSchedule(r *site.Request) (ui.Question, error) {
	ctx := r.Context()
	s, _, err := w.scheduled(r)
	if err != nil {
		return ui.Question{}, err
	}
	return ui.Question{
		Title: ui.Say(ctx, "ask.schedule.run", ui.Cut(ui.Line(s.Workflow), 80)), Button: ui.Say(ctx, "schedule.run"),
		Back: site.SchedulePath(s.Name),
		Text: ui.Say(ctx, "schedule.run.text"),
	}, nil
}

func (w *pages) runSchedule(r *site.Request) (site.Done, error) {
	s, request, err := w.scheduled(r)
	if err != nil {
		return site.Done{}, err
	}
	id, err := w.Workflows.Run(r.Context(), request)
	if err != nil {
		return site.Done{}, err
	}
	return site.Done{To: site.JobPath(id), Say: ui.Say(r.Context(), "said.workflow.run", s.Workflow)}, nil
}

// scheduled is the schedule of the path and the run that it would make.
func (w *pages) scheduled(r *site.Request) (s view.Schedule, request workflow.RunRequest, err error) {
	if _, err = w.Flows(); err != nil {
		return s, request, err
	}
	if s, err = w.Store.Schedule(r.Context(), r.PathValue("schedule")); err != nil {
		return s, request, err
	}
	if s.Workflow == "" {
		return s, request, problem.New(problem.Conflict, "submit a task instead", "the schedule runs no workflow")
	}
	request = workflow.RunRequest{Workflow: s.Workflow, Zone: s.Zone, By: r.By()}
	if len(s.Options) > 0 {
		if err = json.Unmarshal(s.Options, &request.Options); err != nil {
			return s, request, fmt.Errorf("read the options of the schedule: %w", err)
		}
	}
	return s, request, nil
}
