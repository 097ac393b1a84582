package rollout

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir/internal/rollout/script"
)

// Each invariant of rollouts, broken by hand, is found by its row of the doctor, which
// is quiet before. What was broken is rolled back.
func TestDoctorFindsWhatIsBroken(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.register("test", "a", "b")
	r.register("prod", "c")
	stages := []Stage{{Name: "test"}, {Name: "prod", Approvals: 1}}
	x := r.started(Plan{Stages: stages, Changes: []script.Change{ddl(1), ddl(2)}, Parallel: 2})
	all := r.claims(10)
	r.brief(all["test/a/1"])
	r.lose(all["test/b/1"], "sent")
	r.want(x.ID, "test/a/1 RUNNING", "test/a/2 PENDING", "test/b/1 UNKNOWN", "test/b/2 PENDING", "prod/c/1 NOT_STARTED", "prod/c/2 NOT_STARTED")
	// Without a limit it is known when a task has passed its lane.
	free := r.started(Plan{Stages: stages[1:], Changes: []script.Change{ddl(3), ddl(4)}})
	id := func(key string) any { return r.task(x.ID, key).ID }

	const start = `with gone as (delete from weir.pending where task = $1 returning *)
		insert into weir.running (task, token, claimed_at, until, worker, attempt, exclusive, opened_at, class, job, lane, rank, pool)
		select task, gen_random_uuid(), clock_timestamp(), clock_timestamp() + interval '1 hour', (select min(id) from weir.workers), 1, exclusive, clock_timestamp(), class, job, lane, rank, pool from gone`
	for name, c := range map[string]struct {
		sql  []string
		args []any
		says string
	}{
		"a database has one exclusive run at a time":      {[]string{start}, []any{id("test/a/2")}, "database a has "},
		"no version runs before a lower one that is open": {[]string{start}, []any{r.task(free.ID, "prod/c/4").ID}, " goes before "},
		"no rollout runs more at once than it may": {
			[]string{`insert into weir.running (task, token, claimed_at, until, worker, attempt, opened_at, class, pool)
				select gen_random_uuid(), gen_random_uuid(), clock_timestamp(), clock_timestamp() + interval '1 hour', 1, 1, clock_timestamp(), 1, 'rollout/' || $1::text from generate_series(1, 2)`},
			[]any{x.ID.String()},
			": 3 of 2",
		},
		"the holds of rollouts are what they should be": {[]string{`update weir.pending set hold = null, gate = 'lane' where task = $1`}, []any{id("prod/c/1")}, "1 tasks have no hold instead of 'waits for stage test"},
		"a run that nobody knows of is asked about":     {[]string{`update weir.rollout_runs set look_at = null where task = $1`}, []any{id("test/b/1")}, "nobody will look"},
		"a rollout stands as its tasks do":              {[]string{`update weir.rollouts set state = 'done' where job = $1`}, []any{x.ID}, "is done, its tasks say failed"},
		"nobody has to say what became of a run":        {[]string{`update weir.rollout_runs set ended_at = ended_at - interval '1 hour' where task = $1`}, []any{id("test/b/1")}, "weir rollout resolve"},
	} {
		t.Run(name, func(t *testing.T) {
			tx, err := r.db.Pool.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = tx.Rollback(t.Context()) }()
			if ok, detail := doctor(t, tx, name); !ok {
				t.Fatalf("before anything was broken: %s", detail)
			}
			for _, sql := range c.sql {
				if tag, err := tx.Exec(t.Context(), sql, c.args...); err != nil || tag.RowsAffected() == 0 {
					t.Fatal(tag, err)
				}
			}
			if ok, detail := doctor(t, tx, name); ok || !strings.Contains(detail, c.says) {
				t.Errorf("ok is %v: %s", ok, detail)
			}
		})
	}
}

// doctor reads one row.
func doctor(t *testing.T, tx pgx.Tx, name string) (ok bool, detail string) {
	t.Helper()
	if err := tx.QueryRow(t.Context(), `select ok, coalesce(detail, '') from weir.doctor() where name = $1`, name).Scan(&ok, &detail); err != nil {
		t.Fatal(err)
	}
	return ok, detail
}

// Two canaries, one of them through: what waits for them says so in the words that it
// had, and nothing is to be put right.
func TestCanariesOneByOne(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.register("test", "a", "b", "c")
	x := r.started(Plan{Stages: []Stage{{Name: "test", Canary: 2}}, Changes: []script.Change{ddl(1)}})
	all := r.claims(10)
	r.done(all["test/a/1"])
	if got := r.task(x.ID, "test/c/1").Cause; got != "waits for canaries a and 1 more" {
		t.Fatal(got)
	}
	var wrong int
	r.scan(&wrong, `select count(*) from weir._rollout_wrong_holds(array[$1::uuid])`, x.ID)
	if wrong != 0 {
		t.Fatalf("%d holds went stale", wrong)
	}
	r.done(all["test/b/1"])
	r.done(r.claim("test/c/1"))
	r.state(x.ID, StateDone)
}

// A failure takes back what may start and has never run: nothing new of the stage
// starts.
func TestFailureTakesBackWhatMayStart(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.register("test", "a", "b")
	x := r.started(Plan{Stages: []Stage{{Name: "test"}}, Changes: []script.Change{ddl(1)}})
	r.want(x.ID, "test/a/1 AVAILABLE", "test/b/1 AVAILABLE")
	one := r.claims(1)
	for key, l := range one {
		r.fail(l, "sql")
		other := map[string]string{"test/a/1": "test/b/1", "test/b/1": "test/a/1"}[key]
		if got := r.task(x.ID, other); got.Status != Pending || !strings.HasPrefix(got.Cause, "waits for a decision") {
			t.Fatalf("%+v", got)
		}
		r.must(r.store.Retry(t.Context(), "bob", l.task))
		both := r.claims(10)
		r.done(both[key])
		r.done(both[other])
	}
	r.state(x.ID, StateDone)
}
