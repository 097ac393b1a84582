package engine

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/testdb"
)

// putWorkflow stores a definition; to the engine it is opaque.
func putWorkflow(t *testing.T, db *testdb.DB, name string) {
	t.Helper()
	exec(t, db, `select weir.put_workflow($1, '{"steps": [{"key": "a", "service": "s"}], "priority": 7}')`, name)
}

// fire runs ticks until there is nothing due.
func fire(t *testing.T, s loop.Loop) {
	t.Helper()
	for more := true; more; {
		var err error
		if more, err = s.Tick(t.Context(), time.Now()); err != nil {
			t.Fatal(err)
		}
	}
}

// again makes a schedule due once more.
func again(t *testing.T, db *testdb.DB, name string) {
	t.Helper()
	exec(t, db, `update weir.schedules set next_at = clock_timestamp() where name = $1`, name)
}

func TestAWorkflowsScheduleOpensAJobForEachRun(t *testing.T) {
	db := testdb.New(t)
	endQueued(t, db)
	putWorkflow(t, db, "render")
	exec(t, db, `select weir.put_workflow('render', '{"steps": [{"key": "b", "service": "s"}]}', active => false)`)
	exec(t, db, `select weir.set_schedule('s', '@every 1h', null, clock_timestamp() - interval '2 h 30 min', missed => 'all', workflow => 'render', options => '{"params": {"x": 1}}')`)
	fire(t, newScheduler(db, leadOnly(t, db.Pool)))
	const runs = `select count(*) from weir.job j join weir.workflows w on w.id = j.definition where j.state = 'queued' and j.kind = 'workflow' and j.name = 'render' and w.version = 1
		and j.schedule = 's' and j.options = '{"params": {"x": 1}}' and j.priority = 7 and j.scheduled_at < j.due and j.due < clock_timestamp()`
	if got := scan[int](t, db, runs); got != 3 {
		t.Errorf("%d jobs of the newest active version, want 3", got)
	}
	if got := scan[bool](t, db, `select last_job = (select id from weir.jobs order by scheduled_at desc limit 1) and last_task is null from weir.schedules`); !got {
		t.Error("last_job is not the newest run")
	}
}

func TestOverlapPolicies(t *testing.T) {
	for policy, want := range map[string][2]int{ // queued after a second run while the first is queued, then after a third while the first is built
		"allow": {2, 2}, "skip": {1, 0}, "queue_one": {1, 1}, "queue_all": {2, 2}, "cancel_running": {1, 1},
	} {
		t.Run(policy, func(t *testing.T) {
			db := testdb.New(t)
			endQueued(t, db)
			putWorkflow(t, db, "w")
			exec(t, db, `select weir.set_schedule('s', '@every 1h', null, clock_timestamp() - interval '30 min', workflow => 'w', overlap => $1)`, policy)
			s := newScheduler(db, leadOnly(t, db.Pool))
			fire(t, s)
			again(t, db, "s")
			fire(t, s)
			queued := func() int { return scan[int](t, db, `select count(*) from weir.job where state = 'queued'`) }
			if got := queued(); got != want[0] {
				t.Errorf("%d jobs are queued after the second run, want %d", got, want[0])
			}
			exec(t, db, `select weir.add_tasks((select id from weir.job where state = 'queued' order by order_seq limit 1), '[{"key": "a", "service": "s"}]')`)
			again(t, db, "s")
			fire(t, s)
			wanted := want[1]
			if policy == "allow" || policy == "queue_all" {
				wanted = 2 // one of the two was built, one more came
			}
			if got := queued(); got != wanted {
				t.Errorf("%d jobs are queued after the third run, want %d", got, wanted)
			}
			running := 1
			if policy == "cancel_running" {
				running = 0
			}
			if got := scan[int](t, db, `select count(*) from weir.job where state = 'running'`); got != running {
				t.Errorf("%d jobs run, want %d", got, running)
			}
		})
	}
}

func TestASingleRunComesOnce(t *testing.T) {
	db := testdb.New(t)
	set := func(paused bool) {
		t.Helper()
		exec(t, db, `select weir.set_schedule('once', '@at 2026-01-01T00:00:00Z', '{"service": "s"}', '2026-01-01T00:00:00Z', paused => $1)`, paused)
	}
	set(false)
	s := newScheduler(db, leadOnly(t, db.Pool))
	fire(t, s)
	// Set again, paused and resumed: it is over all the same.
	set(false)
	set(true)
	set(false)
	fire(t, s)
	if got := scan[int](t, db, `select count(*) from weir.task`); got != 1 {
		t.Errorf("%d tasks, want 1", got)
	}
	if !scan[bool](t, db, `select next_at = 'infinity' from weir.schedules`) {
		t.Error("it is due again")
	}
	if !s.Next().IsZero() {
		t.Errorf("the loop waits for %s", s.Next())
	}
}

func TestJitterIsTheSameForTheSameRun(t *testing.T) {
	db := testdb.New(t)
	endQueued(t, db)
	putWorkflow(t, db, "w")
	exec(t, db, `select weir.set_schedule('w' || n, '@every 1h', null, date_trunc('hour', clock_timestamp()), workflow => 'w', jitter => '1 h') from generate_series(1, 50) n`)
	exec(t, db, `select weir.set_schedule('t', '@every 1h', '{"service": "s"}', date_trunc('hour', clock_timestamp()), jitter => '1 h')`)
	fire(t, newScheduler(db, leadOnly(t, db.Pool)))
	if got := scan[int](t, db, `select count(*) from weir.job where scheduled_at = date_trunc('hour', scheduled_at) 
		and due = greatest(weir._jittered(schedule, scheduled_at, '1 h'), created_at)`); got != 50 {
		t.Errorf("%d of 50 jobs are put off by their part of the jitter", got)
	}
	if got := scan[int](t, db, `select count(distinct weir._jittered(schedule, scheduled_at, '1 h')) from weir.job`); got < 40 {
		t.Errorf("50 schedules start at %d instants", got)
	}
	if !scan[bool](t, db, `select run_at = weir._jittered('t', date_trunc('hour', run_at), '1 h') from weir.task`) {
		t.Error("the task is not put off")
	}
}

func TestMissedRunsAreBoundedByTheWindow(t *testing.T) {
	db := testdb.New(t)
	endQueued(t, db)
	putWorkflow(t, db, "w")
	for _, missed := range []string{"skip", "one", "all"} {
		exec(t, db, `select weir.set_schedule($1, '@every 1h', null, clock_timestamp() - interval '99 h 30 min', missed => $1, workflow => 'w', catch_up => '3 h')`, missed)
		exec(t, db, `select weir.set_schedule($1 || ' daily', '@every 24h', null, clock_timestamp() - interval '90 h', missed => $1, workflow => 'w', catch_up => '3 h')`, missed)
	}
	fire(t, newScheduler(db, leadOnly(t, db.Pool)))
	for name, want := range map[string]int{"skip": 0, "one": 1, "all": 3, "skip daily": 0, "one daily": 0, "all daily": 0} {
		if got := scan[int](t, db, `select count(*) from weir.jobs where schedule = $1`, name); got != want {
			t.Errorf("%s: %d runs, want %d", name, got, want)
		}
	}
	if got := scan[int](t, db, `select count(*) from weir.schedules where next_at <= clock_timestamp()`); got != 0 {
		t.Errorf("%d schedules are still due", got)
	}
}

func TestAScheduleWithoutAnActiveVersionFailsAlone(t *testing.T) {
	db := testdb.New(t)
	endQueued(t, db)
	putWorkflow(t, db, "gone")
	putWorkflow(t, db, "here")
	for _, name := range []string{"gone", "here"} {
		exec(t, db, `select weir.set_schedule($1, '@every 1h', null, clock_timestamp() - interval '1 min', workflow => $1)`, name)
	}
	exec(t, db, `select weir.set_workflow('gone', 1, false)`)
	s, leftAlone := watchedScheduler(db, leadOnly(t, db.Pool))
	fire(t, s)
	if got := scan[int](t, db, `select count(*) from weir.jobs`); got != 1 || leftAlone() != 1 {
		t.Errorf("%d jobs, %d schedules are left alone", got, leftAlone())
	}
}

func TestAThousandSchedulesAtOneInstant(t *testing.T) {
	db := testdb.New(t)
	endQueued(t, db)
	putWorkflow(t, db, "w")
	term := leadOnly(t, db.Pool)
	for _, what := range []string{`'{"service": "s"}', clock_timestamp() - interval '1 min'`, `null, clock_timestamp() - interval '1 min', workflow => 'w', overlap => 'skip'`} {
		exec(t, db, fmt.Sprintf(`select weir.set_schedule(gen_random_uuid()::text, '@every 1h', %s) from generate_series(1, 1000)`, what))
		s := newScheduler(db, term)
		start := time.Now()
		fire(t, s)
		t.Logf("1,000 fired in %s", time.Since(start))
	}
	if got := scan[int](t, db, `select (select count(*) from weir.tasks) + (select count(*) from weir.jobs)`); got != 2000 {
		t.Errorf("%d runs, want 2000", got)
	}
}

// endQueued ends what nobody builds here, for the doctor.
func endQueued(t *testing.T, db *testdb.DB) {
	t.Cleanup(func() {
		if _, err := db.Pool.Exec(context.Background(), `select weir.cancel_job(j.id) from weir.job j where j.state = 'queued'`); err != nil {
			t.Error(err)
		}
	})
}

func TestAScheduleThatMovedOnDoesNotFire(t *testing.T) {
	db := testdb.New(t)
	exec(t, db, `select weir.set_schedule('s', '@every 1h', '{"service": "s"}', clock_timestamp() - interval '1 min')`)
	const late = `select cardinality(weir.fire_schedule('s', next_at - interval '1 h', array[next_at - interval '1 h'], next_at)) from weir.schedules`
	if got := scan[int](t, db, late); got != 0 {
		t.Errorf("%d runs", got)
	}
	if got := scan[int](t, db, `select count(*) from weir.events where type = 'fired'`); got != 0 {
		t.Errorf("%d events", got)
	}
	if !scan[bool](t, db, `select last_at is null from weir.schedules`) {
		t.Error("it has moved")
	}
}
