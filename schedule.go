package weir

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// Schedule submits a task again and again.
type Schedule struct {
	Name string
	// Spec is a cron line of five fields, a nickname such as @daily, or
	// "@every 90s".
	Spec string
	// Zone is the time zone of the cron line. Empty: UTC. Where the machine has
	// no time zones of its own, import time/tzdata.
	Zone string
	// Missed says what to do about runs that were due while nobody looked.
	// Empty: [MissedOne].
	Missed Missed
	// Task is what is submitted. Its idempotency key is the schedule's.
	Task Task
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

// SetSchedule creates a schedule or changes it. The same call again changes
// nothing, so a program can make it at every start.
func (c *Client) SetSchedule(ctx context.Context, s Schedule) error {
	var now time.Time
	if err := c.pool.QueryRow(ctx, `select clock_timestamp()`).Scan(&now); err != nil {
		return wrap("set schedule", err)
	}
	next, err := s.Next(now)
	if err != nil {
		return &Error{Op: "set schedule", Code: "WR422", Message: err.Error(), sentinel: ErrInvalid, cause: err}
	}
	list, err := encodeTasks([]Task{s.Task}, "")
	if err != nil {
		return err
	}
	task := strings.TrimSuffix(strings.TrimPrefix(string(list), "["), "]")
	return c.command(ctx, "set schedule", `select weir.set_schedule($1, $2, $3, $4, $5, $6, $7, nullif($8, ''), $9)`,
		s.Name, s.Spec, task, next, orElse(s.Zone, "UTC"), orElse(string(s.Missed), string(MissedOne)), s.Paused, s.By, seen(s.Seen))
}

// PauseSchedule stops a schedule, or lets it go on with its next time from now.
func (c *Client) PauseSchedule(ctx context.Context, name string, paused bool, by string) error {
	var s Schedule
	var now time.Time
	err := c.pool.QueryRow(ctx, `select s.spec, s.zone, clock_timestamp() from weir.schedules s where s.name = $1`, name).Scan(&s.Spec, &s.Zone, &now)
	if errors.Is(err, pgx.ErrNoRows) {
		return &Error{Op: "pause schedule", Code: "WR404", Message: "there is no schedule '" + name + "'", sentinel: ErrNotFound}
	}
	if err != nil {
		return wrap("pause schedule", err)
	}
	next, err := s.Next(now)
	if err != nil {
		return wrap("pause schedule", err)
	}
	return c.command(ctx, "pause schedule", `select weir.set_schedule(s.name, s.spec, s.task, $2, s.zone, s.missed, $3, nullif($4, '')) from weir.schedules s where s.name = $1`, name, next, paused, by)
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

// schedulesEvery is how often the tender looks for schedules that changed.
const schedulesEvery = 3 * time.Second

// fireSchedules submits what is due and returns when to look again.
func (c *Client) fireSchedules(ctx context.Context) (time.Duration, error) {
	type row struct {
		Schedule
		was, now time.Time
	}
	rows, err := c.pool.Query(ctx, `select name, spec, zone, missed, next_at, clock_timestamp() from weir.schedules
		where not paused and isfinite(next_at) and next_at <= clock_timestamp() + $1::interval order by next_at limit 100`, schedulesEvery)
	list, err := collect("fire schedules", rows, err, func(r *row) []any {
		return []any{&r.Name, &r.Spec, &r.Zone, (*string)(&r.Missed), &r.was, &r.now}
	})
	if err != nil {
		return schedulesEvery, err
	}
	again := schedulesEvery
	for _, r := range list {
		runs, next, err := r.Due(r.was, r.now)
		if err != nil {
			c.log.Error("a schedule cannot be read; change or drop it", "schedule", r.Name, "error", err)
			continue
		}
		again = min(again, next.Sub(r.now))
		if len(runs) == 0 && next.Equal(r.was) {
			continue // not yet
		}
		if _, err := c.pool.Exec(ctx, `select weir.fire_schedule($1, $2, $3, $4)`, r.Name, r.was, runs, next); err != nil {
			c.log.Error("a schedule could not be fired; it is tried again", "schedule", r.Name, "error", wrap("fire schedule", err))
			continue
		}
		c.say()
	}
	return max(again, 0), nil
}
