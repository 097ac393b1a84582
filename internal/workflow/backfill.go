package workflow

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/workflow/definition"
)

// backfillMost is how many runs one backfill may have.
const backfillMost = 1000

// BackfillRequest asks for the runs that a timetable names between two times.
type BackfillRequest struct {
	Workflow string
	// From is included, To is not.
	From, To time.Time
	// Schedule is the one whose runs they are: its options, its policy on
	// overlaps, and no run twice that it had already. Empty: Spec and Zone say when.
	Schedule   string
	Spec, Zone string
	// Options of the jobs. Nil: the schedule's.
	Options *definition.Options
	// DryRun only says when.
	DryRun bool
	By     string
	// MaySkip is asked if Options leave out a step. A schedule's own are the word of
	// who set it. Nil: who asks may.
	MaySkip MaySkip
}

// Backfill makes a job for each time in the past that a timetable names, the
// oldest first. Their scheduled_at is that time. A run that was made before, by
// the schedule or by a backfill, is not made again: its job is in the list.
func (s *Store) Backfill(ctx context.Context, r BackfillRequest) ([]time.Time, []weir.ID, error) {
	table := weir.Schedule{Spec: r.Spec, Zone: r.Zone, Workflow: r.Workflow}
	options := r.Options
	if options != nil {
		if err := r.MaySkip.Judge(*options); err != nil {
			return nil, nil, err
		}
	}
	if r.Schedule != "" {
		var raw json.RawMessage
		var err error
		if table, raw, err = s.scheduleNamed(ctx, r.Schedule); err != nil {
			return nil, nil, err
		}
		if table.Workflow == "" || r.Workflow != "" && table.Workflow != r.Workflow {
			return nil, nil, problem.Refuse("schedule", "name a schedule of the workflow, or a spec", "%q does not run workflow %q", r.Schedule, r.Workflow)
		}
		if options == nil && len(raw) > 0 {
			options = new(definition.Options)
			if err := json.Unmarshal(raw, options); err != nil {
				return nil, nil, problem.Refuse("schedule", "set its options again", "the options of %q are wrong: %s", r.Schedule, err)
			}
		}
	}
	switch {
	case !r.From.Before(r.To):
		return nil, nil, problem.Refuse("to", "give a later time", "it is not after from")
	case r.To.After(time.Now()):
		return nil, nil, problem.Refuse("to", "give a time that is over", "it is in the future: a backfill makes up for the past")
	}
	// Asked by itself, so that which field is wrong is not read out of the sentence.
	if _, err := (weir.Schedule{Spec: "@daily", Zone: table.Zone}).Next(r.From); err != nil {
		return nil, nil, problem.Refuse("zone", "write a place such as Europe/Budapest, or leave it out for UTC", "%s", strings.TrimPrefix(err.Error(), "zone: "))
	}
	times, more, err := table.Between(r.From, r.To, backfillMost)
	switch {
	case err != nil:
		return nil, nil, problem.Refuse("spec", "", "%s", strings.TrimPrefix(err.Error(), "spec: "))
	case more:
		return nil, nil, problem.Refuse("to", "take a shorter span", "there are more than %d runs in it", backfillMost)
	case r.DryRun || len(times) == 0:
		return times, nil, nil
	}
	if options == nil {
		options = &definition.Options{}
	}
	s.known.forget(table.Workflow)
	b, err := s.find(ctx, table.Workflow, 0)
	if err != nil {
		return nil, nil, err
	}
	one, err := b.opening(jobOptions{Options: *options, By: r.By})
	if err != nil {
		return nil, nil, err
	}
	list := make([]opening, len(times))
	for i, t := range times {
		list[i] = one
		list[i].ScheduledAt, list[i].Schedule, list[i].Key = t, table.Name, runKey(table, t)
	}
	ids, err := s.open(ctx, list)
	if err != nil {
		return nil, nil, fmt.Errorf("backfill %s: %w", table.Workflow, err)
	}
	return times, ids, nil
}

// runKey is the idempotency key of one run, as weir._run_key has it for a
// schedule.
func runKey(table weir.Schedule, t time.Time) string {
	const form = "2006-01-02T15:04:05.000000Z"
	if table.Name == "" {
		return "backfill:" + table.Workflow + "@" + t.UTC().Format(form)
	}
	return "schedule:" + table.Name + "@" + t.UTC().Format(form)
}
