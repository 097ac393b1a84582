package capacitypages

import (
	"context"
	"strings"

	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/ui"
)

// workersView is a list of workers.
type workersView struct {
	filter        view.WorkerFilter
	tabs          []ui.Tab
	workers       []view.Worker
	newest, older string
}

func (v workersView) narrow() bool { return v.filter.Node != "" || v.filter.Service != "" }

// picks are the fields of the filter. Among the stopped ones it keeps to them.
func (v workersView) picks(ctx context.Context) []ui.Pick {
	picks := []ui.Pick{
		{Name: "service", Label: ui.Say(ctx, "word.service"), Value: v.filter.Service, Hint: ui.Say(ctx, "timeline.whole")},
		{Name: "node", Label: ui.Say(ctx, "word.node"), Value: v.filter.Node, Hint: ui.Say(ctx, "timeline.whole")},
	}
	if v.filter.All {
		picks = append(picks, ui.Pick{
			Name: "stopped", Label: ui.Say(ctx, "word.stoppedonestoo"), Value: "yes",
			Options: []string{"yes"}, Words: "stopped.",
		})
	}
	return picks
}

// workerView is one worker.
type workerView struct {
	view.Worker
	// running is what it runs, at most tasksShown.
	running []view.Task
	events  []view.Event
}

func (w *pages) workers(r *site.Request) (site.View, error) {
	ctx := r.Context()
	stopped, err := r.OneOf("stopped", []string{"yes"})
	if err != nil {
		return site.View{}, err
	}
	v := workersView{filter: view.WorkerFilter{Node: r.Query("node"), Service: r.Query("service"), All: stopped != ""}}
	v.tabs = []ui.Tab{
		{Label: ui.Say(ctx, "word.therenow"), Href: ui.With(r.URL, "stopped", "", "after", ""), Current: stopped == ""},
		{Label: ui.Say(ctx, "word.stoppedonestoo"), Href: ui.With(r.URL, "stopped", "yes", "after", ""), Current: stopped != ""},
	}
	rows, err := w.Store.Workers(r.Context(), v.filter, site.NamesPage(r))
	if err != nil {
		return site.View{}, err
	}
	v.workers, v.newest, v.older = site.NamesPaged(r, rows, func(x view.Worker) string { return x.Name })
	return site.View{
		Head: ui.Head{Title: ui.Say(ctx, "word.workers"), Crumbs: []ui.Crumb{{Label: ui.Say(ctx, "word.nodes"), Href: "/nodes"}}}, Body: workersPage(v), Follow: machineEvents(),
	}, nil
}

func (w *pages) worker(r *site.Request) (site.View, error) {
	found, err := w.Store.Worker(r.Context(), r.PathValue("name"))
	if err != nil {
		return site.View{}, err
	}
	v := workerView{Worker: found}
	if v.running, _, err = w.Store.TaskPage(r.Context(), view.TaskFilter{Worker: found.Name}, view.Page{Limit: tasksShown}); err != nil {
		return site.View{}, err
	}
	if v.events, err = w.EventsOf(r, "worker", found.Name); err != nil {
		return site.View{}, err
	}
	return site.View{Head: ui.Head{Title: found.Name}, Plain: true, Body: workerPage(v), Follow: machineEvents()}, nil
}

func servicesWords(services []string) string { return strings.Join(services, ", ") }
