package tending

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir/internal/blame"
	"github.com/weirhq/weir/internal/loop"
)

const (
	schedulesEvery = 3 * time.Second
	// schedulesBatch is how many schedules one tick looks at, and fires in one
	// statement.
	schedulesBatch = 250
	// brokenFor is how long a schedule that cannot run is left alone.
	brokenFor = time.Minute
)

// scheduler submits the runs of schedules when they are due. That each comes
// once is the work of weir.fire_schedule: it moves the schedule on and submits
// in one transaction, and only from the time we read.
type scheduler struct {
	config Config
	// next is when the next one is due, as far as known.
	next time.Time
	// broken are schedules that cannot run, and until when they are left alone.
	broken map[string]time.Time
}

// Schedule is what of a row of weir.schedules says when it is due; Now is the database's.
type Schedule struct {
	Name, Spec, Zone, Missed string
	CatchUp                  time.Duration
	NextAt, Now              time.Time
}

// firing are the runs of a schedule that are due: the arguments of
// weir.fire_schedule.
type firing struct {
	Name string      `json:"name"`
	Was  time.Time   `json:"was"`
	Due  []time.Time `json:"due"`
	Next time.Time   `json:"next_at,omitzero"`
}

// Schedules submits the runs of schedules.
func Schedules(config Config) loop.Loop {
	s := newScheduler(config)
	return loop.Loop{Name: "schedules", Tick: s.tick, Every: schedulesEvery, Next: s.due}
}

func newScheduler(config Config) *scheduler {
	return &scheduler{config: config.withDefaults(), broken: map[string]time.Time{}}
}

func (s *scheduler) due() time.Time { return s.next }

func (s *scheduler) tick(ctx context.Context, now time.Time) (more bool, err error) {
	list, err := s.read(ctx, now)
	if err != nil {
		return false, fmt.Errorf("read schedules: %w", err)
	}
	s.next = time.Time{}
	var due []firing
	for _, x := range list {
		next := x.NextAt
		if !next.After(x.Now) {
			runs, following, err := s.config.Due(x)
			if err != nil {
				s.leave(x.Name, now, err)
				continue
			}
			due = append(due, firing{x.Name, x.NextAt, runs, following})
			next = following
		}
		if at := now.Add(next.Sub(x.Now)); !next.IsZero() && (s.next.IsZero() || at.Before(s.next)) {
			s.next = at
		}
	}
	if err := s.fire(ctx, now, due); err != nil {
		return false, err
	}
	return len(list) == schedulesBatch && !list[len(list)-1].NextAt.After(list[0].Now), nil
}

// leave leaves a schedule alone for a while. When it is repaired, its policy
// says what it missed.
func (s *scheduler) leave(name string, now time.Time, err error) {
	s.broken[name] = now.Add(brokenFor)
	s.config.Log.Warn("a schedule cannot run; change it, or what it needs", "schedule", name, "error", err)
}

// read lists what is due now or within a few ticks, the most urgent first.
func (s *scheduler) read(ctx context.Context, now time.Time) ([]Schedule, error) {
	names := []string{}
	for name, until := range s.broken {
		if until.After(now) {
			names = append(names, name)
		} else {
			delete(s.broken, name)
		}
	}
	rows, err := s.config.Pool.Query(ctx, `select s.name, s.spec, s.zone, s.missed, coalesce(s.catch_up, '0'), s.next_at, clock_timestamp() as now from weir.schedules s
		where not s.paused and s.next_at <= clock_timestamp() + interval '10 s' and isfinite(s.next_at) and s.name <> all ($1)
		order by s.next_at limit $2`, names, schedulesBatch)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[Schedule])
}

// fire submits what is due, all in one statement. If one of them is refused, it
// fails alone: they go one by one.
func (s *scheduler) fire(ctx context.Context, now time.Time, due []firing) error {
	if len(due) == 0 {
		return nil
	}
	text, err := json.Marshal(due)
	if err != nil {
		return fmt.Errorf("fire schedules: %w", err)
	}
	var fired int
	err = s.config.act(ctx, `select weir.fire_schedules($1)`, []any{string(text)}, &fired)
	switch {
	case err == nil:
		if fired > 0 {
			s.config.Ready()
		}
		return nil
	case ctx.Err() != nil || !broken(err):
		return fmt.Errorf("fire %d schedules: %w", len(due), err)
	case len(due) == 1:
		s.leave(due[0].Name, now, err)
		return nil
	}
	for i := range due {
		if err := s.fire(ctx, now, due[i:i+1]); err != nil {
			return err
		}
	}
	return nil
}

// broken tells an error of one schedule from one of the database: the task was
// refused.
func broken(err error) bool {
	party := blame.Of(err)
	return party == blame.Value || party == blame.State
}
