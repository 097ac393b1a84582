package fleetpages

import (
	"context"
	"time"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/fleet"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/timeline"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/ui"
)

func (w *pages) fleets() (*fleet.Store, error) {
	if w.Fleets == nil {
		return nil, problem.New(problem.NotFound, "ask the server that does", "this server keeps no fleet")
	}
	return w.Fleets, nil
}

func devicePath(serial string) string { return ui.Path("devices", serial) }

// fleetTabs are the pages of the fleet, by address. Their names are words.
var fleetTabs = []struct{ name, path string }{
	{"grid", "/fleet"},
	{"jobs", "/fleet/jobs"},
	{"devices", "/devices"},
	{"quarantine", "/fleet/quarantine"},
	{"pcs", "/fleet/pcs"},
	{"policy", "/fleet/policy"},
}

func fleetTabsOf(ctx context.Context, current string) []ui.Tab {
	out := make([]ui.Tab, len(fleetTabs))
	for i, t := range fleetTabs {
		out[i] = ui.Tab{Label: ui.Say(ctx, "fleet.tab."+t.name), Href: t.path, Current: t.path == current}
	}
	return out
}

// aFleet serves one of the pages of the fleet. A server without one says so.
func (w *pages) aFleet(path string, load func(*site.Request, *fleet.Store) (site.View, error)) func(*site.Request) (site.View, error) {
	return func(r *site.Request) (site.View, error) {
		ctx := r.Context()
		head := ui.Head{Title: ui.Say(ctx, "fleet.title"), Actions: fleetActs(r.Can(auth.Submit, "fleet"))}
		if w.Fleets == nil {
			head.Actions = nil
			return site.View{Head: head, Body: ui.Empty("fleet", ui.Say(ctx, "fleet.off"), ui.Say(ctx, "fleet.off.text")), Still: true}, nil
		}
		v, err := load(r, w.Fleets)
		if err != nil {
			return site.View{}, err
		}
		if v.Title == "" {
			v.Head = head
		}
		v.Body = fleetFrame(fleetTabsOf(ctx, path), v.Body)
		if v.Follow == nil {
			v.Follow = fleetEvents()
		}
		return v, nil
	}
}

// fleetEvents are those that may change a page of the fleet. That a device began or
// ended something is told by its task.
func fleetEvents() *timeline.Filter {
	return &timeline.Filter{Kinds: []string{"device", "pc", "fleet", "task", "job"}}
}

// deviceLooks are those of the health of a device.
var deviceLooks = map[string]site.Look{
	fleet.HealthGood:        {Icon: "done", Class: "is-done"},
	fleet.HealthUnknown:     {Icon: "help", Class: "is-idle"},
	fleet.HealthSuspect:     {Icon: "alert", Class: "is-held"},
	fleet.HealthQuarantined: {Icon: "failed", Class: "is-failed"},
	fleet.HealthMaintenance: {Icon: "settings", Class: "is-canceled"},
	fleet.HealthRetired:     {Icon: "skipped", Class: "is-skipped"},
}

// pcLooks are those of PCs.
var pcLooks = map[string]site.Look{
	fleet.PCActive:   {Icon: "done", Class: "is-done"},
	fleet.PCPaused:   {Icon: "held", Class: "is-held"},
	fleet.PCDraining: {Icon: "down", Class: "is-held"},
	fleet.PCBlind:    {Icon: "failed", Class: "is-failed"},
	fleet.PCDead:     {Icon: "offline", Class: "is-failed"},
}

// fleetJobLooks are those of fleet jobs, unitLooks those of their units.
var (
	fleetJobLooks = map[string]site.Look{
		fleet.JobWaiting:   {Icon: "pending", Class: "is-pending"},
		fleet.JobActive:    {Icon: "running", Class: "is-running"},
		fleet.JobCanceling: {Icon: "stop", Class: "is-held"},
		fleet.JobDone:      {Icon: "done", Class: "is-done"},
		fleet.JobFailed:    {Icon: "failed", Class: "is-failed"},
		fleet.JobCanceled:  {Icon: "canceled", Class: "is-canceled"},
	}
	unitLooks = map[string]site.Look{
		fleet.UnitWaiting:  {Icon: "pending", Class: "is-pending"},
		fleet.UnitRunning:  {Icon: "running", Class: "is-running"},
		fleet.UnitRetrying: {Icon: "retry", Class: "is-unknown"},
		fleet.UnitDone:     {Icon: "done", Class: "is-done"},
		fleet.UnitFailed:   {Icon: "failed", Class: "is-failed"},
		fleet.UnitMissed:   {Icon: "skipped", Class: "is-skipped"},
		fleet.UnitCanceled: {Icon: "canceled", Class: "is-canceled"},
	}
)

// fleetRights are what the reader may do with the fleet.
type fleetRights struct{ submit, cancel, device, slots, policy bool }

func fleetRightsOf(r *site.Request) fleetRights {
	return fleetRights{r.Can(auth.Submit, "fleet"), r.Can(auth.Command, "fleet"), r.Can(auth.Command, "device"), r.Can(auth.Manage, "pc"), r.Can(auth.Manage, "fleet")}
}

// minutesOf is how long something runs, as a cell says it.
func minutesOf(now, from time.Time) int { return max(0, int(now.Sub(from).Minutes())) }
