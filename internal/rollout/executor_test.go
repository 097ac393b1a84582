package rollout

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/rollout/script"
	"github.com/weirhq/weir/internal/rollout/target"
)

func TestExecutorAppliesOnRealDatabases(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	one, two := r.target("one", "test"), r.target("two", "prod")
	r.executes(4)
	two1 := change("2", script.DDL, "create table b (id int);\n\ninsert into b\nvalues (1), (2);\n")
	x := r.started(Plan{Stages: []Stage{{Name: "test"}, {Name: "prod"}}, Changes: []script.Change{ddl(1), two1}})
	r.tended(x.ID, StateDone)
	for _, address := range []string{one, two} {
		if got := r.in(address, `select count(*)::text from b`); got != "2" {
			t.Fatalf("rows: %s", got)
		}
		if got := r.in(address, `select string_agg(version, ',' order by version) from weir_history`); got != "1,2" {
			t.Fatalf("history: %s", got)
		}
	}
	d, err := r.store.Database(t.Context(), "one")
	if err != nil || d.Version != "2" {
		t.Fatalf("%+v %v", d, err)
	}
	history, err := r.store.DatabaseHistory(t.Context(), "one", view.Page{Limit: 1, After: "1"})
	if err != nil || len(history) != 1 || history[0].Version != "1" {
		t.Fatalf("%+v %v", history, err)
	}
	run, err := r.store.Run(t.Context(), r.task(x.ID, "test/one/2").ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, l := range run.Log {
		if l.Statement != nil {
			lines = append(lines, fmt.Sprintf("%s rows=%d", l.Message, l.Statement.Rows))
		}
	}
	if want := []string{"line 1: CREATE TABLE rows=0", "lines 3–4: INSERT rows=2"}; !slices.Equal(lines, want) {
		t.Fatalf("log: %q in %+v", lines, run.Log)
	}
	if len(run.Attempts) != 1 || run.Attempts[0].Status != Done || run.Attempts[0].Phase != "applied" || run.SQL != two1.SQL {
		t.Fatalf("%+v", run)
	}
	// What was done by hand is drift, once there is something to compare with.
	report, err := r.store.Drift(t.Context(), "one")
	if err != nil || report.Drifted || report.Base == nil {
		t.Fatalf("%+v %v", report, err)
	}
	r.in(one, `create table by_hand (id int)`)
	if report, err = r.store.Drift(t.Context(), "one"); err != nil || !report.Drifted || !strings.Contains(report.Diff, "+") || !strings.Contains(report.Diff, "by_hand") {
		t.Fatalf("%+v %v", report, err)
	}
	if _, err := r.store.AcceptDrift(t.Context(), "ann", "one"); err != nil {
		t.Fatal(err)
	}
	if report, err = r.store.Drift(t.Context(), "one"); err != nil || report.Drifted {
		t.Fatalf("%+v %v", report, err)
	}
	// The same changes again: nothing is run.
	y := r.started(Plan{Stages: []Stage{{Name: "test"}, {Name: "prod"}}, Changes: []script.Change{ddl(1), two1}})
	r.tended(y.ID, StateDone)
	if got := r.in(one, `select count(*)::text from b`); got != "2" {
		t.Fatalf("rows: %s", got)
	}
	r.noLeak(one)
}

// noLeak looks for the password of an address in all that Weir keeps.
func (r *rig) noLeak(address string) {
	r.Helper()
	_, rest, _ := strings.Cut(address, "://")
	user, _, _ := strings.Cut(rest, "@")
	_, password, ok := strings.Cut(user, ":")
	if !ok || password == "" {
		r.Fatal("the test's cluster has no password")
	}
	for _, table := range []string{"events", "rollouts", "rollout_runs", "databases", "finished", "tasks", "jobs"} {
		var n int
		r.scan(&n, `select count(*) from weir.`+table+` x where strpos(x::text, $1) > 0`, password)
		if n > 0 {
			r.Errorf("%d rows of %s have the password", n, table)
		}
	}
}

// tended waits for a state, and does meanwhile what a leader does.
func (r *rig) tended(id weir.ID, state string) {
	r.Helper()
	r.until("state "+state+" of\n"+r.statuses(id), func() bool {
		r.open()
		out, err := r.store.Rollout(r.Context(), id)
		if err != nil {
			r.Fatal(err)
		}
		return out.State == state
	})
}

func TestFailureOfAStatement(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	address := r.target("one", "test")
	r.executes(2)
	x := r.started(Plan{Stages: []Stage{{Name: "test"}}, Changes: []script.Change{change("1", script.DDL, "create table a (id int);\nselect nonsense from nowhere;"), ddl(2)}})
	r.tended(x.ID, StateFailed)
	one := r.task(x.ID, "test/one/1")
	if one.Status != Failed || one.Code == "" || !strings.Contains(one.Error, "line 2") {
		t.Fatalf("%+v", one)
	}
	r.want(x.ID, "test/one/1 FAILED", "test/one/2 PENDING")
	if got := r.in(address, `select coalesce(to_regclass('a')::text, 'none')`); got != "none" {
		t.Fatalf("half of it is there: %s", got)
	}
	r.must(r.store.Abort(t.Context(), "ann", x.ID, ""))
}

// What is not as it was when the plan was made is not run.
func TestDriftBeforeARun(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		meddle func(r *rig, x Rollout)
		says   string
	}{
		"plan": {func(r *rig, x Rollout) {
			r.exec(`update weir.rollouts set plan = plan || '{"parallel": 9}' where job = $1`, x.ID)
		}, "the plan is not the one that was frozen"},
		"text":     {func(r *rig, x Rollout) { r.exec(`update weir.changes set sql = 'drop table t'`) }, "is not the one of its checksum"},
		"approval": {func(r *rig, x Rollout) { r.exec(`update weir.rollout_approvals set hash = 'x'`) }, "0 of 1 approvals"},
		"environment": {func(r *rig, x Rollout) {
			r.exec(`select weir.rollout_put_database('one', 'postgres', 'prod', 'DATABASE_ONE')`)
		}, "belongs to environment prod"},
		"address": {func(r *rig, x Rollout) {
			if err := r.vault.Put(r.Context(), "eve", "DATABASE_ONE", r.empty("other"), ""); err != nil {
				r.Fatal(err)
			}
		}, "leads to another database"},
		"identity": {func(r *rig, x Rollout) {
			if err := r.vault.Put(r.Context(), "eve", "DATABASE_ONE", r.empty("other"), ""); err != nil {
				r.Fatal(err)
			}
			if _, err := r.store.AdoptDatabase(r.Context(), "ann", "one"); err != nil {
				r.Fatal(err)
			}
		}, "is another one than the plan was made for"},
		"dropped": {func(r *rig, x Rollout) { r.exec(`delete from weir.databases`) }, "is not registered any more"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			address := r.target("one", "test")
			x := r.create(Plan{Stages: []Stage{{Name: "test", Approvals: 1}}, Changes: []script.Change{ddl(1)}})
			r.must(r.store.Approve(t.Context(), "bob", x.ID, "test", ""))
			r.must(r.store.Start(t.Context(), "ann", x.ID))
			c.meddle(r, x)
			r.executes(1)
			r.until("a failure", func() bool { return r.task(x.ID, "test/one/1").Status == Failed })
			got := r.task(x.ID, "test/one/1")
			if got.Code != CodeDrift || !strings.Contains(got.Error, c.says) {
				t.Fatalf("%+v", got)
			}
			if there := r.in(address, `select coalesce(to_regclass('weir_history')::text, to_regclass('t1')::text, 'none')`); there != "none" {
				t.Fatalf("something was done: %s", there)
			}
		})
	}
}

func TestCancelWhileItRuns(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	address := r.target("one", "test")
	r.executes(2)
	x := r.started(Plan{Stages: []Stage{{Name: "test"}}, Changes: []script.Change{change("1", script.DDL, "create table a (id int);\nselect pg_sleep(600);")}})
	id := r.task(x.ID, "test/one/1").ID
	r.until("the sleep", func() bool {
		run, err := r.store.Run(t.Context(), id, 0)
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(run.Sessions, func(s target.Session) bool { return strings.Contains(s.Query, "pg_sleep") })
	})
	if r.task(x.ID, "test/one/1").Phase != "sent" {
		t.Fatal("the phase was not written down")
	}
	r.must(r.store.Cancel(t.Context(), "bob", id, "takes too long"))
	r.until("the end", func() bool { return r.task(x.ID, "test/one/1").Status == Canceled })
	if got := r.in(address, `select coalesce(to_regclass('a')::text, 'none')`); got != "none" {
		t.Fatalf("half of it is there: %s", got)
	}
	// A server counts a session a moment longer than its client has it.
	r.until("no session is left", func() bool {
		return r.in(address, `select count(*)::text from pg_stat_activity where datname = current_database() and application_name like 'weir/%'`) == "0"
	})
	// Another run is allowed, and an abort asks it to stop as well.
	r.must(r.store.Retry(t.Context(), "bob", id))
	r.until("attempt 2", func() bool {
		return r.task(x.ID, "test/one/1").Phase == "sent" && r.task(x.ID, "test/one/1").Attempt == 2
	})
	r.must(r.store.Abort(t.Context(), "bob", x.ID, "enough"))
	r.until("the end", func() bool { return r.task(x.ID, "test/one/1").Status == Canceled })
	r.state(x.ID, StateCanceled)
}

// Asked to stop when it was too late: what is applied is DONE, not CANCELED, and it
// says so once. The run is kept between the two by a lock on what it writes last.
func TestCancelTooLate(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.target("one", "test")
	tx, err := r.db.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.Background()) }()
	if _, err := tx.Exec(t.Context(), `lock table weir.snapshots in share mode`); err != nil {
		t.Fatal(err)
	}
	x := r.started(Plan{Stages: []Stage{{Name: "test"}}, Changes: []script.Change{ddl(1)}})
	r.executes(1)
	r.until("the run is applied and waits", func() bool {
		var n int
		r.scan(&n, `select count(*) from pg_locks where database = (select oid from pg_database where datname = current_database())
			and relation = 'weir.snapshots'::regclass and not granted`)
		return n == 1
	})
	task := r.task(x.ID, "test/one/1")
	var before time.Time
	r.scan(&before, `select until from weir.running where task = $1`, task.ID)
	r.must(r.store.Cancel(t.Context(), "bob", task.ID, ""))
	r.until("its worker has heard of it", func() bool {
		var n int
		r.scan(&n, `select count(*) from weir.running where task = $1 and until = $2`, task.ID, before)
		return n == 0
	})
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.until("the end", func() bool { return r.task(x.ID, "test/one/1").FinishedAt != nil })
	r.want(x.ID, "test/one/1 DONE")
	r.state(x.ID, StateDone)
	var told string
	r.scan(&told, `select coalesce(string_agg(type, ' ' order by seq), '') from weir.events where (task = $1 or $1 = any (tasks)) and type in ('done', 'canceled', 'stale')`, task.ID)
	if told != "done" {
		t.Errorf("it said: %s", told)
	}
}

// A server that stops hands back what it provably undid, and another one runs it.
func TestServerStops(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	address := r.target("one", "test")
	stop := r.executor(2)
	x := r.started(Plan{Stages: []Stage{{Name: "test"}}, Changes: []script.Change{change("1", script.DDL,
		"create table a (id int);\ndo $$ begin if not exists (select from pg_database where datname = 'go_on') and current_setting('application_name') like '%/1' then perform pg_sleep(600); end if; end $$;")}})
	r.until("the sleep", func() bool { return r.task(x.ID, "test/one/1").Phase == "sent" })
	stop()
	got := r.task(x.ID, "test/one/1")
	if got.Status != Available {
		t.Fatalf("%+v", got)
	}
	r.executes(2)
	r.tended(x.ID, StateDone)
	if got := r.in(address, `select count(*)::text from weir_history`); got != "1" {
		t.Fatalf("%s history rows", got)
	}
	run, err := r.store.Run(t.Context(), got.ID, 1)
	if err != nil || run.Attempts[0].Code != CodeReturned || len(run.Attempts) != 2 {
		t.Fatalf("%+v %v", run.Attempts, err)
	}
}

func TestPreview(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.target("one", "test")
	r.target("two", "test")
	r.executes(2)
	first := r.started(Plan{Stages: []Stage{{Name: "test", Databases: []string{"one"}}}, Changes: []script.Change{ddl(1), ddl(3)}})
	r.tended(first.ID, StateDone)
	other := ddl(1)
	other.SQL = "create table t1 (id bigint);"
	p := Plan{Name: "next", Stages: []Stage{{Name: "test"}}, Files: []File{{"V2__add.sql", "create index on t1 (id);"}}, Changes: []script.Change{other, ddl(3), ddl(4)}}
	v, err := r.store.Preview(t.Context(), p, PreviewOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, x := range v.Stages[0].Tasks {
		code := x.Skip
		if i := strings.LastIndex(x.Problem, "("); i >= 0 {
			code = x.Problem[i:]
		}
		got = append(got, fmt.Sprintf("%s %s %s", x.Database, x.Version, strings.Fields(code + " -")[0]))
	}
	want := []string{"one 1 (checksum_changed)", "one 2 (out_of_order)", "one 3 applied", "one 4 -", "two 1 -", "two 2 -", "two 3 -", "two 4 -"}
	if !slices.Equal(got, want) || v.Problems != 2 || v.Skips != 1 {
		t.Fatalf("%q, %d problems, %d skips", got, v.Problems, v.Skips)
	}
	if w := v.Changes[1].Warnings; len(w) == 0 || len(v.Changes[1].Statements[0].Locks) == 0 {
		t.Fatalf("%+v", v.Changes[1])
	}
	off, err := r.store.Preview(t.Context(), p, PreviewOptions{Offline: true})
	if err != nil || off.Problems+off.Skips > 0 {
		t.Fatalf("%+v %v", off, err)
	}
	made := r.create(p)
	if made.Hash != v.Hash || off.Hash != v.Hash || len(made.Warnings) == 0 {
		t.Fatalf("the preview's hash is %s, the plan's %s; %v", v.Hash, made.Hash, made.Warnings)
	}
}
