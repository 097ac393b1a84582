package fleetpages

import (
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/fleet"
	"github.com/weirhq/weir/internal/web/site"
)

// pages are those of the domain, with the stores they ask.
type pages struct {
	*site.Config
}

// Routes are the pages of the domain, and what people can do there.
func Routes(c *site.Config) site.Routes {
	w := &pages{Config: c}
	return site.Routes{Pages: w.pages(), Actions: w.actions()}
}

// pages are all pages. A right stands on the line of what it opens.
func (w *pages) pages() []site.Page {
	return []site.Page{
		{Path: "/fleet", Verb: auth.Read, Kind: "fleet", Load: w.aFleet("/fleet", w.fleetGrid)},
		{Path: "/fleet/jobs", Nav: "/fleet", Verb: auth.Read, Kind: "fleet", Load: w.aFleet("/fleet/jobs", w.fleetJobs)},
		{Path: "/fleet/jobs/{job}", Nav: "/fleet", Verb: auth.Read, Kind: "fleet", Load: w.aFleetJob("", w.fleetJobProgress)},
		{Path: "/fleet/jobs/{job}/units", Nav: "/fleet", Verb: auth.Read, Kind: "fleet", Load: w.aFleetJob("/units", w.fleetJobUnits)},
		{Path: "/fleet/jobs/{job}/results", Nav: "/fleet", Verb: auth.Read, Kind: "fleet", Load: w.aFleetJob("/results", w.fleetJobResults)},
		{Path: "/fleet/jobs/{job}/spec", Nav: "/fleet", Verb: auth.Read, Kind: "fleet", Load: w.aFleetJob("/spec", w.fleetJobSpec)},
		{Path: "/fleet/quarantine", Nav: "/fleet", Verb: auth.Read, Kind: "device", Load: w.aFleet("/fleet/quarantine", w.quarantine)},
		{Path: "/fleet/pcs", Nav: "/fleet", Verb: auth.Read, Kind: "pc", Load: w.aFleet("/fleet/pcs", w.pcs)},
		{Path: "/fleet/policy", Nav: "/fleet", Verb: auth.Read, Kind: "fleet", Load: w.aFleet("/fleet/policy", w.fleetPolicy)},
		{Path: "/devices", Nav: "/fleet", Verb: auth.Read, Kind: "device", Load: w.aFleet("/devices", w.devices)},
		{Path: "/devices/{serial}", Nav: "/fleet", Verb: auth.Read, Kind: "device", Load: w.device},
	}
}

// actions are all that people can do.
func (w *pages) actions() []site.Action {
	return []site.Action{
		{Path: "/new-fleet-job", Nav: "/fleet", Verb: auth.Submit, Kind: "fleet", Form: w.newFleet, Do: w.doNewFleet},
		{Path: "/schedules/{schedule}/fleet", Nav: "/schedules", Verb: auth.Submit, Kind: "fleet", Ask: w.askRunSchedule, Do: w.runSchedule},
		site.Operated(w.Operations, fleet.Cancel, "/fleet", w.askCancelFleet, canceledFleet),
		site.Addressed("/fleet/pcs/{pc}/slots", site.Operated(w.Operations, fleet.SetSlots, "/fleet", w.askSlots, slotsSet)),
		{Path: "/fleet/policy/change", Nav: "/fleet", Verb: auth.Manage, Kind: "fleet", Ask: w.askPolicy, Do: w.setPolicy},
		onDevice(w, fleet.Maintain, maintenanceEnd),
		onDevice(w, fleet.Reserve, reservationEnd),
		onDevice(w, fleet.Release, nil),
		onDevice(w, fleet.Retire, nil),
		onDevice(w, fleet.Quarantine, nil),
	}
}
