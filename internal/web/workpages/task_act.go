package workpages

import (
	"context"
	"net/url"
	"strconv"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/ui"
	"github.com/weirhq/weir/internal/work"
)

// rights are what the reader may do with tasks.
type rights struct{ command, override bool }

func rightsOf(r *site.Request) rights {
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
func taskActs(ctx context.Context, t view.Task, can rights, back string) []act {
	var out []act
	add := func(when bool, key, icon, verb string, ask, danger bool) {
		if when {
			href := site.TaskPath(t.ID) + "/" + verb
			if back != "" {
				href = site.QueryPath(href, "back", back)
			}
			out = append(out, act{ui.Say(ctx, key), icon, href, ask, danger})
		}
	}
	waits := t.State == "pending" || t.State == "available"
	ended := t.State == "failed" || t.State == "canceled" || t.State == "skipped"
	add(can.command && ended, "task.retry", "retry", "retry", false, false)
	held := can.command && t.State == "pending" && t.Hold != "" && t.Service != waitService
	add(held, "act.release", "play", "release", true, false)
	add(held, "act.refuse", "close", "refuse", true, true)
	add(can.command && waits && t.Hold == "", "word.hold", "pause", "hold", true, false)
	add(can.command && waits, "word.priority", "up", "priority", true, false)
	add(can.override && (waits || t.State == "failed"), "task.skip", "skipped", "skip", true, true)
	add(can.command && (waits || t.State == "running" && t.CancelAt.IsZero()), "word.cancel", "stop", "cancel", true, true)
	return out
}

// backTo is where an action on a task leads: to the page that it began on.
func backTo(r *site.Request, path string) string {
	if back := r.Query("back"); back != "" {
		return site.Local(back)
	}
	return path
}

// asked is a question about the task of the path.
func (w *pages) asked(r *site.Request, ask func(view.Task) ui.Question) (ui.Question, error) {
	id, err := r.ID("task")
	if err != nil {
		return ui.Question{}, err
	}
	t, err := w.Store.Task(r.Context(), id)
	if err != nil {
		return ui.Question{}, err
	}
	q := ask(t)
	q.Back = backTo(r, site.TaskPath(id))
	return q, nil
}

// toTask is what an action on a task answers: the page it began on, and words.
func toTask[Out any](say func(*site.Request, Out) string) func(*site.Request, Out) site.Done {
	return func(r *site.Request, out Out) site.Done {
		return site.Done{To: backTo(r, "/tasks/"+url.PathEscape(r.PathValue("task"))), Say: say(r, out)}
	}
}

// said is for actions of which there is nothing else to say.
func said(key string) func(*site.Request, op.Nothing) site.Done {
	return toTask(func(r *site.Request, _ op.Nothing) string { return ui.Say(r.Context(), key) })
}

// called names a task in a sentence.
func called(t view.Task) string { return ui.Cut(site.TaskName(t), 80) }

func (w *pages) askCancelTask(r *site.Request) (ui.Question, error) {
	ctx := r.Context()
	return w.asked(r, func(t view.Task) ui.Question {
		q := ui.Question{Title: ui.Say(ctx, "ask.cancel", called(t)), Button: ui.Say(ctx, "ask.task.cancel"), Danger: true, Fields: site.ReasonField(ctx, ui.Say(ctx, "ask.timeline"), true)}
		if t.State == "running" {
			q.Text = ui.Say(ctx, "ask.task.cancel.running", ui.Line(t.Worker))
		} else {
			q.Text = ui.Say(ctx, "ask.task.cancel.waiting")
		}
		if !t.Job.IsZero() {
			q.Text += " " + ui.Say(ctx, "ask.task.cancel.job")
		}
		return q
	})
}

func canceledTask(r *site.Request, out work.CancelOutput) string {
	ctx := r.Context()
	if out.Ended {
		return ui.Say(ctx, "said.task.canceled")
	}
	return ui.Say(ctx, "said.task.asked")
}

func (w *pages) askSkipTask(r *site.Request) (ui.Question, error) {
	ctx := r.Context()
	return w.asked(r, func(t view.Task) ui.Question {
		return ui.Question{
			Title: ui.Say(ctx, "ask.task.skip.title", called(t)), Button: ui.Say(ctx, "ask.task.skip"), Danger: true, Fields: site.ReasonField(ctx, ui.Say(ctx, "ask.task.skip.why"), false),
			Text: ui.Say(ctx, "ask.task.skip.text"),
		}
	})
}

func (w *pages) askHoldTask(r *site.Request) (ui.Question, error) {
	ctx := r.Context()
	return w.asked(r, func(t view.Task) ui.Question {
		return ui.Question{
			Title: ui.Say(ctx, "ask.task.hold.title", called(t)), Button: ui.Say(ctx, "ask.task.hold"), Text: ui.Say(ctx,
				"ask.task.hold.text"),
			Fields: site.ReasonField(ctx, ui.Say(ctx, "ask.task.hold.why"), true),
		}
	})
}

func (w *pages) askReleaseTask(r *site.Request) (ui.Question, error) {
	ctx := r.Context()
	return w.asked(r, func(t view.Task) ui.Question {
		return ui.Question{
			Title: ui.Say(ctx, "ask.task.release.title", called(t)), Button: ui.Say(ctx, "ask.task.release"), Text: ui.Sentence(ui.Cut(ui.Line(heldSaid(ctx, t)), 200)),
			Fields: site.ReasonField(ctx, ui.Say(ctx, "ask.timeline"), true),
		}
	})
}

func (w *pages) askRefuseTask(r *site.Request) (ui.Question, error) {
	ctx := r.Context()
	return w.asked(r, func(t view.Task) ui.Question {
		return ui.Question{
			Title: ui.Say(ctx, "ask.task.refuse.title", called(t)), Button: ui.Say(ctx, "ask.task.refuse"), Danger: true,
			Text: ui.Say(ctx, "ask.task.refuse.text"), Fields: site.ReasonField(ctx, ui.Say(ctx, "ask.timeline"), false),
		}
	})
}

func (w *pages) askPriority(r *site.Request) (ui.Question, error) {
	ctx := r.Context()
	return w.asked(r, func(t view.Task) ui.Question {
		return ui.Question{
			Title: ui.Say(ctx, "ask.task.priority.title", called(t)), Button: ui.Say(ctx, "ask.task.priority"), Text: ui.Say(ctx, "ask.task.priority.text"),
			Fields: []ui.Field{{Name: "priority", Label: ui.Say(ctx, "word.priority"), Type: "number", Value: strconv.Itoa(t.Priority), Hint: ui.Say(ctx, "ask.task.priority.hint"), Focus: true}},
		}
	})
}

func newPriority(r *site.Request, _ op.Nothing) string {
	return ui.Say(r.Context(), "said.task.priority", r.Field("priority"))
}
