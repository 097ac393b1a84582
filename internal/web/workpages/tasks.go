package workpages

import (
	"context"
	"net/url"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/locale"
	"github.com/weirhq/weir/internal/timeline"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/ui"
	"github.com/weirhq/weir/internal/work"
)

// tasksView is a list of tasks.
type tasksView struct {
	filter view.TaskFilter
	// job is the text of the filter: an id, whole or its end. since is one, too.
	job, since string

	tasks []view.Task
	// alone says by class why tasks of this list that may start are not taken.
	alone map[string]string
	// folded are maps whose items share a line, by the key of the step.
	folded        map[string]*fold
	bulk          bulkBar
	rights        rights
	back          string
	newest, older string
}

func (v tasksView) narrow() bool { return v.filter != view.TaskFilter{} }

func (w *pages) tasks(r *site.Request) (site.View, error) {
	ctx := r.Context()
	v, err := w.taskList(r, weir.ID{})
	if err != nil {
		return site.View{}, err
	}
	follow := &timeline.Filter{Kinds: []string{"task"}, Job: v.filter.Job}
	return site.View{
		Head: ui.Head{Title: ui.Say(ctx, "word.tasks"), Actions: site.SubmitButton(r)}, Body: tasksPage(v),
		Follow: follow,
	}, nil
}

// taskList reads the list that the address asks for; of one job, if it is given.
func (w *pages) taskList(r *site.Request, job weir.ID) (tasksView, error) {
	v := tasksView{job: r.Query("job"), since: r.Query("since"), rights: rightsOf(r), back: r.URL.RequestURI()}
	f, err := w.taskFilter(r)
	if err != nil {
		return tasksView{}, err
	}
	with := url.Values{}
	if !job.IsZero() {
		f.Job = job
		with.Set("job", job.String())
	}
	v.filter = f
	if v.bulk, err = w.bar(r, "task", taskDeeds, string(f.State), with, func(most int) (int, bool, error) { return w.Store.CountTasks(r.Context(), f, most) }); err != nil {
		return tasksView{}, err
	}
	var next string
	if v.tasks, next, err = w.Store.TaskPage(r.Context(), f, r.Page()); err != nil {
		return tasksView{}, err
	}
	v.newest, v.older = site.Paging(r, next)
	v.alone, err = w.unserved(r.Context(), v.tasks)
	return v, err
}

// taskFilter reads the filter of tasks in the address.
func (w *pages) taskFilter(r *site.Request) (f view.TaskFilter, err error) {
	f = view.TaskFilter{Service: r.Query("service"), Pool: r.Query("pool"), Lane: r.Query("lane"), Key: r.Query("key"), Node: r.Query("node")}
	if f.State, err = site.OneOf(r, "state", view.States); err != nil {
		return f, err
	}
	if f.Gate, err = site.OneOf(r, "gate", view.Gates); err != nil {
		return f, err
	}
	if f.Since, err = r.Since("since"); err != nil {
		return f, err
	}
	if job := r.Query("job"); job != "" {
		f.Job, err = w.Store.JobID(r.Context(), job)
	}
	return f, err
}

// unservedMost bounds how many classes of a page are looked up.
const unservedMost = 10

// unserved says by class why available tasks are not taken, as their pages do: such a task
// waits for nothing that will come by itself.
func (w *pages) unserved(ctx context.Context, tasks []view.Task) (map[string]string, error) {
	out := map[string]string{}
	for _, t := range tasks {
		class := t.Class()
		if _, known := out[class]; known || t.State != "available" || len(out) == unservedMost {
			continue
		}
		reasons, err := work.WhyTask.Call(ctx, w.Operations, &work.NamedTask{Task: t.ID.String()})
		if err != nil {
			return nil, err
		}
		out[class] = ""
		for _, r := range reasons.Items {
			if r.Gate == "worker" && !r.Open {
				out[class] = r.In(locale.From(ctx).Code)
			}
		}
	}
	return out, nil
}

// glance says on one line why a task is where it is.
func glance(ctx context.Context, t view.Task, alone map[string]string) string {
	return ui.Line(where(ctx, t, alone))
}

func where(ctx context.Context, t view.Task, alone map[string]string) string {
	switch t.State {
	case "pending":
		return atGate(ctx, t)
	case "available":
		if why := alone[t.Class()]; why != "" {
			return why
		}
		return ui.Say(ctx, "glance.worker")
	case "running":
		if !t.CancelAt.IsZero() {
			return ui.Say(ctx, "glance.stopping", t.Worker)
		}
		return ui.Say(ctx, "glance.on", t.Worker)
	}
	return t.Cause
}

// gateSaid is the reason of a gate, in the language of the page. A name at its begin, such as
// that of a step, stays as it is written.
func gateSaid(ctx context.Context, g work.Reason) string {
	language := locale.From(ctx).Code
	text := ui.Line(g.In(language))
	if g.Named(language) {
		return text
	}
	return ui.Sentence(text)
}

// heldSaid is why a task is held, in the language of the page. The command that a reason
// advises is a button here.
func heldSaid(ctx context.Context, t view.Task) string {
	return ui.Because(ctx, t.HoldReason.Without("do"), t.Hold)
}

func atGate(ctx context.Context, t view.Task) string {
	switch t.Gate {
	case "needs":
		return ui.Count(ctx, "glance.needs", len(t.Needs))
	case "time":
		if t.Attempt > 0 {
			return ui.Say(ctx, "glance.retry", t.Attempt)
		}
		return ui.Say(ctx, "glance.time")
	case "hold":
		return ui.Say(ctx, "glance.held", heldSaid(ctx, t))
	case "plan":
		return ui.Say(ctx, "glance.plan")
	case "pool":
		return ui.Say(ctx, "glance.pool", t.Pool)
	}
	if t.Lane != "" {
		return ui.Say(ctx, "glance.lane", t.Lane)
	}
	return ui.Say(ctx, "glance.gate", t.Gate)
}
