package rollout

import (
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/mariatest"
	"github.com/weirhq/weir/internal/rollout/script"
)

// drift looks, and says what the database is marked with afterwards.
func (r *rig) drift(name string) (DriftReport, bool) {
	r.Helper()
	report, err := r.store.Drift(r.Context(), name)
	if err != nil {
		r.Fatal(err)
	}
	d, err := r.store.Database(r.Context(), name)
	if err != nil {
		r.Fatal(err)
	}
	return report, d.Drifted
}

// noDrift is for a database that only Weir has changed.
func (r *rig) noDrift(name string) {
	r.Helper()
	if report, marked := r.drift(name); report.Drifted || marked || report.Base == nil {
		r.Fatalf("marked %t, %+v", marked, report)
	}
}

// halves is a change of two steps whose second one fails as long as there is no base.
func halves(version string) script.Change {
	c := change(version, script.DDL, "create table half"+version+" (id int);\ncreate index concurrently on base"+version+" (id);\n")
	c.Transaction = false
	return c
}

// What Weir itself did is never drift, however its run ended.
func TestPartOfARunIsNoDrift(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	address := r.target("one", "test")
	r.executes(1)
	first := r.started(Plan{Stages: []Stage{{Name: "test"}}, Changes: []script.Change{ddl(1)}})
	r.tended(first.ID, StateDone)
	x := r.started(Plan{Stages: []Stage{{Name: "test"}}, Changes: []script.Change{halves("2"), ddl(3)}})
	r.tended(x.ID, StateFailed)
	two := r.task(x.ID, "test/one/2")
	const stays = "1 of 2 steps is applied and stays; a retry goes on behind it"
	if two.Status != Failed || !strings.Contains(strings.ToLower(two.Error), stays) {
		t.Fatalf("%+v", two)
	}
	if got := r.in(address, `select coalesce(to_regclass('half2')::text, 'none')`); got != "half2" {
		t.Fatalf("the first step is not there: %s", got)
	}
	r.noDrift("one")
	// What a person does to mend it is drift, and what the retry does is not.
	r.in(address, `create table base2 (id int)`)
	r.must(r.store.Retry(t.Context(), "bob", two.ID))
	r.tended(x.ID, StateDone)
	report, marked := r.drift("one")
	if !report.Drifted || !marked || report.Note != "" || !strings.Contains(report.Diff, "+table public.base2") {
		t.Fatalf("marked %t, %+v", marked, report)
	}
	for _, ours := range []string{"+table public.t3", "+CREATE INDEX", "+table public.half2"} {
		if strings.Contains(report.Diff, ours) {
			t.Errorf("%s is Weir's own:\n%s", ours, report.Diff)
		}
	}
}

// The same where no run said how it ended: whoever finds out keeps the schema.
func TestResolvedRunIsNoDrift(t *testing.T) {
	t.Parallel()
	for _, by := range []string{"resolver", "a person"} {
		t.Run(by, func(t *testing.T) {
			r := newRig(t)
			address := r.target("one", "test")
			stop := r.executor(1)
			first := r.started(Plan{Stages: []Stage{{Name: "test"}}, Changes: []script.Change{ddl(1)}})
			r.tended(first.ID, StateDone)
			stop()
			x := r.started(Plan{Stages: []Stage{{Name: "test"}}, Changes: []script.Change{ddl(2)}})
			l := r.claim("test/one/2")
			if by == "resolver" {
				r.apply(l)
			} else {
				r.in(address, `create table t2 (id int)`)
			}
			r.lose(l, "sent")
			if report, marked := r.drift("one"); !report.Drifted || marked || report.Note == "" {
				t.Fatalf("nobody knows yet whose it is: marked %t, %+v", marked, report)
			}
			if by == "resolver" {
				r.resolves()
			} else {
				r.must(r.store.Resolve(t.Context(), "bob", l.task, true, "the table is there"))
			}
			r.executes(1)
			r.tended(x.ID, StateDone)
			r.noDrift("one")
		})
	}
}

// A drift that was there before does not hide behind what a lost run changed: the
// report says that both are in it.
func TestDriftWithALostRun(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	address := r.target("one", "test")
	stop := r.executor(1)
	first := r.started(Plan{Stages: []Stage{{Name: "test"}}, Changes: []script.Change{ddl(1)}})
	r.tended(first.ID, StateDone)
	stop()
	r.in(address, `create table by_hand (id int)`)
	if _, marked := r.drift("one"); !marked {
		t.Fatal("it is not marked")
	}
	x := r.started(Plan{Stages: []Stage{{Name: "test"}}, Changes: []script.Change{ddl(2)}})
	l := r.claim("test/one/2")
	r.apply(l)
	r.lose(l, "applied")
	r.resolves()
	r.executes(1)
	r.tended(x.ID, StateDone)
	report, marked := r.drift("one")
	if !report.Drifted || !marked || !strings.Contains(report.Note, x.ID.String()) {
		t.Fatalf("marked %t, %+v", marked, report)
	}
	if _, err := r.store.AcceptDrift(t.Context(), "ann", "one"); err != nil {
		t.Fatal(err)
	}
	r.noDrift("one")
	var told string
	r.scan(&told, `select string_agg(type, ' ' order by seq) from weir.events where kind = 'database' and subject = 'one' and type in ('drifted', 'accepted', 'undrifted')`)
	if told != "drifted accepted" {
		t.Errorf("it said: %s", told)
	}
}

// A drift that is undone is none.
func TestDriftUndone(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	address := r.target("one", "test")
	r.executes(1)
	x := r.started(Plan{Stages: []Stage{{Name: "test"}}, Changes: []script.Change{ddl(1)}})
	r.tended(x.ID, StateDone)
	r.in(address, `create table by_hand (id int)`)
	if _, marked := r.drift("one"); !marked {
		t.Fatal("it is not marked")
	}
	y := r.started(Plan{Stages: []Stage{{Name: "test"}}, Changes: []script.Change{ddl(2), change("3", script.DDL, "alter table t1 add column more text;")}})
	r.tended(y.ID, StateDone)
	if report, marked := r.drift("one"); !marked || strings.Contains(report.Diff, "+table public.t2") || strings.Contains(report.Diff, "+  column more") || !strings.Contains(report.Diff, "+table public.by_hand") {
		t.Fatalf("marked %t, %+v", marked, report)
	}
	r.in(address, `drop table by_hand`)
	r.noDrift("one")
}

// MariaDB commits each DDL by itself: a change that breaks half way leaves a part.
func TestPartOfARunOnMariaDB(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	db := mariatest.New(t)
	if d, err := r.store.PutDatabase(t.Context(), "ann", Database{Name: "shop", Engine: "mysql", Environment: "test"}, db.DSN); err != nil || d.Fault != "" {
		t.Fatalf("%+v %v", d, err)
	}
	r.executes(1)
	x := r.started(Plan{Stages: []Stage{{Name: "test"}}, Changes: []script.Change{
		change("1", script.DDL, "create table a (id int);\n"), change("2", script.DDL, "create table b (id int);\ncreate table c (id int);\ncreate table a (id int);\n"),
	}})
	r.tended(x.ID, StateFailed)
	two := r.task(x.ID, "test/shop/2")
	if !strings.Contains(two.Error, "2 of 3 steps are applied and stay; a retry goes on behind them") {
		t.Fatalf("%+v", two)
	}
	r.noDrift("shop")
	a, err := r.store.Skip(t.Context(), "bob", two.ID, "a is there")
	r.must(a, err)
	if !strings.Contains(a.Text, "2 of 3 steps are applied and stay") {
		t.Errorf("skipped: %s", a.Text)
	}
	var told string
	r.scan(&told, `select message from weir.events where task = $1 and type = 'partial' order by seq desc limit 1`, two.ID)
	if !strings.Contains(told, "skipped, and a part of it stays: 2 of 3 steps") {
		t.Errorf("the timeline says: %s", told)
	}
	r.noDrift("shop")
}
