package web

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/web/ui"
	"github.com/weirhq/weir/internal/workflow"
	"github.com/weirhq/weir/internal/workflow/definition"
)

var missedOptions = []ui.Option{
	{Value: string(weir.MissedOne), Label: "one run for all of them"},
	{Value: string(weir.MissedSkip), Label: "leave them out"},
	{Value: string(weir.MissedAll), Label: "every one of them, up to the newest 1,000"},
}

var overlapOptions = []ui.Option{
	{Value: string(weir.OverlapAllow), Label: "the new one runs beside it"},
	{Value: string(weir.OverlapSkip), Label: "the new one is left out"},
	{Value: string(weir.OverlapQueueOne), Label: "one waits for its turn"},
	{Value: string(weir.OverlapQueueAll), Label: "each waits for its turn"},
	{Value: string(weir.OverlapCancelRunning), Label: "the old one is canceled"},
}

// scheduleFields are a schedule as a form: of a workflow, if it runs one, or of
// a task.
func scheduleFields(s view.Schedule) []ui.Field {
	fields := []ui.Field{
		{Name: "spec", Label: "When", Value: s.Spec, Example: "0 3 * * *", Hint: "A cron line (minute, hour, day, month, weekday), @hourly, @daily, @weekly, @monthly, @every 90s, or @at 2026-11-15T10:00:00Z for once.", Auto: "off"},
		{Name: "zone", Label: "Time zone", Value: cmp.Or(s.Zone, "UTC"), Example: "Europe/Budapest", Hint: "Of the cron line.", Auto: "off"},
		{Name: "missed", Label: "Runs that were missed", Type: "select", Options: missedOptions, Value: cmp.Or(s.Missed, string(weir.MissedOne))},
		{Name: "catch_up", Label: "Not if older than", Value: spanSaid(s.Spans[0]), Optional: true, Example: "6h", Hint: "Runs that were missed longer ago are left out. Empty: none is too old.", Auto: "off"},
		{Name: "jitter", Label: "Put off by up to", Value: spanSaid(s.Spans[1]), Optional: true, Example: "1m", Hint: "So that what is due at one instant does not start at one.", Auto: "off"},
	}
	if s.Workflow != "" {
		return append(fields, flowFields(s)...)
	}
	task := `{"service": "report"}`
	if len(s.Task) > 0 {
		task = taskText(s.Task)
	}
	return append(fields, ui.Field{
		Name: "task", Label: "Task", Type: "area", Value: task, Hint: `JSON: service, params, and what else a task has: pool, lane, priority, labels, timeout, max_attempts …`,
	})
}

// flowFields are what the schedule of a workflow asks.
func flowFields(s view.Schedule) []ui.Field {
	var options definition.Options
	params := ""
	// What somebody wrote by SQL may not fit; then the field is empty.
	if json.Unmarshal(s.Options, &options) == nil && len(options.Params) > 0 {
		params = indented(encoded(options.Params))
	}
	return []ui.Field{
		{Name: "workflow", Label: "Workflow", Value: s.Workflow, Hint: "It runs in its newest active version.", Auto: "off"},
		{Name: "params", Label: "Params", Type: "area", Value: params, Optional: true, Example: `{"name": "world"}`, Hint: "JSON. Empty: those that the workflow has by itself."},
		{Name: "overlap", Label: "When the last run has not ended", Type: "select", Options: overlapOptions, Value: cmp.Or(s.Overlap, string(weir.OverlapAllow))},
	}
}

// spanSaid is a number of seconds as a form shows it; nothing for zero.
func spanSaid(seconds float64) string {
	if seconds == 0 {
		return ""
	}
	return spanText(time.Duration(seconds * float64(time.Second)))
}

// scheduleForm reads what scheduleFields asked. was are the options that are
// there: those that the form does not ask for stay.
func scheduleForm(r *Request, name string, was json.RawMessage) (weir.Schedule, error) {
	s := weir.Schedule{Name: name, Spec: r.Field("spec"), Zone: r.Field("zone"), Missed: weir.Missed(r.Field("missed"))}
	var err error
	if s.CatchUp, err = spanField(r, "catch_up"); err != nil {
		return s, err
	}
	if s.Jitter, err = spanField(r, "jitter"); err != nil {
		return s, err
	}
	if !r.PostForm.Has("workflow") {
		s.Task, err = parseTask(r.Field("task"))
		return s, err
	}
	s.Workflow, s.Overlap = r.Field("workflow"), weir.Overlap(r.Field("overlap"))
	if s.Workflow == "" {
		return s, problem.Refuse("workflow", "", "say which workflow runs")
	}
	options := map[string]json.RawMessage{}
	_ = json.Unmarshal(was, &options) // what is no object is replaced
	delete(options, "params")
	if text := r.Field("params"); text != "" {
		var params map[string]any
		if decode([]byte(text), &params) != nil || params == nil {
			return s, problem.Refuse("params", `write an object such as {"name": "world"}`, "this is no JSON object")
		}
		options["params"] = json.RawMessage(text)
	}
	if len(options) > 0 {
		s.Options = options
	}
	return s, nil
}

func (w *Web) askNewSchedule(r *Request) (ui.Question, error) {
	if flow := cmp.Or(r.PostForm.Get("workflow"), r.Query("workflow")); flow != "" || r.PostForm.Has("workflow") {
		name := ui.Field{Name: "name", Label: "Name", Example: "nightly", Value: flow + "-nightly", Focus: true, Auto: "off"}
		q := ui.Question{
			Title: "New schedule of " + ui.Cut(plain(flow), 80), Button: "Create the schedule", Text: "It runs the workflow at each of its times, beginning with the next one.",
			Fields: append([]ui.Field{name}, scheduleFields(view.Schedule{Workflow: cmp.Or(flow, " ")})...),
		}
		if flow != "" {
			q.Back = workflowPath(flow)
		}
		return q, nil
	}
	name := ui.Field{Name: "name", Label: "Name", Example: "nightly", Focus: true, Auto: "off"}
	return ui.Question{
		Title: "New schedule", Button: "Create the schedule", Text: "It submits the task at each of its times, beginning with the next one.",
		Fields: append([]ui.Field{name}, scheduleFields(view.Schedule{})...),
	}, nil
}

func (w *Web) createSchedule(r *Request) (Done, error) {
	name := r.Field("name")
	if _, err := w.config.Store.Schedule(r.Context(), name); err == nil {
		return Done{}, problem.Refuse("name", "choose another name, or change that one", "there is a schedule %q already", name)
	}
	s, err := scheduleForm(r, name, nil)
	if err != nil {
		return Done{}, err
	}
	return w.setSchedule(r, s, "Schedule "+name+" is there.")
}

func (w *Web) setSchedule(r *Request, s weir.Schedule, say string) (Done, error) {
	s.By = r.Subject.By()
	if err := w.checkFlow(r, s); err != nil {
		return Done{}, err
	}
	if err := w.config.Commands.SetSchedule(r.Context(), s); err != nil {
		return Done{}, placedTask(placed(err, "name", "spec", "zone", "missed", "workflow", "options", "overlap", "catch_up", "jitter"))
	}
	return Done{To: schedulePath(s.Name), Say: say}, nil
}

// checkFlow refuses the schedule of a workflow whose runs would all fail.
func (w *Web) checkFlow(r *Request, s weir.Schedule) error {
	if s.Workflow == "" || w.config.Workflows == nil {
		return nil
	}
	var options definition.Options
	if decode(encoded(s.Options), &options) != nil {
		return nil // the engine refuses it
	}
	err := w.config.Workflows.Check(r.Context(), s.Workflow, options)
	if gone(err) {
		return problem.Refuse("workflow", "choose one of the page of workflows, or activate a version of it", "no active workflow is called %q", s.Workflow)
	}
	if p := new(problem.Problem); errors.As(err, &p) && p.Kind == problem.Invalid {
		return &problem.Problem{Kind: p.Kind, What: p.What, Next: p.Next, Field: "params", Err: err}
	}
	return err
}

// placedTask puts what the engine says about the task at the field of the task.
func placedTask(err error) error {
	p := problem.Explain(err)
	what, found := strings.CutPrefix(p.What, "task 1: ")
	if p.Kind != problem.Invalid || p.Field != "" || !found {
		return err
	}
	return &problem.Problem{Kind: p.Kind, What: what, Next: p.Next, Field: "task", Err: err}
}

func (w *Web) askChangeSchedule(r *Request) (ui.Question, error) {
	s, err := w.config.Store.Schedule(r.Context(), r.PathValue("name"))
	if err != nil {
		return ui.Question{}, err
	}
	fields := scheduleFields(s)
	fields[0].Focus = true
	return ui.Question{
		Title: "Change " + ui.Cut(s.Name, 80), Button: "Change the schedule", Back: schedulePath(s.Name), Fields: fields,
		Text: "What it has submitted stays as it is. With another time, it counts from now.",
	}, nil
}

func (w *Web) changeSchedule(r *Request) (Done, error) {
	// One that somebody deleted meanwhile must not come back, and one that is
	// paused stays so.
	is, err := w.config.Store.Schedule(r.Context(), r.PathValue("name"))
	if err != nil {
		return Done{}, err
	}
	s, err := scheduleForm(r, is.Name, is.Options)
	if err != nil {
		return Done{}, err
	}
	s.Paused = is.Paused
	return w.setSchedule(r, s, "Schedule "+s.Name+" is changed.")
}

func (w *Web) pauseSchedule(r *Request) (Done, error) {
	return w.setPaused(r, true, "is paused: it submits nothing.")
}

func (w *Web) resumeSchedule(r *Request) (Done, error) {
	return w.setPaused(r, false, "goes on with its next time.")
}

func (w *Web) setPaused(r *Request, paused bool, say string) (Done, error) {
	name := r.PathValue("name")
	if err := w.config.Commands.PauseSchedule(r.Context(), name, paused, r.Subject.By()); err != nil {
		return Done{}, err
	}
	return Done{To: schedulePath(name), Say: "Schedule " + name + " " + say}, nil
}

func (w *Web) askDropSchedule(r *Request) (ui.Question, error) {
	s, err := w.config.Store.Schedule(r.Context(), r.PathValue("name"))
	if err != nil {
		return ui.Question{}, err
	}
	return ui.Question{
		Title: "Delete the schedule " + ui.Cut(s.Name, 80) + "?", Button: "Delete the schedule", Danger: true, Back: schedulePath(s.Name),
		Text: "It submits nothing any more. Tasks that it has submitted stay, and go on. To stop it for a while, pause it instead.",
	}, nil
}

func (w *Web) dropSchedule(r *Request) (Done, error) {
	name := r.PathValue("name")
	if err := w.config.Commands.DropSchedule(r.Context(), name, r.Subject.By()); err != nil {
		return Done{}, err
	}
	return Done{To: "/schedules", Say: "Schedule " + name + " is deleted."}, nil
}

func (w *Web) askRunSchedule(r *Request) (ui.Question, error) {
	s, _, err := w.scheduled(r)
	if err != nil {
		return ui.Question{}, err
	}
	return ui.Question{
		Title: "Run " + ui.Cut(plain(s.Workflow), 80) + " now?", Button: "Run it now", Back: schedulePath(s.Name),
		Text: "A job with the params of the schedule, which does not count it. When it is due next stays as it is.",
	}, nil
}

func (w *Web) runSchedule(r *Request) (Done, error) {
	s, request, err := w.scheduled(r)
	if err != nil {
		return Done{}, err
	}
	id, err := w.config.Workflows.Run(r.Context(), request)
	if err != nil {
		return Done{}, err
	}
	return Done{To: jobPath(id), Say: "This is the run of " + s.Workflow + "."}, nil
}

// scheduled is the schedule of the path and the run that it would make.
func (w *Web) scheduled(r *Request) (s view.Schedule, request workflow.RunRequest, err error) {
	if _, err = w.flows(); err != nil {
		return s, request, err
	}
	if s, err = w.config.Store.Schedule(r.Context(), r.PathValue("name")); err != nil {
		return s, request, err
	}
	if s.Workflow == "" {
		return s, request, problem.New(problem.Conflict, "submit a task instead", "the schedule runs no workflow")
	}
	request = workflow.RunRequest{Workflow: s.Workflow, By: r.By()}
	if len(s.Options) > 0 {
		if err = json.Unmarshal(s.Options, &request.Options); err != nil {
			return s, request, fmt.Errorf("read the options of the schedule: %w", err)
		}
	}
	return s, request, nil
}
