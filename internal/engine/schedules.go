package engine

import (
	"context"
	"errors"
	"fmt"
	"time"
	_ "time/tzdata" // a small container has no time zones of its own

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/weirhq/weir"
)

const (
	schedulesEvery = 3 * time.Second
	// schedulesBatch is how many schedules one tick looks at.
	schedulesBatch = 100
	// brokenFor is how long a schedule that cannot run is left alone.
	brokenFor = time.Minute
)

// scheduler submits the runs of schedules when they are due. That each comes
// once is the work of weir.fire_schedule: it moves the schedule on and submits
// in one transaction, and only from the time we read.
type scheduler struct {
	config Config
	term   Term
	// next is when the next one is due, as far as known.
	next time.Time
	// broken are schedules that cannot run, and until when they are left alone.
	broken map[string]time.Time
}

// schedule is a row of weir.schedules; now is the database's.
type schedule struct {
	Name, Spec, Zone string
	Missed           weir.Missed
	NextAt, Now      time.Time
}

func (s *scheduler) due() time.Time { return s.next }

func (s *scheduler) tick(ctx context.Context, now time.Time) (more bool, err error) {
	list, err := s.read(ctx, now)
	if err != nil {
		return false, fmt.Errorf("read schedules: %w", err)
	}
	s.next = time.Time{}
	for _, x := range list {
		next, err := x.NextAt, error(nil)
		if !next.After(x.Now) {
			next, err = s.fire(ctx, x)
		}
		switch {
		case err == nil:
			if due := now.Add(next.Sub(x.Now)); s.next.IsZero() || due.Before(s.next) {
				s.next = due
			}
		case ctx.Err() != nil || !broken(err):
			return false, fmt.Errorf("schedule %s: %w", x.Name, err)
		default:
			// It fails alone. When it is repaired, its policy says what it missed.
			s.broken[x.Name] = now.Add(brokenFor)
			s.config.Log.Warn("a schedule cannot run; change it, or what it needs", "schedule", x.Name, "error", err)
		}
	}
	return len(list) == schedulesBatch && !list[len(list)-1].NextAt.After(list[0].Now), nil
}

// read lists what is due now or within a few ticks, the most urgent first.
func (s *scheduler) read(ctx context.Context, now time.Time) ([]schedule, error) {
	names := []string{}
	for name, until := range s.broken {
		if until.After(now) {
			names = append(names, name)
		} else {
			delete(s.broken, name)
		}
	}
	rows, err := s.config.Pool.Query(ctx, `select s.name, s.spec, s.zone, s.missed, s.next_at, clock_timestamp() as now from weir.schedules s
		where not s.paused and s.next_at <= clock_timestamp() + interval '10 s' and isfinite(s.next_at) and s.name <> all ($1)
		order by s.next_at limit $2`, names, schedulesBatch)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[schedule])
}

// fire submits what is due and returns when the next run is.
func (s *scheduler) fire(ctx context.Context, x schedule) (next time.Time, err error) {
	due, next, err := weir.Schedule{Spec: x.Spec, Zone: x.Zone, Missed: x.Missed}.Due(x.NextAt, x.Now)
	if err != nil {
		return next, badSchedule{err}
	}
	var submitted int
	return next, s.term.QueryRow(ctx, s.config.Pool, `select cardinality(weir.fire_schedule($1, $2, $3, $4))`, []any{x.Name, x.NextAt, due, next}, &submitted)
}

// badSchedule is a schedule that somebody wrote without asking [weir.Schedule.Next].
type badSchedule struct{ error }

// broken tells an error of one schedule from one of the database: the task was
// refused, or the cron line is none.
func broken(err error) bool {
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		switch refused.Code[:2] {
		case "WR", "22", "23", "54":
			return true
		}
		return false
	}
	return errors.As(err, new(badSchedule))
}
