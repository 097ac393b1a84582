package web

import (
	"fmt"
	"strconv"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/web/ui"
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
	id, err := r.ID("id")
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

// commanded does something with the task of the path and says so.
func commanded(r *Request, do func(weir.ID) (string, error)) (Done, error) {
	id, err := r.ID("id")
	if err != nil {
		return Done{}, err
	}
	said, err := do(id)
	if err != nil {
		return Done{}, err
	}
	return Done{To: backTo(r, taskPath(id)), Say: said}, nil
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

func (w *Web) cancelTask(r *Request) (Done, error) {
	return commanded(r, func(id weir.ID) (string, error) {
		ended, err := w.config.Commands.Cancel(r.Context(), id, r.decision())
		if ended {
			return "The task is canceled.", err
		}
		return "The worker is asked to stop the task.", err
	})
}

func (w *Web) retryTask(r *Request) (Done, error) {
	return commanded(r, func(id weir.ID) (string, error) {
		return "The task runs again, and with it what was skipped because of it.", w.config.Commands.Retry(r.Context(), id, r.By())
	})
}

func (w *Web) releaseTask(r *Request) (Done, error) {
	return commanded(r, func(id weir.ID) (string, error) {
		return "The task is released and goes on to its next gate.", w.config.Commands.Release(r.Context(), id, r.By())
	})
}

func (w *Web) askSkipTask(r *Request) (ui.Question, error) {
	return w.asked(r, func(t view.Task) ui.Question {
		return ui.Question{
			Title: "Skip " + called(t) + "?", Button: "Skip the task", Danger: true, Fields: reasonField("Why it need not run. It goes to the timeline.", false),
			Text: "It does not run. What needs it goes on as if it were done, and its lane goes on without it.",
		}
	})
}

func (w *Web) skipTask(r *Request) (Done, error) {
	return commanded(r, func(id weir.ID) (string, error) {
		if r.Field("reason") == "" {
			return "", problem.Refuse("reason", "", "say why the task need not run")
		}
		return "The task is skipped; what needs it goes on.", w.config.Commands.Skip(r.Context(), id, r.decision())
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

func (w *Web) holdTask(r *Request) (Done, error) {
	return commanded(r, func(id weir.ID) (string, error) {
		return "The task is held until somebody releases it.", w.config.Commands.Hold(r.Context(), id, r.decision())
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

func (w *Web) setPriority(r *Request) (Done, error) {
	return commanded(r, func(id weir.ID) (string, error) {
		n, err := strconv.Atoi(r.Field("priority"))
		if err != nil {
			return "", problem.Refuse("priority", "give a number from -100 to 100", "%q is not a number", r.Field("priority"))
		}
		return fmt.Sprintf("The priority is %d now.", n), w.config.Commands.SetPriority(r.Context(), id, n, r.By())
	})
}
