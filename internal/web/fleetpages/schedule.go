package fleetpages

import (
	"github.com/weirhq/weir/internal/fleet"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/ui"
)

// askRunSchedule asks whether to submit the fleet job of a schedule now.
func (w *pages) askRunSchedule(r *site.Request) (ui.Question, error) {
	ctx := r.Context()
	spec, err := w.scheduled(r)
	if err != nil {
		return ui.Question{}, err
	}
	return ui.Question{
		Title: ui.Say(ctx, "ask.schedule.run", ui.Cut(ui.Line(spec.Name), 80)), Button: ui.Say(ctx, "schedule.run"),
		Back: site.SchedulePath(r.PathValue("schedule")),
		Text: ui.Say(ctx, "schedule.run.text"),
	}, nil
}

func (w *pages) runSchedule(r *site.Request) (site.Done, error) {
	spec, err := w.scheduled(r)
	if err != nil {
		return site.Done{}, err
	}
	j, err := fleet.Create.Call(r.Context(), w.Operations, &fleet.Creating{Body: fleet.CreateBody{Spec: spec}})
	if err != nil {
		return site.Done{}, err
	}
	return site.Done{To: site.FleetJobPath(j.ID), Say: ui.Say(r.Context(), "newfleet.made")}, nil
}

// scheduled is the fleet job of the schedule of the path.
func (w *pages) scheduled(r *site.Request) (fleet.Spec, error) {
	if _, err := w.fleets(); err != nil {
		return fleet.Spec{}, err
	}
	s, err := w.Store.Schedule(r.Context(), r.PathValue("schedule"))
	if err != nil {
		return fleet.Spec{}, err
	}
	if s.Service != fleet.ServiceOfSchedules {
		return fleet.Spec{}, problem.New(problem.Conflict, "run its workflow, or submit a task", "the schedule submits no fleet jobs")
	}
	return fleet.OfSchedule(s.Name, s.Task)
}
