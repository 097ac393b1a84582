package rollout

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/rollout/script"
	"github.com/weirhq/weir/internal/rollout/target"
	"github.com/weirhq/weir/internal/testwait"
)

// Ten thousand runs wait, and nothing can open: a pass of the leader writes no row.
func TestNothingToOpenWritesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	names := make([]string, 1001)
	for i := range names {
		names[i] = fmt.Sprintf("d%04d", i)
	}
	r.register("test", names[:1]...)
	r.register("prod", names[1:]...)
	changes := make([]script.Change, 10) // the first stage runs one after the other
	for i := range changes {
		changes[i] = ddl(i + 1)
	}
	const waiting = 10000
	x := r.started(Plan{Stages: []Stage{{Name: "test"}, {Name: "prod", Approvals: 1}}, Changes: changes, Parallel: 10})
	for {
		all := r.claims(10)
		if len(all) == 0 {
			break
		}
		for _, l := range all {
			r.done(l)
		}
	}
	if out := r.state(x.ID, StateWaiting); out.Counts.Pending != waiting {
		t.Fatalf("%+v", out.Counts)
	}
	l := r.leads()
	pass := func() {
		l.swept = time.Time{}
		if _, err := l.tick(t.Context(), time.Now()); err != nil {
			t.Fatal(err)
		}
		r.open()
	}
	written := func() (n int64) {
		// The counters of a connection reach the table when it is idle for a while, or asked.
		r.scan(&n, `select coalesce(sum(n_tup_ins + n_tup_upd + n_tup_del), 0)::bigint from pg_stat_all_tables where schemaname = 'weir' and relname not in ('system_locks', 'workers', 'horizon')`)
		return n
	}
	pass()
	for _, c := range r.db.Pool.AcquireAllIdle(t.Context()) {
		if _, err := c.Exec(t.Context(), `select pg_stat_force_next_flush()`); err != nil {
			t.Fatal(err)
		}
		c.Release()
	}
	began := time.Now()
	before := written()
	for range 3 {
		pass()
	}
	took := time.Since(began) / 3
	for _, c := range r.db.Pool.AcquireAllIdle(t.Context()) {
		if _, err := c.Exec(t.Context(), `select pg_stat_force_next_flush()`); err != nil {
			t.Fatal(err)
		}
		c.Release()
	}
	if n := written() - before; n != 0 {
		t.Errorf("three passes wrote %d rows", n)
	}
	t.Logf("a pass over %d waiting runs took %s", waiting, took)
	r.must(r.store.Approve(t.Context(), "bob", x.ID, "prod", ""))
	if out := r.state(x.ID, StateRunning); out.Counts.Available != 10 {
		t.Fatalf("%+v", out.Counts)
	}
	r.must(r.store.Abort(t.Context(), "bob", x.ID, ""))
}

// With -args -databases 200 -versions 13 it is more than ten thousand runs.
var (
	databases = flag.Int("databases", 20, "databases of TestManyRunsKeepTheRules")
	versions  = flag.Int("versions", 5, "versions in each of its four rollouts")
)

// Two servers with four executors each, four rollouts over twenty databases, failures
// and commands in between: nothing ran beside, before, or over the limit. The
// timeline is the judge.
func TestManyRunsKeepTheRules(t *testing.T) {
	t.Parallel()
	const rollouts = 4
	r := newRig(t)
	names := make([]string, *databases)
	for i := range names {
		names[i] = fmt.Sprintf("d%02d", i)
		r.target(names[i], "test")
	}
	var made []Rollout
	for i := range rollouts {
		var changes []script.Change
		for v := range *versions {
			// The versions of the rollouts lie between one another.
			c := ddl(1 + i + v*rollouts)
			if v == 3 && i == 1 {
				c.SQL = "insert into fails values (1);" // there is no such table: twenty failures that somebody skips
			}
			changes = append(changes, c)
		}
		x := r.create(Plan{Stages: []Stage{{Name: "all", Databases: names, OnFailure: OnFailureContinue}}, Changes: changes, Parallel: 3 + i})
		made = append(made, x)
	}
	for _, x := range made { // before anything runs: what was not started keeps no higher version waiting
		r.must(r.store.Start(t.Context(), "ann", x.ID))
	}
	r.executes(4)
	r.executes(4)
	defer r.pauses(made)()
	skipped := map[weir.ID]bool{}
	r.within(testwait.Limit*time.Duration(1+*databases**versions/100), "the end of all", func() bool {
		r.open()
		live := 0
		for _, x := range made {
			list, err := r.tasks(x)
			if err != nil {
				t.Fatal(err)
			}
			for _, task := range list {
				switch {
				case task.Status == Failed && task.Code != target.CodeSQL: // a busy machine; the rules hold all the same
					t.Logf("%s failed and is tried again: %s", task.Key, task.Error)
					r.must(r.store.Retry(t.Context(), "bob", task.ID))
				case task.Status == Failed && !skipped[task.ID]:
					skipped[task.ID] = true
					r.must(r.store.Skip(t.Context(), "bob", task.ID, "known to fail"))
				}
				if !slices.Contains([]string{Done, Skipped}, task.Status) {
					live++
				}
			}
		}
		return live == 0
	})
	if len(skipped) != *databases {
		t.Fatalf("%d failures", len(skipped))
	}
	r.rules(made)
}

// within is until, for what takes as long as there is work.
func (r *rig) within(d time.Duration, what string, ok func() bool) {
	r.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); {
		if ok() {
			return
		}
		loop.Wait(r.Context(), 20*time.Millisecond, nil)
	}
	r.Fatalf("%s did not come about", what)
}

// pauses pauses and resumes rollouts, all the time, until it is told to stop.
func (r *rig) pauses(made []Rollout) (stop func()) {
	ctx, end := context.WithCancel(r.Context())
	var run sync.WaitGroup
	run.Go(func() {
		for i := 0; loop.Wait(ctx, 50*time.Millisecond, nil); i++ {
			// One that has ended refuses, and that is fine.
			_, _ = r.store.Pause(ctx, "bob", made[i%len(made)].ID, "")
			_, _ = r.store.Resume(context.WithoutCancel(ctx), "bob", made[i%len(made)].ID)
		}
	})
	return func() { end(); run.Wait() }
}

// span are the runs as the timeline has them: from the claim to the end.
const span = `with run as (
	select f.task, q.lane, q.rank, coalesce(q.exclusive, false) as exclusive, q.job, f.started_at as began, f.at as ended
	from weir.rollout_tasks x join weir.tasks q on q.id = x.task join weir.finished f on f.task = x.task where f.started_at is not null
	union all
	select e.task, q.lane, q.rank, coalesce(q.exclusive, false), q.job, (e.data ->> 'claimed_at')::timestamptz, (e.data ->> 'ended_at')::timestamptz
	from weir.events e join weir.tasks q on q.id = e.task where e.type = 'retried' and e.data ? 'claimed_at') `

// rules looks for two runs that were in a database together, a version before a lower
// one, and a rollout over its limit.
func (r *rig) rules(made []Rollout) {
	r.Helper()
	var n, runs int
	r.scan(&runs, span+`select count(*) from run`)
	if want := made[0].Counts.Total * len(made); runs < want {
		r.Errorf("%d runs, %d tasks", runs, want)
	}
	r.scan(&n, span+`select count(*) from run a join run b on b.lane = a.lane and (b.task, b.began) > (a.task, a.began) where (a.exclusive or b.exclusive) and a.began < b.ended and b.began < a.ended`)
	if n > 0 {
		r.Errorf("%d pairs of runs were in one database together", n)
	}
	r.scan(&n, span+`select count(*) from run a join run b on b.lane = a.lane and b.rank > a.rank where b.began < a.ended`)
	if n > 0 {
		r.Errorf("%d runs began before a lower version had ended", n)
	}
	for _, x := range made {
		r.scan(&n, span+`, edge as (select began as at, 1 as n from run where job = $1 union all select ended, -1 from run where job = $1),
			level as (select sum(n) over (order by at, n) as n from edge) select max(n) from level`, x.ID)
		if n > x.Parallel {
			r.Errorf("%d runs of a rollout went on at once, the limit is %d", n, x.Parallel)
		}
	}
	r.scan(&n, `select deadlocks from pg_stat_database where datname = current_database()`)
	if n > 0 {
		r.Errorf("%d deadlocks", n)
	}
	// As the targets have it: every version once, in order of time.
	for _, d := range []string{"d00", "d07", "d13"} {
		list, err := r.store.DatabaseHistory(r.Context(), d, view.Page{Limit: 1000})
		if err != nil {
			r.Fatal(err)
		}
		if want := len(made)**versions - 1; len(list) != want {
			r.Errorf("database %s has %d history rows, not %d", d, len(list), want)
		}
	}
}
