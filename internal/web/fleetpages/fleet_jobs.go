package fleetpages

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/a-h/templ"

	"github.com/weirhq/weir/internal/fleet"
	"github.com/weirhq/weir/internal/timeline"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/ui"
)

// fleetJobsView is a list of fleet jobs, the active ones on top.
type fleetJobsView struct {
	rows          []fleet.Job
	active        []fleet.Job
	filter        fleet.JobFilter
	chips         []site.Chip
	submit        bool
	newest, older string
}

func (v fleetJobsView) filtered() bool { return v.filter != fleet.JobFilter{} }

func (w *pages) fleetJobs(r *site.Request, store *fleet.Store) (site.View, error) {
	ctx := r.Context()
	state, err := r.OneOf("state", fleet.JobStates)
	if err != nil {
		return site.View{}, err
	}
	v := fleetJobsView{submit: fleetRightsOf(r).submit, filter: fleet.JobFilter{State: state, Search: r.Query("search")}, chips: site.Chips(r, "state", "fleetjob.", fleet.JobStates, state)}
	rows, err := store.Jobs(ctx, v.filter, site.NamesPage(r))
	if err != nil {
		return site.View{}, err
	}
	v.rows, v.newest, v.older = site.NamesPaged(r, rows, func(j fleet.Job) string { return j.ID.String() })
	if !v.filtered() && r.Query("after") == "" {
		if v.active, err = store.Active(ctx); err != nil {
			return site.View{}, err
		}
	}
	return site.View{Body: fleetJobsPage(v), Follow: &timeline.Filter{Kinds: []string{"fleet", "task", "job"}}}, nil
}

// rest are the jobs of the page without those that stand on top.
func (v fleetJobsView) rest() []fleet.Job {
	out := make([]fleet.Job, 0, len(v.rows))
	for _, j := range v.rows {
		if !slices.ContainsFunc(v.active, func(a fleet.Job) bool { return a.ID == j.ID }) {
			out = append(out, j)
		}
	}
	return out
}

// fleetJobTabs are the views of a fleet job, by the end of their addresses.
var fleetJobTabs = []struct{ name, end string }{{"progress", ""}, {"units", "/units"}, {"results", "/results"}, {"spec", "/spec"}}

// fleetJobView is what all views of a fleet job show.
type fleetJobView struct {
	fleet.Job
	can fleetRights
	tab string
}

func (v fleetJobView) tabs(ctx context.Context) []ui.Tab {
	out := make([]ui.Tab, 0, len(fleetJobTabs)+1)
	for _, t := range fleetJobTabs {
		tab := ui.Tab{Label: ui.Say(ctx, "fleetjob.tab."+t.name), Href: site.FleetJobPath(v.ID) + t.end, Current: t.end == v.tab}
		if t.end == "/units" {
			tab.Count = ui.Number(v.Counts.Total)
		}
		out = append(out, tab)
	}
	return append(out, ui.Tab{Label: ui.Say(ctx, "rollout.timeline"), Href: site.JobPath(v.ID) + "/timeline"})
}

func (v fleetJobView) over() bool { return v.EndedAt != nil }

func (v fleetJobView) mayCancel() bool {
	return v.can.cancel && !v.over() && v.State != fleet.JobCanceling
}

// attempts is how often a run may be tried.
func (v fleetJobView) attempts() int {
	if v.Spec == nil || v.Spec.Attempts == 0 {
		return 3
	}
	return v.Spec.Attempts
}

// aFleetJob serves one view of a fleet job.
func (w *pages) aFleetJob(tab string, body func(*site.Request, *fleet.Store, fleetJobView) (templ.Component, error)) func(*site.Request) (site.View, error) {
	return func(r *site.Request) (site.View, error) {
		store, v, err := w.fleetJobOf(r)
		if err != nil {
			return site.View{}, err
		}
		v.tab = tab
		inner, err := body(r, store, v)
		if err != nil {
			return site.View{}, err
		}
		// Why it is not further is said by devices and PCs, too.
		follow := &timeline.Filter{Match: func(e *timeline.Event) bool {
			return e.Job == v.ID || e.Kind == "device" || e.Kind == "pc" || e.Kind == "fleet" || e.Kind == "task" && e.Job.IsZero()
		}}
		return site.View{Head: ui.Head{Title: fleetJobName(v.Job)}, Plain: true, Body: fleetJobPage(v, inner), Follow: follow}, nil
	}
}

func (w *pages) fleetJobOf(r *site.Request) (*fleet.Store, fleetJobView, error) {
	store, err := w.fleets()
	if err != nil {
		return nil, fleetJobView{}, err
	}
	id, err := r.ID("job")
	if err != nil {
		return nil, fleetJobView{}, err
	}
	v := fleetJobView{can: fleetRightsOf(r)}
	v.Job, err = store.Job(r.Context(), id)
	return store, v, err
}

// whyMost is for how many devices the page of a job says why they wait.
const whyMost = 200

func (w *pages) fleetJobProgress(r *site.Request, store *fleet.Store, v fleetJobView) (templ.Component, error) {
	why, err := store.Why(r.Context(), v.ID, whyMost)
	if err != nil {
		return nil, err
	}
	now, err := store.Units(r.Context(), v.ID, fleet.UnitFilter{State: fleet.UnitRunning}, r.Page())
	if err != nil {
		return nil, err
	}
	waits, err := store.Waits(r.Context(), v.ID)
	if err != nil {
		return nil, err
	}
	return fleetJobProgressTab(v, why, waits, now), nil
}

// unitsView is a list of the units of a job.
type unitsView struct {
	rows          []fleet.Unit
	filter        fleet.UnitFilter
	chips         []site.Chip
	newest, older string
}

func (w *pages) fleetJobUnits(r *site.Request, store *fleet.Store, v fleetJobView) (templ.Component, error) {
	state, err := r.OneOf("state", fleet.UnitStates)
	if err != nil {
		return nil, err
	}
	list := unitsView{filter: fleet.UnitFilter{State: state, Device: r.Query("device"), PC: r.Query("pc")}, chips: site.Chips(r, "state", "unit.", fleet.UnitStates, state)}
	rows, err := store.Units(r.Context(), v.ID, list.filter, site.NamesPage(r))
	if err != nil {
		return nil, err
	}
	list.rows, list.newest, list.older = site.NamesPaged(r, rows, func(u fleet.Unit) string { return fmt.Sprint(u.Unit) })
	return fleetJobUnitsTab(v, list), nil
}

func (w *pages) fleetJobSpec(_ *site.Request, _ *fleet.Store, v fleetJobView) (templ.Component, error) {
	text, err := json.Marshal(v.Spec)
	return fleetJobSpecTab(text), err
}

// byUnitState are the counts of a job, in the order in which they are shown.
func byUnitState(c fleet.Counts) []site.Share {
	by := map[string]int{
		fleet.UnitRunning: c.Running, fleet.UnitRetrying: c.Retrying, fleet.UnitWaiting: c.Waiting, fleet.UnitFailed: c.Failed,
		fleet.UnitMissed: c.Missed, fleet.UnitCanceled: c.Canceled, fleet.UnitDone: c.Done,
	}
	out := make([]site.Share, 0, len(by))
	for _, state := range fleet.UnitStates {
		out = append(out, site.Share{Status: state, Class: site.LookOf(unitLooks, state).Class, N: by[state]})
	}
	return out
}

// barOrder is that of the parts of a bar: what has ended stands left, as on a bar
// that fills, and what waits at its end.
var barOrder = []string{fleet.UnitDone, fleet.UnitFailed, fleet.UnitMissed, fleet.UnitCanceled, fleet.UnitRunning, fleet.UnitRetrying, fleet.UnitWaiting}

// unitShares cut a bar by state.
func unitShares(c fleet.Counts) []site.Share {
	all := byUnitState(c)
	total := 0
	for _, p := range all {
		total += p.N
	}
	slices.SortFunc(all, func(a, b site.Share) int {
		return cmp.Compare(slices.Index(barOrder, a.Status), slices.Index(barOrder, b.Status))
	})
	var out []site.Share
	at := 0.0
	for _, p := range all {
		if p.N == 0 {
			continue
		}
		p.X, p.Width = at, 100*float64(p.N)/float64(total)
		at += p.Width
		out = append(out, p)
	}
	return out
}

func unitsSaid(ctx context.Context, c fleet.Counts) string {
	var out []string
	for _, p := range byUnitState(c) {
		if p.N > 0 {
			out = append(out, ui.Code(ctx, "unit.", p.Status)+" "+ui.Number(p.N))
		}
	}
	return strings.Join(out, ", ")
}

// progressSaid is how far a job is.
func progressSaid(ctx context.Context, c fleet.Counts) string {
	return ui.Say(ctx, "fleet.progress", ui.Number(c.Done+c.Failed+c.Missed+c.Canceled), ui.Number(c.Total))
}

func unitColumns(ctx context.Context, ofDevice bool) []ui.Column {
	names := []string{"device.name", "pc.name"}
	if ofDevice {
		names = []string{"fleetjobs.name"}
	}
	return ui.Columns(ctx, append(names, "fleetjobs.state", "unit.round#", "unit.attempts#", "unit.task", "unit.took", "fleetjobs.cause")...)
}

// triesSaid is how often a run was tried, of how many times (zero: several jobs differ),
// and beside that how often the infrastructure broke it. What a PC gave back was not
// spent, so there may be more than the most.
func triesSaid(ctx context.Context, u fleet.Unit, most int) string {
	tried := max(0, u.Attempt-u.Infra)
	out := ui.Number(tried)
	if most > 0 && tried <= most {
		out += " / " + ui.Number(most)
	}
	if u.Infra > 0 {
		out += " " + ui.Say(ctx, "unit.infra", u.Infra)
	}
	return out
}

// unitsWaitSaid is what a job waits for: 3 quarantined, 2 busy.
func unitsWaitSaid(ctx context.Context, waits map[string]int) string {
	var out []string
	for _, kind := range fleet.WaitKinds {
		if n := waits[kind]; n > 0 {
			out = append(out, ui.Say(ctx, "waits."+kind, ui.Number(n)))
		}
	}
	return strings.Join(out, ", ")
}
