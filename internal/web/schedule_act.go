package web

import (
	"cmp"
	"strings"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/web/ui"
)

var missedOptions = []ui.Option{
	{Value: string(weir.MissedOne), Label: "one run for all of them"},
	{Value: string(weir.MissedSkip), Label: "leave them out"},
	{Value: string(weir.MissedAll), Label: "every one of them, up to the newest 1,000"},
}

// scheduleFields are a schedule as a form.
func scheduleFields(s view.Schedule) []ui.Field {
	task := `{"service": "report"}`
	if len(s.Task) > 0 {
		task = taskText(s.Task)
	}
	return []ui.Field{
		{Name: "spec", Label: "When", Value: s.Spec, Example: "0 3 * * *", Hint: "A cron line (minute, hour, day, month, weekday), @hourly, @daily, @weekly, @monthly, or @every 90s.", Auto: "off"},
		{Name: "zone", Label: "Time zone", Value: cmp.Or(s.Zone, "UTC"), Example: "Europe/Budapest", Hint: "Of the cron line.", Auto: "off"},
		{Name: "missed", Label: "Runs that were missed", Type: "select", Options: missedOptions, Value: cmp.Or(s.Missed, string(weir.MissedOne))},
		{Name: "task", Label: "Task", Type: "area", Value: task, Hint: `JSON: service, params, and what else a task has: pool, lane, priority, labels, timeout, max_attempts …`},
	}
}

// scheduleForm reads what scheduleFields asked.
func scheduleForm(r *Request, name string) (weir.Schedule, error) {
	s := weir.Schedule{Name: name, Spec: r.Field("spec"), Zone: r.Field("zone"), Missed: weir.Missed(r.Field("missed"))}
	var err error
	s.Task, err = parseTask(r.Field("task"))
	return s, err
}

func askNewSchedule(*Request) (ui.Question, error) {
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
	s, err := scheduleForm(r, name)
	if err != nil {
		return Done{}, err
	}
	return w.setSchedule(r, s, "Schedule "+name+" is there.")
}

func (w *Web) setSchedule(r *Request, s weir.Schedule, say string) (Done, error) {
	s.By = r.Subject.By()
	if err := w.config.Commands.SetSchedule(r.Context(), s); err != nil {
		return Done{}, placedTask(placed(err, "name", "spec", "zone", "missed"))
	}
	return Done{To: schedulePath(s.Name), Say: say}, nil
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
	s, err := scheduleForm(r, is.Name)
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
