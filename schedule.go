package weir

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir/internal/refusal"
)

// Schedule submits a task, or runs a workflow, again and again.
type Schedule struct {
	Name string
	// Spec is a cron line of five fields, a nickname such as @daily,
	// "@every 90s", or "@at 2026-11-15T10:00:00Z" for once.
	Spec string
	// Zone is the time zone of the cron line. Empty: UTC. Where the machine has
	// no time zones of its own, import time/tzdata.
	Zone string
	// Missed says what to do about runs that were due while nobody looked.
	// Empty: [MissedOne].
	Missed Missed
	// CatchUp is how far back that reaches: runs missed longer ago are left out,
	// whatever Missed says. Zero: no limit. A minute is the least: to be late by a
	// change of who fires schedules is not to miss a run.
	CatchUp time.Duration
	// Jitter puts each run off by a part of it, always the same for the same run,
	// so that what is due at one instant does not start at one.
	Jitter time.Duration
	// Task is what is submitted. Its idempotency key is the schedule's.
	Task Task
	// Workflow is the name of the workflow that runs instead of a task, in its
	// newest active version.
	Workflow string
	// Options are those of the workflow's jobs: params, and params of single steps.
	Options any
	// Overlap says what to do when the workflow's last run has not ended. Empty:
	// [OverlapAllow].
	Overlap Overlap
	// Paused keeps the schedule but submits nothing.
	Paused bool
	// By says who sets it, for the timeline.
	By string
	// Seen is when the schedule was last changed as far as the caller knows. If
	// somebody changed it since, the call is refused with [ErrConflict]. Zero:
	// whatever is there is changed.
	Seen time.Time
}

// Missed is what to do about missed runs.
type Missed string

// The policies for missed runs.
const (
	MissedSkip Missed = "skip" // leave them out
	MissedOne  Missed = "one"  // run once for all of them
	MissedAll  Missed = "all"  // run each, but no more than the newest 1,000
)

// Overlap is what to do about a run that is due while another of the same
// schedule has not ended.
type Overlap string

// The policies for overlapping runs.
const (
	OverlapAllow         Overlap = "allow"          // run beside it
	OverlapSkip          Overlap = "skip"           // leave the new one out
	OverlapQueueOne      Overlap = "queue_one"      // one waits for its turn, further ones are left out
	OverlapQueueAll      Overlap = "queue_all"      // each waits for its turn
	OverlapCancelRunning Overlap = "cancel_running" // cancel the old one, then run
)

// SetSchedule creates a schedule or changes it. The same call again changes
// nothing, so a program can make it at every start.
func (c *Client) SetSchedule(ctx context.Context, s Schedule) error {
	const op = "set schedule"
	var now time.Time
	if err := c.pool.QueryRow(ctx, `select clock_timestamp()`).Scan(&now); err != nil {
		return wrap(op, err)
	}
	next, err := s.First(now)
	if err != nil {
		return refused(op, "WR422", err)
	}
	task, options, err := s.encode()
	if err != nil {
		return err
	}
	return c.command(ctx, op, `select weir.set_schedule($1, $2, $3, $4, zone => $5, missed => $6, paused => $7, by => nullif($8, ''), seen => $9,
		workflow => nullif($10, ''), options => $11, overlap => $12, catch_up => $13, jitter => $14)`,
		s.Name, s.Spec, task, next, orElse(s.Zone, "UTC"), orElse(string(s.Missed), string(MissedOne)), s.Paused, s.By, seen(s.Seen),
		s.Workflow, options, orElse(string(s.Overlap), string(OverlapAllow)), orNull(s.CatchUp), orNull(s.Jitter))
}

// encode writes what is to run: a task, or a workflow's options. The other is
// null.
func (s Schedule) encode() (task, options any, err error) {
	if s.Workflow != "" {
		text, err := encodeParams(s.Options)
		if err != nil {
			return nil, nil, refused("set schedule", "WR422", refusal.New("options", "%s", err))
		}
		if text == nil {
			return nil, nil, nil
		}
		return nil, string(text), nil
	}
	list, err := encodeTasks([]Task{s.Task}, "")
	if err != nil {
		return nil, nil, err
	}
	return strings.TrimSuffix(strings.TrimPrefix(string(list), "["), "]"), nil, nil
}

// PauseSchedule stops a schedule, or lets it go on with its next time from now.
func (c *Client) PauseSchedule(ctx context.Context, name string, paused bool, by string) error {
	var s Schedule
	var now time.Time
	err := c.pool.QueryRow(ctx, `select s.spec, s.zone, clock_timestamp() from weir.schedules s where s.name = $1`, name).Scan(&s.Spec, &s.Zone, &now)
	if errors.Is(err, pgx.ErrNoRows) {
		return refused("pause schedule", "WR404", refusal.New("", refusal.NoSuch, "schedule", name))
	}
	if err != nil {
		return wrap("pause schedule", err)
	}
	next, err := s.First(now)
	if err != nil {
		return wrap("pause schedule", err)
	}
	return c.command(ctx, "pause schedule", `select weir.set_schedule(s.name, s.spec, s.task, $2, zone => s.zone, missed => s.missed, paused => $3, by => nullif($4, ''),
		workflow => s.workflow, options => s.options, overlap => s.overlap, catch_up => s.catch_up, jitter => s.jitter)
		from weir.schedules s where s.name = $1`, name, next, paused, by)
}

// DropSchedule deletes a schedule. What it has submitted stays.
func (c *Client) DropSchedule(ctx context.Context, name, by string) error {
	return c.command(ctx, "drop schedule", `select weir.drop_schedule($1, nullif($2, ''))`, name, by)
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// orNull is a duration, or null for none.
func orNull(d time.Duration) any {
	if d == 0 {
		return nil
	}
	return d
}
