package metrics

import (
	"context"
	"time"

	"github.com/weirhq/weir/internal/fleet"
)

// Fleet is the store that reads the fleet.
type Fleet interface {
	Figures(ctx context.Context) (fleet.Figures, error)
}

var (
	devices      = gauge(database, "weir_devices", "Devices, by what is thought of them and by whether they are there: online, missing or offline", "health", "presence")
	pcs          = gauge(database, "weir_pcs", "PCs that devices hang on, by state: active, paused, draining or dead", "state")
	slotsRunning = gauge(database, "weir_fleet_slots_running", "Devices that work now")
	slotsTarget  = gauge(database, "weir_fleet_slots_target", "Devices that could work now: of each PC as many as may get work, within its slots")
	fleetJobs    = gauge(database, "weir_fleet_jobs", "Fleet jobs that have not ended, by state", "state")
	fleetActive  = gauge(database, "weir_fleet_active_age_seconds", "For how long the active fleet job has been active; 0 if there is none")
	fleetUnits   = gauge(database, "weir_fleet_active_units", "Runs that the active fleet job wants, by state", "state")
)

// fleetReading reads the fleet half as often as tasks, because it changes slowly.
func fleetReading(s Fleet, every time.Duration) *reading[fleet.Figures] {
	return &reading[fleet.Figures]{name: "fleet", every: 2 * every, read: s.Figures}
}

// pcStates and liveJobs are exported even if there are none, because a rule that waits
// for one needs a zero before it.
var (
	pcStates = []string{fleet.PCActive, fleet.PCPaused, fleet.PCDraining, fleet.PCBlind, fleet.PCDead}
	liveJobs = []string{fleet.JobWaiting, fleet.JobActive, fleet.JobCanceling}
)

func putFleet(o out, f fleet.Figures) {
	for _, health := range fleet.Healths {
		for _, presence := range fleet.Presences {
			o.put(devices, float64(f.ByHealth[health][presence]), health, presence)
		}
	}
	for _, state := range pcStates {
		o.put(pcs, float64(f.ByState[state]), state)
	}
	o.put(slotsRunning, float64(f.Running))
	o.put(slotsTarget, float64(f.Target))
	for _, state := range liveJobs {
		o.put(fleetJobs, float64(f.Jobs[state]), state)
	}
	o.put(fleetActive, age(f.Since))
	for state, n := range map[string]int{
		fleet.UnitWaiting: f.Units.Waiting, fleet.UnitRunning: f.Units.Running, fleet.UnitRetrying: f.Units.Retrying, fleet.UnitDone: f.Units.Done,
		fleet.UnitFailed: f.Units.Failed, fleet.UnitMissed: f.Units.Missed, fleet.UnitCanceled: f.Units.Canceled,
	} {
		o.put(fleetUnits, float64(n), state)
	}
}
