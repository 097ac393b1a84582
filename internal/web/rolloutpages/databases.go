package rolloutpages

import (
	"context"
	"slices"

	"github.com/a-h/templ"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/rollout"
	"github.com/weirhq/weir/internal/rollout/target"
	"github.com/weirhq/weir/internal/timeline"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/ui"
)

func databasePath(name string) string { return ui.Path("databases", name) }

// engines are those that a database may have.
var engines = []string{"postgres", "mysql"}

// databasesView is a list of databases. An address is never part of a page.
type databasesView struct {
	rows          []rollout.Database
	filter        rollout.DatabaseFilter
	manage        bool
	newest, older string
}

func (v databasesView) filtered() bool {
	return v.filter.Search != "" || v.filter.Environment != "" || v.filter.Engine != ""
}

func (w *pages) databases(r *site.Request) (site.View, error) {
	ctx := r.Context()
	v := databasesView{manage: r.Can(auth.Manage, "database")}
	head := ui.Head{Title: ui.Say(ctx, "databases.title"), Actions: databasesActs(v.manage && w.Rollouts != nil)}
	if w.Rollouts == nil {
		return site.View{Head: head, Body: ui.Empty("database", ui.Say(ctx, "rollouts.off"), ui.Say(ctx, "rollouts.off.text")), Still: true}, nil
	}
	engine, err := r.OneOf("engine", engines)
	if err != nil {
		return site.View{}, err
	}
	v.filter = rollout.DatabaseFilter{Search: r.Query("search"), Environment: r.Query("environment"), Engine: engine}
	rows, err := w.Rollouts.Databases(ctx, v.filter, site.NamesPage(r))
	if err != nil {
		return site.View{}, err
	}
	v.rows, v.newest, v.older = site.NamesPaged(r, rows, func(d rollout.Database) string { return d.Name })
	return site.View{Head: head, Body: databasesPage(v), Follow: &timeline.Filter{Kinds: []string{"database", "rollout"}}}, nil
}

// databaseTabs are the views of a database, by the end of their addresses.
var databaseTabs = []struct{ key, end string }{{"database.overview", ""}, {"database.history", "/history"}, {"database.drift", "/drift"}}

// databaseView is what all views of a database show.
type databaseView struct {
	rollout.Database
	tab    string
	manage bool
	back   string
}

func (v databaseView) tabs(ctx context.Context) []ui.Tab {
	out := make([]ui.Tab, len(databaseTabs))
	for i, t := range databaseTabs {
		out[i] = ui.Tab{Label: ui.Say(ctx, t.key), Href: databasePath(v.Name) + t.end, Current: t.end == v.tab}
	}
	return out
}

// aDatabase serves one view of a database. What Weir knows of it follows what
// happens. What only the database itself knows is asked of it once for a page, and
// not for every look of a stream: it has other work to do.
func (w *pages) aDatabase(tab string, body func(*site.Request, databaseView) (templ.Component, error)) func(*site.Request) (site.View, error) {
	return func(r *site.Request) (site.View, error) {
		store, err := w.rolls()
		if err != nil {
			return site.View{}, err
		}
		v := databaseView{tab: tab, manage: r.Can(auth.Manage, "database"), back: r.URL.RequestURI()}
		if v.Database, err = store.Database(r.Context(), r.PathValue("database")); err != nil {
			return site.View{}, err
		}
		inner, err := body(r, v)
		if err != nil {
			return site.View{}, err
		}
		return site.View{Head: ui.Head{Title: ui.Line(v.Name)}, Plain: true, Body: databasePage(v, inner), Follow: &timeline.Filter{Kinds: []string{"database", "rollout", "job"}, Match: databaseEvents(v.Name)}}, nil
	}
}

// databaseEvents lets those pass that may change the page of a database.
func databaseEvents(name string) func(*timeline.Event) bool {
	return func(e *timeline.Event) bool {
		return e.Kind != "database" || e.Subject == name
	}
}

// rolloutsShown is how many rollouts the page of a database lists.
const rolloutsShown = 20

func (w *pages) databaseOverview(r *site.Request, v databaseView) (templ.Component, error) {
	rows, err := w.Rollouts.Rollouts(r.Context(), rollout.Filter{Database: v.Name}, r.Page())
	if err != nil {
		return nil, err
	}
	rows = rows[:min(len(rows), rolloutsShown)]
	if err := w.staged(r.Context(), rows); err != nil {
		return nil, err
	}
	return databaseOverviewTab(v, rows), nil
}

// historyView is what the database says was applied to it.
type historyView struct {
	rows          []target.Entry
	foreign       *target.Foreign
	fault         *problem.Problem
	newest, older string
}

// imported says that what another tool left is taken over: its newest version is in
// the history, or beyond the page.
func (h historyView) imported() bool {
	if h.newest != "" || h.older != "" || len(h.foreign.Entries) == 0 {
		return len(h.rows) > 0
	}
	last := h.foreign.Entries[len(h.foreign.Entries)-1].Version
	return slices.ContainsFunc(h.rows, func(e target.Entry) bool { return e.Version == last })
}

func (w *pages) databaseHistory(r *site.Request, v databaseView) (templ.Component, error) {
	var h historyView
	if r.Live {
		return templ.NopComponent, nil
	}
	rows, err := w.Rollouts.DatabaseHistory(r.Context(), v.Name, site.NamesPage(r))
	if err == nil {
		h.foreign, err = w.Rollouts.Foreign(r.Context(), v.Name)
	}
	// A database that cannot be reached is no error of the page.
	if err != nil {
		h.fault = ui.Told(r.Context(), err)
	}
	h.rows, h.newest, h.older = entriesPaged(r, rows)
	return databaseHistoryTab(v, h), nil
}

func (w *pages) databaseDrift(r *site.Request, v databaseView) (templ.Component, error) {
	if r.Live {
		return templ.NopComponent, nil
	}
	report, err := w.Rollouts.Drift(r.Context(), v.Name)
	var fault *problem.Problem
	if err != nil {
		fault = ui.Told(r.Context(), err)
	}
	return databaseDriftTab(v, report, fault), nil
}

// entryPath is the page of the run that applied an entry; empty: another tool did.
func entryPath(e target.Entry) string {
	id, err := weir.ParseID(e.Rollout)
	if err != nil {
		return ""
	}
	task, err := weir.ParseID(e.Task)
	if err != nil {
		return site.RolloutPath(id)
	}
	return runPath(rollout.Task{Rollout: id, ID: task})
}
