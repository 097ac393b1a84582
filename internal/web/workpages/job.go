package workpages

import (
	"context"
	"encoding/json"
	"net/url"

	"github.com/a-h/templ"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/ui"
	"github.com/weirhq/weir/internal/work"
)

// jobTabs are the views of a job, by the end of their addresses.
var jobTabs = []struct{ key, end string }{
	{"word.graph", ""},
	{"job.gantt", "/gantt"},
	{"word.tasks", "/tasks"},
	{"word.artifacts", "/artifacts"},
	{"word.timeline", "/timeline"},
	{"word.params", "/params"},
}

// jobView is what all views of a job show.
type jobView struct {
	view.Job
	jobFlow
	tab       string
	mayCancel bool
}

func (v jobView) tabs(ctx context.Context) []ui.Tab {
	var out []ui.Tab
	for _, t := range jobTabs {
		tab := ui.Tab{Label: ui.Say(ctx, t.key), Href: site.JobPath(v.ID) + t.end, Current: t.end == v.tab}
		if t.end == "/tasks" {
			tab.Count = ui.Number(v.Total)
		}
		out = append(out, tab)
	}
	return out
}

// live is how many tasks have not ended.
func (v jobView) live() int { return v.Total - v.Done - v.Failed - v.Canceled - v.Skipped }

// aJob serves one view of a job.
func (w *pages) aJob(tab string, body func(*site.Request, jobView) (templ.Component, error)) func(*site.Request) (site.View, error) {
	return func(r *site.Request) (site.View, error) {
		id, err := r.ID("id")
		if err != nil {
			return site.View{}, err
		}
		j, err := w.Store.Job(r.Context(), id)
		if err != nil {
			return site.View{}, err
		}
		if tab == "" && j.Kind == "fleet" && w.Fleets != nil && r.Can(auth.Read, "fleet") {
			return site.View{}, site.SeeOther(site.FleetJobPath(j.ID)) // its devices say more than a graph of tasks
		}
		f, err := w.jobFlow(r, j)
		if err != nil {
			return site.View{}, err
		}
		v := jobView{j, f, tab, r.Can(auth.Command, "job") && !j.Ended()}
		inner, err := body(r, v)
		if err != nil {
			return site.View{}, err
		}
		return site.View{Head: ui.Head{Title: site.JobName(j)}, Plain: true, Body: jobPage(v, inner), Follow: v.follow()}, nil
	}
}

func (w *pages) jobGraph(r *site.Request, v jobView) (templ.Component, error) {
	g, err := w.Store.Graph(r.Context(), v.ID)
	if err != nil {
		return nil, err
	}
	children := childrenOf(v, g)
	g, folded := arranged(g, itemsDrawn)
	return graphTab(v, g, folded, children), nil
}

func (w *pages) jobGantt(r *site.Request, v jobView) (templ.Component, error) {
	ctx := r.Context()
	g, err := w.Store.Graph(r.Context(), v.ID)
	if err != nil {
		return nil, err
	}
	spans, err := w.Store.Spans(r.Context(), v.ID)
	if err != nil {
		return nil, err
	}
	g, _ = arranged(g, len(g.Nodes))
	return ganttTab(v, g, timetable(ctx, v, g, spans, r.Now)), nil
}

func (w *pages) jobTasks(r *site.Request, v jobView) (templ.Component, error) {
	list, err := w.taskList(r, v.ID)
	if err != nil {
		return nil, err
	}
	// Who filters wants to see what fits.
	if list.filter == (view.TaskFilter{Job: v.ID}) {
		list.folded = folds(list.tasks, r.Query("items"))
	}
	return tasksTab(v, list), nil
}

func (w *pages) jobTimeline(r *site.Request, v jobView) (templ.Component, error) {
	before := r.Query("before")
	events, next, err := w.Store.Timeline(r.Context(), view.TimelineFilter{Job: v.ID, NotKinds: []string{"auth"}}, before, site.PerPage)
	if err != nil {
		return nil, err
	}
	if v.Total <= graphMost {
		g, err := w.Store.Graph(r.Context(), v.ID)
		if err != nil {
			return nil, err
		}
		nameSubjects(events, g)
	}
	newest, older := "", ""
	if before != "" {
		newest = ui.With(r.URL, "before", "")
	}
	if next != "" {
		older = ui.With(r.URL, "before", next)
	}
	return timelineTab(events, newest, older), nil
}

// nameSubjects gives events the names of their tasks.
func nameSubjects(events []view.Event, g view.Graph) {
	names := make(map[weir.ID]string, len(g.Nodes))
	for _, n := range g.Nodes {
		names[n.ID] = site.Named(n.Key, n.Service)
	}
	for i := range events {
		if name, ok := names[events[i].Task]; ok {
			events[i].Subject = name
		}
	}
}

func (w *pages) jobParams(_ *site.Request, v jobView) (templ.Component, error) {
	return paramsTab(v), nil
}

// jobParamsFile is the params of a job, whole.
func (w *pages) jobParamsFile(r *site.Request) (contentType string, data []byte, err error) {
	id, err := r.ID("id")
	if err != nil {
		return "", nil, err
	}
	j, err := w.Store.Job(r.Context(), id)
	return site.JSONType, orNull(j.Params), err
}

// orNull is JSON for nothing, too.
func orNull(data json.RawMessage) []byte {
	if len(data) == 0 {
		return []byte("null")
	}
	return data
}

func (w *pages) askCancelJob(r *site.Request) (ui.Question, error) {
	ctx := r.Context()
	id, err := r.ID("job")
	if err != nil {
		return ui.Question{}, err
	}
	j, err := w.Store.Job(r.Context(), id)
	if err != nil {
		return ui.Question{}, err
	}
	live := jobView{Job: j}.live()
	return ui.Question{
		Title: ui.Say(ctx, "ask.cancel", ui.Cut(site.JobName(j), 80)), Button: ui.Say(ctx, "ask.job.cancel"), Danger: true, Back: site.JobPath(id), Fields: site.ReasonField(ctx, ui.Say(ctx, "ask.timeline"), true),
		Text: ui.Count(ctx, "ask.job.cancel.text", live),
	}, nil
}

func canceledJob(r *site.Request, out work.CancelJobOutput) site.Done {
	ctx := r.Context()
	return site.Done{To: "/jobs/" + url.PathEscape(r.PathValue("job")), Say: canceledWords(ctx, out.Ended, out.Asked)}
}

func canceledWords(ctx context.Context, ended, asked int) string {
	switch {
	case ended+asked == 0: // a queued one has no tasks yet
		return ui.Say(ctx, "said.job.ended")
	case asked == 0:
		return ui.Count(ctx, "said.job.canceled", ended) + "."
	}
	return ui.Count(ctx, "said.job.canceled", ended) + ", " + ui.Count(ctx, "said.job.asked", asked) + "."
}

// jobOf is the job of a task, or the zero job.
func (w *pages) jobOf(r *site.Request, id weir.ID) (view.Job, error) {
	if id.IsZero() {
		return view.Job{}, nil
	}
	return w.Store.Job(r.Context(), id)
}
