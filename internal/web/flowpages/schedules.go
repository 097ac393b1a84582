package flowpages

import (
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/fleet"
	"github.com/weirhq/weir/internal/timeline"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/ui"
)

// scheduleView is one schedule.
type scheduleView struct {
	view.Schedule
	runs           []time.Time
	zone           *time.Location
	events         []view.Event
	manage, mayRun bool
	// mayFleet: the schedule submits fleet jobs, and the reader may do so.
	mayFleet bool
}

func (w *pages) schedules(r *site.Request) (site.View, error) {
	ctx := r.Context()
	rows, err := w.Store.Schedules(r.Context(), site.NamesPage(r))
	if err != nil {
		return site.View{}, err
	}
	rows, newest, older := site.NamesPaged(r, rows, func(s view.Schedule) string { return s.Name })
	head := ui.Head{Title: ui.Say(ctx, "word.schedules")}
	if r.Can(auth.Manage, "schedule") {
		head.Actions = ui.Ask(ui.Say(ctx, "word.newschedule"), "plus", "/new-schedule", false)
	}
	return site.View{Head: head, Body: schedulesPage(rows, newest, older), Follow: &timeline.Filter{Kinds: []string{"schedule"}}}, nil
}

func (w *pages) schedule(r *site.Request) (site.View, error) {
	s, err := w.Store.Schedule(r.Context(), r.PathValue("schedule"))
	if err != nil {
		return site.View{}, err
	}
	v := scheduleView{Schedule: s, zone: time.UTC, manage: r.Can(auth.Manage, "schedule"), mayRun: r.Can(auth.Submit, "workflow")}
	v.mayFleet = s.Service == fleet.ServiceOfSchedules && r.Can(auth.Submit, "fleet")
	v.runs = nextRuns(s, runsShown)
	// A zone that this machine does not know is shown by its name alone.
	if zone, err := time.LoadLocation(s.Zone); err == nil {
		v.zone = zone
	}
	if v.events, err = w.EventsOf(r, "schedule", s.Name); err != nil {
		return site.View{}, err
	}
	return site.View{Head: ui.Head{Title: s.Name}, Plain: true, Body: schedulePage(v), Follow: &timeline.Filter{Kinds: []string{"schedule"}}}, nil
}

const runsShown = 5

// nextRuns are the next times of a schedule. One that is paused has none.
func nextRuns(s view.Schedule, n int) []time.Time {
	if s.Paused || s.NextAt.IsZero() {
		return nil
	}
	// That it ends there, or that a newer Weir wrote it, makes the list short.
	more, _ := weir.Schedule{Spec: s.Spec, Zone: s.Zone}.Upcoming(s.NextAt, n-1)
	return append([]time.Time{s.NextAt}, more...)
}
