package web

import (
	"net/url"
	"strconv"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/web/ui"
	"github.com/weirhq/weir/internal/work"
)

// rights are what the reader may do with tasks.
type rights struct{ command, override bool }

func rightsOf(r *Request) rights {
	return rights{r.Can(auth.Command, "task"), r.Can(auth.Override, "task")}
}

// act is a button of a task.
type act struct {
	Label, Icon, Href string
	// Ask says that a question comes first; Danger that it cannot be undone.
	Ask, Danger bool
}

// taskActs are what may be done with a task in the state it is in. The engine
// decides again: the state may have changed since.
func taskActs(t view.Task, can rights, back string) []act {
	var out []act
	add := func(when bool, label, icon, verb string, ask, danger bool) {
		if when {
			href := taskPath(t.ID) + "/" + verb
			if back != "" {
				href = queryPath(href, "back", back)
			}
			out = append(out, act{label, icon, href, ask, danger})
		}
	}
	waits := t.State == "pending" || t.State == "available"
	ended := t.State == "failed" || t.State == "canceled" || t.State == "skipped"
	add(can.command && ended, "Retry", "retry", "retry", false, false)
	add(can.command && t.State == "pending" && t.Hold != "", "Release", "play", "release", false, false)
	add(can.command && waits && t.Hold == "", "Hold", "pause", "hold", true, false)
	add(can.command && waits, "Priority", "up", "priority", true, false)
	add(can.override && (waits || t.State == "failed"), "Skip", "skipped", "skip", true, true)
	add(can.command && (waits || t.State == "running" && t.CancelAt.IsZero()), "Cancel", "stop", "cancel", true, true)
	return out
}

// backTo is where an action on a task leads: to the page that it began on.
func backTo(r *Request, path string) string {
	if back := r.Query("back"); back != "" {
		return local(back)
	}
	return path
}

// asked is a question about the task of the path.
func (w *Web) asked(r *Request, ask func(view.Task) ui.Question) (ui.Question, error) {
	id, err := r.ID("task")
	if err != nil {
		return ui.Question{}, err
	}
	t, err := w.config.Store.Task(r.Context(), id)
	if err != nil {
		return ui.Question{}, err
	}
	q := ask(t)
	q.Back = backTo(r, taskPath(id))
	return q, nil
}

// toTask is what an action on a task answers: the page it began on, and words.
func toTask[Out any](say func(*Request, Out) string) func(*Request, Out) Done {
	return func(r *Request, out Out) Done {
		return Done{To: backTo(r, "/tasks/"+url.PathEscape(r.PathValue("task"))), Say: say(r, out)}
	}
}

// said is for actions of which there is nothing else to say.
func said(words string) func(*Request, op.Nothing) Done {
	return toTask(func(*Request, op.Nothing) string { return words })
}

func (r *Request) decision() weir.Decision {
	return weir.Decision{By: r.By(), Reason: r.Field("reason")}
}

// reasonField asks why.
func reasonField(hint string, optional bool) []ui.Field {
	return []ui.Field{{Name: "reason", Label: "Reason", Hint: hint, Optional: optional, Focus: true, Auto: "off"}}
}

// called names a task in a sentence.
func called(t view.Task) string { return ui.Cut(taskName(t), 80) }

func (w *Web) askCancelTask(r *Request) (ui.Question, error) {
	return w.asked(r, func(t view.Task) ui.Question {
		q := ui.Question{Title: "Cancel " + called(t) + "?", Button: "Cancel the task", Danger: true, Fields: reasonField("It goes to the timeline.", true)}
		if t.State == "running" {
			q.Text = "It runs on " + plain(t.Worker) + ", which is asked to stop it. The task ends as canceled once the worker confirms."
		} else {
			q.Text = "It ends now, as canceled, and never starts."
		}
		if !t.Job.IsZero() {
			q.Text += " Tasks of its job that need it are skipped."
		}
		return q
	})
}

func canceledTask(_ *Request, out work.CancelOutput) string {
	if out.Ended {
		return "The task is canceled."
	}
	return "The worker is asked to stop the task."
}

func (w *Web) askSkipTask(r *Request) (ui.Question, error) {
	return w.asked(r, func(t view.Task) ui.Question {
		return ui.Question{
			Title: "Skip " + called(t) + "?", Button: "Skip the task", Danger: true, Fields: reasonField("Why it need not run. It goes to the timeline.", false),
			Text: "It does not run. What needs it goes on as if it were done, and its lane goes on without it.",
		}
	})
}

func (w *Web) askHoldTask(r *Request) (ui.Question, error) {
	return w.asked(r, func(t view.Task) ui.Question {
		return ui.Question{
			Title: "Hold " + called(t) + "?", Button: "Hold the task", Text: "It does not start until somebody releases it.",
			Fields: reasonField("What it waits for. Whoever asks why sees it.", true),
		}
	})
}

func (w *Web) askPriority(r *Request) (ui.Question, error) {
	return w.asked(r, func(t view.Task) ui.Question {
		return ui.Question{
			Title: "Change the priority of " + called(t), Button: "Change the priority", Text: "Of the tasks of a service, those with the higher priority start first.",
			Fields: []ui.Field{{Name: "priority", Label: "Priority", Type: "number", Value: strconv.Itoa(t.Priority), Hint: "From -100 to 100.", Focus: true}},
		}
	})
}

func newPriority(r *Request, _ op.Nothing) string {
	return "The priority is " + r.Field("priority") + " now."
}
