package rollout

import (
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/rollout/script"
)

// An address that leads to another database is a fault, until a person says that this
// is the one from now on.
func TestAnotherDatabase(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.target("one", "test")
	r.executes(1)
	first := r.started(Plan{Stages: []Stage{{Name: "test"}}, Changes: []script.Change{ddl(1)}})
	r.tended(first.ID, StateDone)
	before, err := r.store.Database(t.Context(), "one")
	if err != nil {
		t.Fatal(err)
	}
	other := r.empty("other")
	if err := r.vault.Put(t.Context(), "eve", before.Secret, other, ""); err != nil {
		t.Fatal(err)
	}
	d, err := r.store.CheckDatabase(t.Context(), "one")
	if err != nil || d.Identity != before.Identity || d.Version != "1" {
		t.Fatalf("it was taken: %+v %v", d, err)
	}
	for _, want := range []string{"expected " + before.Identity, "found ", "weir database check one --accept"} {
		if !strings.Contains(d.Fault, want) {
			t.Errorf("the fault lacks %q: %s", want, d.Fault)
		}
	}
	// Neither a plan nor a look at the schema takes it for the right one.
	next := Plan{Name: "next", Stages: []Stage{{Name: "test"}}, Changes: []script.Change{ddl(2)}}
	v, err := r.store.Preview(t.Context(), next, PreviewOptions{})
	if err != nil || v.Problems != 1 || !strings.Contains(v.Stages[0].Tasks[0].Problem, "expected "+before.Identity) {
		t.Fatalf("%+v %v", v.Stages, err)
	}
	if _, err := r.store.Drift(t.Context(), "one"); err == nil || problem.Explain(err).Kind != problem.Conflict {
		t.Fatal(err)
	}
	// A plan that is made now is still for the one that was registered.
	x := r.started(next)
	r.until("a failure", func() bool { return r.task(x.ID, "test/one/2").Status == Failed })
	got := r.task(x.ID, "test/one/2")
	for _, want := range []string{"expected " + before.Identity, "found ", "weir database set one", "weir database check one --accept"} {
		if got.Code != CodeDrift || !strings.Contains(got.Error, want) {
			t.Errorf("the failure lacks %q: %+v", want, got)
		}
	}
	if there := r.in(other, `select coalesce(to_regclass('weir_history')::text, to_regclass('t2')::text, 'none')`); there != "none" {
		t.Fatalf("something was done: %s", there)
	}
	r.must(r.store.Abort(t.Context(), "ann", x.ID, ""))
	// Told to, it takes the other one, and what was planned for the old one is refused.
	if d, err = r.store.AdoptDatabase(t.Context(), "ann", "one"); err != nil || d.Identity == before.Identity || d.Fault != "" || d.Version != "" || d.Drifted {
		t.Fatalf("%+v %v", d, err)
	}
	var told, by string
	r.scan(&told, `select string_agg(type, ' ' order by seq) from weir.events where kind = 'database' and subject = 'one' and type in ('unreached', 'reached', 'identity_changed')`)
	r.scan(&by, `select source from weir.events where type = 'identity_changed'`)
	if told != "unreached reached identity_changed" || by != "ann" {
		t.Errorf("%s by %s", told, by)
	}
	y := r.started(Plan{Stages: []Stage{{Name: "test"}}, Changes: []script.Change{ddl(3)}})
	r.tended(y.ID, StateDone)
	r.noDrift("one")
}

// A verdict about a run comes from the database that it ran in, or from none.
func TestResolverAsksTheRightDatabase(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	address := r.target("one", "test")
	x := r.started(Plan{Stages: []Stage{{Name: "test"}}, Changes: []script.Change{ddl(1)}})
	l := r.claim("test/one/1")
	r.apply(l)
	r.lose(l, "applied")
	if err := r.vault.Put(t.Context(), "eve", "DATABASE_ONE", r.empty("other"), ""); err != nil {
		t.Fatal(err)
	}
	r.resolves()
	r.want(x.ID, "test/one/1 UNKNOWN")
	if d, err := r.store.Database(t.Context(), "one"); err != nil || !strings.Contains(d.Fault, "leads to another database") {
		t.Fatalf("%+v %v", d, err)
	}
	r.refused(r.store.Resolve(t.Context(), "bob", l.task, true, "I saw it"))
	if err := r.vault.Put(t.Context(), "eve", "DATABASE_ONE", address, ""); err != nil {
		t.Fatal(err)
	}
	r.exec(`update weir.rollout_runs set look_at = clock_timestamp()`)
	r.resolves()
	r.want(x.ID, "test/one/1 AVAILABLE")
	if d, err := r.store.Database(t.Context(), "one"); err != nil || d.Fault != "" {
		t.Fatalf("%+v %v", d, err)
	}
}

// A database that does not answer a run or the resolver is shown as such, until it
// does.
func TestFaultFollowsRuns(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	address := r.target("one", "test")
	stop := r.executor(1)
	gone := strings.Replace(address, "weir_target_", "weir_gone_", 1)
	if err := r.vault.Put(t.Context(), "eve", "DATABASE_ONE", gone, ""); err != nil {
		t.Fatal(err)
	}
	fault := func() string {
		d, err := r.store.Database(t.Context(), "one")
		if err != nil {
			t.Fatal(err)
		}
		return d.Fault
	}
	x := r.started(Plan{Stages: []Stage{{Name: "test"}}, Changes: []script.Change{ddl(1)}})
	r.until("a failure", func() bool { return r.task(x.ID, "test/one/1").Status == Failed })
	if fault() == "" {
		t.Fatal("the run did not say that it found nobody")
	}
	if err := r.vault.Put(t.Context(), "eve", "DATABASE_ONE", address, ""); err != nil {
		t.Fatal(err)
	}
	r.must(r.store.Retry(t.Context(), "bob", r.task(x.ID, "test/one/1").ID))
	r.tended(x.ID, StateDone)
	if got := fault(); got != "" {
		t.Fatalf("it was reached: %s", got)
	}
	stop()
	y := r.started(Plan{Stages: []Stage{{Name: "test"}}, Changes: []script.Change{ddl(2)}})
	l := r.claim("test/one/2")
	r.lose(l, "sent")
	if err := r.vault.Put(t.Context(), "eve", "DATABASE_ONE", gone, ""); err != nil {
		t.Fatal(err)
	}
	r.resolves()
	if fault() == "" {
		t.Fatal("the resolver did not say that it found nobody")
	}
	if err := r.vault.Put(t.Context(), "eve", "DATABASE_ONE", address, ""); err != nil {
		t.Fatal(err)
	}
	r.exec(`update weir.rollout_runs set look_at = clock_timestamp() where unknown`)
	r.resolves()
	r.want(y.ID, "test/one/2 FAILED")
	if got := fault(); got != "" {
		t.Fatalf("it was reached: %s", got)
	}
}
