package weir

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// missedLimit bounds how many missed runs one firing makes up for.
const missedLimit = 1000

// Schedule submits a task again and again.
type Schedule struct {
	Name string
	// Spec is a cron line of five fields, a nickname such as @daily, or
	// "@every 90s".
	Spec string
	// Zone is the time zone of the cron line. Empty: UTC.
	Zone string
	// Missed says what to do about runs that were due while nobody looked.
	// Empty: [MissedOne].
	Missed Missed
	// Task is what is submitted. Its idempotency key is the schedule's.
	Task Task
	// Paused keeps the schedule but submits nothing.
	Paused bool
}

// Missed is what to do about missed runs.
type Missed string

// The policies for missed runs.
const (
	MissedSkip Missed = "skip" // none of them
	MissedOne  Missed = "one"  // the last one
	MissedAll  Missed = "all"  // each of them
)

// late is how long after its time a run does not yet count as missed.
const late = time.Minute

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
	list, err := encodeTasks([]Task{s.Task})
	if err != nil {
		return err
	}
	task := strings.TrimSuffix(strings.TrimPrefix(string(list), "["), "]")
	return c.command(ctx, "set schedule", `select weir.set_schedule($1, $2, $3, $4, $5, $6, $7)`,
		s.Name, s.Spec, task, next, orElse(s.Zone, "UTC"), orElse(string(s.Missed), string(MissedOne)), s.Paused)
}

// DropSchedule deletes a schedule. What it has submitted stays.
func (c *Client) DropSchedule(ctx context.Context, name string) error {
	return c.command(ctx, "drop schedule", `select weir.drop_schedule($1)`, name)
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// Next is the first time after t that the schedule is due.
func (s Schedule) Next(t time.Time) (time.Time, error) {
	if every, ok := strings.CutPrefix(s.Spec, "@every "); ok {
		d, err := time.ParseDuration(strings.TrimSpace(every))
		if err != nil || d < time.Second {
			return time.Time{}, fmt.Errorf("spec: %q: @every wants a duration of at least 1s, such as 90s or 1h30m", s.Spec)
		}
		return t.Add(d).Truncate(time.Microsecond), nil
	}
	line, err := parseCron(s.Spec)
	if err != nil {
		return time.Time{}, fmt.Errorf("spec: %w", err)
	}
	zone, err := time.LoadLocation(orElse(s.Zone, "UTC"))
	if err != nil {
		return time.Time{}, fmt.Errorf("zone: %w", err)
	}
	next := line.next(t.In(zone))
	if next.IsZero() {
		return time.Time{}, fmt.Errorf("spec: %q names no time within five years", s.Spec)
	}
	return next, nil
}

// Due says which runs to submit now, when the schedule was due at was, and when
// it is due next. It decides; [Client] and the coordinator act.
func (s Schedule) Due(was, now time.Time) (runs []time.Time, next time.Time, err error) {
	for next = was; !next.After(now); {
		if runs = append(runs, next); len(runs) == missedLimit && s.Missed == MissedAll {
			// The rest is due still; the next firing goes on from here.
			next, err = s.Next(next)
			return runs, next, err
		}
		if len(runs) > missedLimit {
			runs = runs[1:]
		}
		if next, err = s.Next(next); err != nil {
			return nil, time.Time{}, err
		}
	}
	last := len(runs) - 1
	switch {
	case last < 0 || s.Missed == MissedAll:
		return runs, next, nil
	case s.Missed == MissedSkip && now.Sub(runs[last]) > late:
		return nil, next, nil
	}
	return runs[last:], next, nil
}

// fireSchedules submits what is due. It is part of the tender's duty.
func (c *Client) fireSchedules(ctx context.Context) error {
	type due struct {
		Schedule
		was, now time.Time
	}
	rows, err := c.pool.Query(ctx, `select name, spec, zone, missed, next_at, clock_timestamp() from weir.schedules where not paused and next_at <= clock_timestamp()
		order by next_at limit 100`)
	list, err := collect("fire schedules", rows, err, func(d *due) []any {
		return []any{&d.Name, &d.Spec, &d.Zone, (*string)(&d.Missed), &d.was, &d.now}
	})
	if err != nil {
		return err
	}
	for _, d := range list {
		runs, next, err := d.Due(d.was, d.now)
		if err != nil {
			c.log.Error("a schedule cannot be read; change or drop it", "schedule", d.Name, "error", err)
			continue
		}
		if _, err := c.pool.Exec(ctx, `select weir.fire_schedule($1, $2, $3, $4)`, d.Name, d.was, runs, next); err != nil {
			return wrap("fire schedule "+d.Name, err)
		}
		c.say()
	}
	return nil
}
