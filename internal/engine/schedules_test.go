package engine

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/coordinator"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/pg"
	"github.com/weirhq/weir/internal/tending"
	"github.com/weirhq/weir/internal/testdb"
	"github.com/weirhq/weir/internal/testwait"
)

func newScheduler(db *testdb.DB, term pg.Term) loop.Loop {
	s, _ := watchedScheduler(db, term)
	return s
}

// watchedScheduler also counts the schedules that were left alone.
func watchedScheduler(db *testdb.DB, term pg.Term) (s loop.Loop, leftAlone func() int) {
	var log bytes.Buffer
	s = tending.Schedules(tending.Config{Pool: db.Pool, Term: term, Due: due, Log: slog.New(slog.NewTextHandler(&log, nil))})
	return s, func() int { return strings.Count(log.String(), "a schedule cannot run") }
}

func TestASchedulesRunsComeExactlyOnce(t *testing.T) {
	db := testdb.New(t)
	term := leadOnly(t, db.Pool)
	// 250 schedules, each with ten runs due: more than one tick takes.
	exec(t, db, `select weir.set_schedule('s' || n, '@every 1h', '{"service": "s"}', clock_timestamp() - interval '9 h 30 min', missed => 'all')
		from generate_series(1, 250) n`)
	var all sync.WaitGroup
	for range 4 {
		s := newScheduler(db, term)
		all.Go(func() {
			for more := true; more; {
				var err error
				if more, err = s.Tick(t.Context(), time.Now()); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	if got := scan[int](t, db, `select count(*) from weir.task`); got != 2500 {
		t.Errorf("%d tasks, want 2500", got)
	}
	if got := scan[int](t, db, `select count(*) from weir.schedules where next_at > clock_timestamp() and next_at < clock_timestamp() + interval '1 h' and last_task is not null`); got != 250 {
		t.Errorf("%d schedules have moved on, want 250", got)
	}
}

func TestABrokenScheduleFailsAlone(t *testing.T) {
	db := testdb.New(t)
	exec(t, db, `select weir.set_pool('gone', 1)`)
	for name, line := range map[string][2]string{
		"cron": {"every full moon", `{"service": "s"}`},
		"pool": {"@hourly", `{"service": "s", "pool": "gone"}`},
		"good": {"@hourly", `{"service": "s"}`},
	} {
		exec(t, db, `select weir.set_schedule($1, $2, $3, date_trunc('hour', clock_timestamp()))`, name, line[0], line[1])
	}
	exec(t, db, `select weir.drop_pool('gone')`)
	s, leftAlone := watchedScheduler(db, leadOnly(t, db.Pool))
	now := time.Now()
	for range 3 {
		if _, err := s.Tick(t.Context(), now); err != nil {
			t.Fatal(err)
		}
	}
	if got := scan[int](t, db, `select count(*) from weir.task`); got != 1 || leftAlone() != 2 {
		t.Fatalf("%d tasks, %d schedules are left alone", got, leftAlone())
	}
	// The pool is back: nothing was lost. A new line counts from its own next time.
	exec(t, db, `select weir.set_pool('gone', 1)`)
	exec(t, db, `select weir.set_schedule('cron', '@daily', '{"service": "s"}', date_trunc('day', clock_timestamp()))`)
	if _, err := s.Tick(t.Context(), now.Add(2*time.Minute)); err != nil {
		t.Fatal(err)
	}
	if got := scan[int](t, db, `select count(*) from weir.task`); got != 3 {
		t.Errorf("%d tasks after the repair, want 3", got)
	}
}

func TestAPausedScheduleWaits(t *testing.T) {
	db := testdb.New(t)
	exec(t, db, `select weir.set_schedule('s', '@hourly', '{"service": "s"}', clock_timestamp() - interval '1 h', paused => true)`)
	exec(t, db, `select weir.set_schedule('never', '@hourly', '{"service": "s"}', '-infinity')`)
	s := newScheduler(db, leadOnly(t, db.Pool))
	if more, err := s.Tick(t.Context(), time.Now()); more || err != nil {
		t.Fatal(more, err)
	}
	if got := scan[int](t, db, `select count(*) from weir.task`); got != 0 {
		t.Errorf("%d tasks", got)
	}
}

func TestR9ASchedulerOfAnOldTermFiresNothing(t *testing.T) {
	db := testdb.New(t)
	term := leadOnly(t, db.Pool)
	exec(t, db, `select weir.set_schedule('s', '@hourly', '{"service": "s"}', clock_timestamp() - interval '1 h')`)
	exec(t, db, `update weir.system_locks set holder_id = 'another', epoch = epoch + 1`)
	if _, err := newScheduler(db, term).Tick(t.Context(), time.Now()); err == nil {
		t.Error("an old term fired")
	}
	if got := scan[int](t, db, `select count(*) from weir.task`); got != 0 {
		t.Errorf("%d tasks", got)
	}
}

func TestSchedulesFireWhenDue(t *testing.T) {
	db := testdb.New(t)
	exec(t, db, `select weir.set_schedule('s', '@every 1s', '{"service": "s"}', clock_timestamp() + interval '1 s')`)
	lead(t, db.Pool, func(term *coordinator.Term) []loop.Loop { return Loops(Config{Pool: db.Pool}, term) })
	testwait.Until(t, "three runs", func() bool { return scan[int](t, db, `select count(*) from weir.task`) >= 3 })
	late := scan[float64](t, db, `select max(extract(epoch from e.at - (e.data->'due'->>-1)::timestamptz))::float8 from weir.events e where e.type = 'fired'`)
	t.Logf("fired at most %.1f ms late", 1000*late)
	if late < 0 || late > 20 {
		t.Errorf("fired %v s late", late)
	}
}
