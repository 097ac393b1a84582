package workflow

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/workflow/definition"
)

// backfillMost is how many runs one backfill may have.
const backfillMost = 1000

// Backfilling asks for the runs that a timetable names between two times.
type Backfilling struct {
	Named
	Body BackfillBody
}

// BackfillBody says which runs. The runs of a schedule have its options and its policy on
// overlaps, and a run that the schedule already made is not made again.
type BackfillBody struct {
	From     string              `json:"from" maxLength:"40" doc:"A time such as 2026-01-31T08:00:00Z, or a day such as 2026-01-31 in the zone of the timetable. Included."`
	To       string              `json:"to,omitempty" maxLength:"40" doc:"The same. Not included; not in the future. Left out: now."`
	Schedule string              `json:"schedule,omitempty" maxLength:"200" doc:"The schedule whose runs they are. Left out: spec says when."`
	Spec     string              `json:"spec,omitempty" maxLength:"200"`
	Zone     string              `json:"zone,omitempty" maxLength:"100"`
	Options  *definition.Options `json:"options,omitempty" doc:"Left out: the schedule's."`
	DryRun   bool                `json:"dry_run,omitempty" doc:"Only say when."`
}

// Backfilled is the times and the jobs of a backfill.
type Backfilled struct {
	Times []time.Time `json:"times"`
	Jobs  []weir.ID   `json:"jobs" doc:"One for each time; none if it was only asked when."`
	// Existed are those of Jobs that were not made now.
	Existed []weir.ID `json:"existed" doc:"Those of the jobs that were there already: nothing new was made for them."`
}

// Backfill makes a job for each time in the past that a timetable names, the
// oldest first. Their scheduled_at is that time. A run that was made before, by
// the schedule or by a backfill, is not made again: its job is in the list.
func (s *Store) Backfill(ctx context.Context, who auth.Subject, in *Backfilling) (Backfilled, error) {
	r, none := &in.Body, Backfilled{Times: []time.Time{}, Jobs: []weir.ID{}, Existed: []weir.ID{}}
	table := weir.Schedule{Spec: r.Spec, Zone: r.Zone, Workflow: in.Workflow}
	options := r.Options
	if options != nil {
		if err := MayOf(who).Judge(*options); err != nil {
			return none, err
		}
	}
	if r.Schedule != "" {
		var raw json.RawMessage
		var err error
		if table, raw, err = s.scheduleNamed(ctx, r.Schedule); err != nil {
			return none, err
		}
		if table.Workflow == "" || in.Workflow != "" && table.Workflow != in.Workflow {
			return none, problem.Refuse("schedule", "name a schedule of the workflow, or a spec", "%q does not run workflow %q", r.Schedule, in.Workflow)
		}
		if options == nil && len(raw) > 0 {
			options = new(definition.Options)
			if err := json.Unmarshal(raw, options); err != nil {
				return none, problem.Refuse("schedule", "set its options again", "the options of %q are wrong: %s", r.Schedule, err)
			}
		}
	}
	now := time.Now()
	from, err := momentIn("from", r.From, table.Zone)
	if err != nil {
		return none, err
	}
	to := now
	if r.To != "" {
		if to, err = momentIn("to", r.To, table.Zone); err != nil {
			return none, err
		}
	}
	switch {
	case !from.Before(to):
		return none, problem.Refuse("to", "give a later time", "it is not after from")
	case to.After(now):
		return none, problem.Refuse("to", "give a time that is over", "it is in the future: a backfill makes up for the past")
	}
	times, more, err := table.Between(from, to, backfillMost)
	if place, wrong := time.LoadLocation(table.Zone); wrong == nil {
		for i := range times {
			times[i] = times[i].In(place)
		}
	}
	switch {
	case err != nil:
		return none, problem.Explain(err)
	case more:
		return none, problem.Refuse("to", "take a shorter span", "there are more than %d runs in it", backfillMost)
	case len(times) == 0:
		return none, nil
	}
	was, err := s.keyed(ctx, table, times)
	if err != nil || r.DryRun {
		return Backfilled{times, none.Jobs, append(none.Existed, was...)}, err
	}
	if options == nil {
		options = &definition.Options{}
	}
	s.known.forget(table.Workflow)
	b, err := s.find(ctx, table.Workflow, 0)
	if err != nil {
		return none, err
	}
	one, err := b.opening(jobOptions{Options: *options, By: who.By(), Zone: zoneOf(table, b.Definition)})
	if err != nil {
		return none, err
	}
	list := make([]opening, len(times))
	for i, t := range times {
		list[i] = one
		list[i].ScheduledAt, list[i].Schedule, list[i].Key = t, table.Name, runKey(table, t)
	}
	ids, err := s.open(ctx, list)
	if err != nil {
		return none, fmt.Errorf("backfill %s: %w", table.Workflow, err)
	}
	for _, id := range ids {
		if slices.Contains(was, id) {
			none.Existed = append(none.Existed, id)
		}
	}
	return Backfilled{times, ids, none.Existed}, nil
}

// keyed returns the jobs that a timetable has already for some of these times.
func (s *Store) keyed(ctx context.Context, table weir.Schedule, times []time.Time) ([]weir.ID, error) {
	keys := make([]string, len(times))
	for i, t := range times {
		keys[i] = runKey(table, t)
	}
	rows, err := s.pool.Query(ctx, keyedSQL, keys)
	if err != nil {
		return nil, fmt.Errorf("backfill %s: %w", table.Workflow, err)
	}
	return pgx.CollectRows(rows, pgx.RowTo[weir.ID])
}

// momentIn reads a time, or the begin of a day in a zone: the days of a timetable are
// those of its place.
func momentIn(field, text, zone string) (time.Time, error) {
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t, nil
	}
	place, err := time.LoadLocation(zone)
	if err != nil {
		return time.Time{}, problem.Refuse("zone", "write a place such as Europe/Budapest", "%q is no zone", zone)
	}
	day, err := time.ParseInLocation(time.DateOnly, text, place)
	if err != nil {
		return time.Time{}, problem.Refuse(field, "write 2026-01-31, or 2026-01-31T08:00:00Z", "%q is not a time", text)
	}
	return day, nil
}

// zoneOf returns the zone that the jobs of a timetable keep; "" if the workflow has it
// anyway.
func zoneOf(table weir.Schedule, d *definition.Definition) string {
	zone := cmp.Or(table.Zone, "UTC")
	if zone == cmp.Or(d.Zone, "UTC") {
		return ""
	}
	return zone
}

// runKey returns the idempotency key of one run, like weir._run_key for a schedule.
func runKey(table weir.Schedule, t time.Time) string {
	const form = "2006-01-02T15:04:05.000000Z"
	if table.Name == "" {
		return "backfill:" + table.Workflow + "@" + t.UTC().Format(form)
	}
	return "schedule:" + table.Name + "@" + t.UTC().Format(form)
}
