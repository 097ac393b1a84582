package workflow

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/pg"
	"github.com/weirhq/weir/internal/workflow/definition"
)

// schedulePrefix begins the names of the schedules that a definition owns.
func schedulePrefix(workflow string) string { return "workflow/" + workflow + "/" }

// applySchedules makes the schedules of a workflow those of its newest active version. A
// paused schedule stays paused.
func (s *Store) applySchedules(ctx context.Context, tx pg.Querier, name, by string) error {
	body, err := newestIn(ctx, tx, name)
	if err != nil {
		return err
	}
	var wanted []definition.Schedule
	var zone string
	if body != nil {
		d, err := definition.ParseJSON(body)
		if err != nil {
			return err
		}
		wanted, zone = d.Schedules, d.Zone
	}
	list, now, err := schedulesOf(ctx, tx, schedulePrefix(name))
	if err != nil {
		return err
	}
	stale := map[string]scheduleRow{}
	for _, r := range list {
		stale[r.name] = r
	}
	for i, w := range wanted {
		w.Zone = cmp.Or(w.Zone, zone)
		x, options := scheduleOf(name, i, w)
		x.By, x.Paused = by, w.Paused || stale[x.Name].paused
		next, err := x.First(now)
		if err != nil {
			return fmt.Errorf("schedule %s: %w", x.Name, err)
		}
		if err := setSchedule(ctx, tx, x, options, next); err != nil {
			return err
		}
		delete(stale, x.Name)
	}
	for name := range stale {
		if err := dropSchedule(ctx, tx, name, by); err != nil {
			return err
		}
	}
	return nil
}

// scheduleOf returns the nth schedule of a definition's block in the form of the engine.
func scheduleOf(workflow string, n int, w definition.Schedule) (x weir.Schedule, options json.RawMessage) {
	x = weir.Schedule{
		Name: schedulePrefix(workflow) + cmp.Or(w.Name, strconv.Itoa(n+1)), Spec: w.Spec, Zone: cmp.Or(w.Zone, "UTC"), Workflow: workflow,
		Missed: weir.Missed(cmp.Or(w.Missed, string(weir.MissedOne))), Overlap: weir.Overlap(cmp.Or(w.Overlap, string(weir.OverlapAllow))),
		CatchUp: time.Duration(w.CatchUp), Jitter: time.Duration(w.Jitter),
	}
	if len(w.Params) > 0 {
		options, _ = json.Marshal(map[string]any{"params": w.Params}) // values of JSON
	}
	return x, options
}
