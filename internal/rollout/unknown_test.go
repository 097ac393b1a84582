package rollout

import (
	"context"
	"testing"

	"github.com/weirhq/weir/internal/rollout/script"
)

// Runs whose executor was lost: what the resolver can prove it settles by itself.
func TestUnknown(t *testing.T) {
	t.Parallel()
	t.Run("applied", func(t *testing.T) {
		r := newRig(t)
		address := r.target("one", "test")
		x := r.started(Plan{Stages: []Stage{{Name: "test"}}, Changes: []script.Change{ddl(1), ddl(2)}})
		l := r.claim("test/one/1")
		r.apply(l)
		r.lose(l, "applied")
		r.want(x.ID, "test/one/1 UNKNOWN", "test/one/2 PENDING")
		r.state(x.ID, StateFailed)
		r.resolves()
		r.want(x.ID, "test/one/1 AVAILABLE", "test/one/2 PENDING")
		r.executes(1)
		r.tended(x.ID, StateDone)
		if got := r.in(address, `select count(*)::text from weir_history`); got != "2" {
			t.Fatalf("%s history rows", got)
		}
		var replayed bool
		r.scan(&replayed, `select (result ->> 'replayed')::boolean from weir.finished where task = $1`, l.task)
		if !replayed {
			t.Fatal("it ran again")
		}
	})
	t.Run("applied, in a rollout that was aborted meanwhile", func(t *testing.T) {
		r := newRig(t)
		r.target("one", "test")
		x := r.started(Plan{Stages: []Stage{{Name: "test"}}, Changes: []script.Change{ddl(1), ddl(2)}})
		l := r.claim("test/one/1")
		r.apply(l)
		r.must(r.store.Abort(t.Context(), "bob", x.ID, "no more"))
		r.lose(l, "applied")
		r.want(x.ID, "test/one/1 UNKNOWN", "test/one/2 CANCELED")
		y := r.started(Plan{Stages: []Stage{{Name: "test"}}, Changes: []script.Change{ddl(3)}})
		r.want(y.ID, "test/one/3 PENDING")
		r.resolves()
		r.executes(1)
		r.tended(y.ID, StateDone)
		r.want(x.ID, "test/one/1 DONE", "test/one/2 CANCELED")
		r.state(x.ID, StateCanceled)
	})
	t.Run("not applied", func(t *testing.T) {
		r := newRig(t)
		r.target("one", "test")
		x := r.started(Plan{Stages: []Stage{{Name: "test"}}, Changes: []script.Change{ddl(1)}})
		l := r.claim("test/one/1")
		r.lose(l, "sent")
		r.want(x.ID, "test/one/1 UNKNOWN")
		r.resolves()
		r.want(x.ID, "test/one/1 FAILED")
		if got := r.task(x.ID, "test/one/1"); got.Code != "not_applied" {
			t.Fatalf("%+v", got)
		}
		r.must(r.store.Retry(t.Context(), "bob", l.task))
		r.executes(1)
		r.tended(x.ID, StateDone)
	})
}

// apply does what an executor does, up to the loss of its report.
func (r *rig) apply(l lease) {
	r.Helper()
	e := &executor{Store: r.store, log: r.store.log}
	o := r.brief(l)
	if _, err := e.apply(r.Context(), l, &o); err != nil {
		r.Fatal(err)
	}
}

func TestUnknownWithoutProof(t *testing.T) {
	t.Parallel()
	t.Run("before anything was sent", func(t *testing.T) {
		r := newRig(t)
		r.register("test", "a")
		x := r.started(Plan{Stages: []Stage{{Name: "test"}}, Changes: []script.Change{ddl(1)}})
		r.lose(r.claim("test/a/1"), "locked")
		if got := r.task(x.ID, "test/a/1"); got.Status != Failed || got.Code != "lost_before_sent" {
			t.Fatalf("%+v", got)
		}
	})
	t.Run("before the executor knew what to do", func(t *testing.T) {
		r := newRig(t)
		r.register("test", "a")
		x := r.started(Plan{Stages: []Stage{{Name: "test"}}, Changes: []script.Change{ddl(1)}})
		l := r.claim("test/a/1")
		r.expire(l)
		if got := r.task(x.ID, "test/a/1"); got.Status != Failed || got.Code != "lost_before_sent" {
			t.Fatalf("%+v", got)
		}
		r.must(r.store.Retry(t.Context(), "bob", l.task))
		r.want(x.ID, "test/a/1 AVAILABLE")
	})
	t.Run("nobody can tell", func(t *testing.T) {
		r := newRig(t)
		r.register("test", "a") // a database that nobody reaches
		x := r.started(Plan{Stages: []Stage{{Name: "test"}}, Changes: []script.Change{ddl(1)}})
		l := r.claim("test/a/1")
		r.lose(l, "sent")
		r.resolves()
		r.want(x.ID, "test/a/1 UNKNOWN")
		var later bool
		r.scan(&later, `select look_at > clock_timestamp() and looks = 1 from weir.rollout_runs where task = $1`, l.task)
		if !later {
			t.Fatal("the resolver does not wait before it asks again")
		}
		r.refused(r.store.Resolve(t.Context(), "bob", l.task, false, ""))
		r.must(r.store.Resolve(t.Context(), "bob", l.task, false, "the server burnt down before"))
		r.want(x.ID, "test/a/1 FAILED")
	})
	t.Run("a person knows that it was applied", func(t *testing.T) {
		r := newRig(t)
		address := r.target("one", "test")
		x := r.started(Plan{Stages: []Stage{{Name: "test"}}, Changes: []script.Change{ddl(1)}})
		l := r.claim("test/one/1")
		r.in(address, `create table t1 (id int)`)
		r.lose(l, "sent")
		r.must(r.store.Resolve(t.Context(), "bob", l.task, true, "the table is there"))
		r.executes(1)
		r.tended(x.ID, StateDone)
		if got := r.in(address, `select count(*)::text from weir_history`); got != "1" {
			t.Fatalf("%s history rows", got)
		}
	})
	t.Run("handed back without a word", func(t *testing.T) {
		r := newRig(t)
		r.register("test", "a")
		x := r.started(Plan{Stages: []Stage{{Name: "test"}}, Changes: []script.Change{ddl(1)}})
		l := r.claim("test/a/1")
		r.brief(l)
		if _, err := r.store.phase(t.Context(), l, "sent"); err != nil {
			t.Fatal(err)
		}
		r.exec(`select weir.stop_worker('hand')`)
		r.executes(1)
		r.until("a verdict", func() bool { return r.task(x.ID, "test/a/1").Status == Unknown })
		if got := r.task(x.ID, "test/a/1"); got.Code != CodeUnresolved || got.Attempt != 2 {
			t.Fatalf("%+v", got)
		}
	})
}

// resolves lets the leader look once.
func (r *rig) resolves() {
	r.Helper()
	if r.leader == nil {
		r.leader = r.leads()
	}
	if _, err := r.leader.resolve(context.Background()); err != nil {
		r.Fatal(err)
	}
}
