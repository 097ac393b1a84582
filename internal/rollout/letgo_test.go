package rollout

import (
	"strings"
	"testing"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/problem"
)

func over(environment string, versions ...int) Plan {
	p := Plan{Stages: []Stage{{Name: environment}}}
	for _, v := range versions {
		p.Changes = append(p.Changes, ddl(v))
	}
	return p
}

// What stands in the way of a higher version, and goes when its rollout is given up.
func TestAbortLetsGo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		versions []int
		meet     func(r *rig, x Rollout)
	}{
		"failed, and ended":         {[]int{1}, func(r *rig, _ Rollout) { r.fail(r.claim("test/a/1"), "sql") }},
		"failed, with more to come": {[]int{1, 5}, func(r *rig, _ Rollout) { r.fail(r.claim("test/a/1"), "sql") }},
		"canceled, and ended":       {[]int{1}, func(r *rig, x Rollout) { r.must(r.store.Cancel(r.Context(), "ann", r.task(x.ID, "test/a/1").ID, "")) }},
		"waiting":                   {[]int{1, 5}, func(*rig, Rollout) {}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.register("test", "a")
			old := r.started(over("test", c.versions...))
			c.meet(r, old)
			next := r.started(over("test", 2))
			r.open()
			r.want(next.ID, "test/a/2 PENDING")
			r.must(r.store.Abort(t.Context(), "ann", old.ID, "given up"))
			r.open()
			r.want(next.ID, "test/a/2 AVAILABLE")
			if a, err := r.store.Abort(t.Context(), "ann", old.ID, ""); err != nil || a.Changed {
				t.Errorf("a second time: %+v, %v", a, err)
			}
			r.done(r.claim("test/a/2"))
		})
	}
}

// Nobody knows whether it was applied: giving the rollout up does not change that.
func TestAbortKeepsTheUnknown(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.register("test", "a")
	old := r.started(over("test", 1))
	r.lose(r.claim("test/a/1"), "sent")
	next := r.started(over("test", 2))
	r.must(r.store.Abort(t.Context(), "ann", old.ID, ""))
	r.open()
	r.want(next.ID, "test/a/2 PENDING")
	r.must(r.store.Resolve(t.Context(), "ann", r.task(old.ID, "test/a/1").ID, false, "it is not there"))
	r.open()
	r.want(next.ID, "test/a/2 AVAILABLE")
	r.done(r.claim("test/a/2"))
}

// A version that another rollout has applied keeps nobody waiting, whoever failed
// with it before.
func TestAppliedElsewhere(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(r *rig, x Rollout){
		"failed":   func(r *rig, x Rollout) { r.fail(r.claim("test/a/1"), "sql") },
		"canceled": func(r *rig, x Rollout) { r.must(r.store.Cancel(r.Context(), "ann", r.task(x.ID, "test/a/1").ID, "")) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.register("test", "a")
			end(r, r.started(over("test", 1)))
			next := r.started(over("test", 1, 2))
			r.open()
			r.want(next.ID, "test/a/1 AVAILABLE", "test/a/2 PENDING")
			r.done(r.claim("test/a/1"))
			r.open()
			r.want(next.ID, "test/a/1 DONE", "test/a/2 AVAILABLE")
			r.done(r.claim("test/a/2"))
		})
	}
}

// A rollout that was only created keeps nobody waiting; from its start on it does.
func TestNotStartedKeepsNobodyWaiting(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.register("test", "a")
	first := r.create(over("test", 1))
	second := r.started(over("test", 2))
	r.open()
	r.want(second.ID, "test/a/2 AVAILABLE")
	third := r.create(over("test", 3))
	r.must(r.store.Start(t.Context(), "ann", first.ID))
	r.must(r.store.Start(t.Context(), "ann", third.ID))
	r.done(r.claim("test/a/2"))
	r.open()
	r.want(first.ID, "test/a/1 AVAILABLE")
	r.want(third.ID, "test/a/3 PENDING")
	r.done(r.claim("test/a/1"))
	r.open()
	r.done(r.claim("test/a/3"))
}

// The engine's own commands know nothing of approvals, order and what may have been
// applied: they are refused and lead to those of the rollout.
func TestCommandsOfTheEngineAreRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.register("test", "a", "b")
	x := r.started(over("test", 1))
	held := r.create(over("test", 2))
	r.open()
	r.fail(r.claim("test/b/1"), "sql")
	task := func(id weir.ID, key string) weir.ID { return r.task(id, key).ID }
	for name, c := range map[string]struct {
		sql string
		id  weir.ID
	}{
		"release": {`select weir.release($1)`, task(held.ID, "test/a/2")},
		"hold":    {`select weir.hold($1, 'eve')`, task(x.ID, "test/a/1")},
		"cancel":  {`select weir.cancel($1)`, task(x.ID, "test/a/1")},
		"skip":    {`select weir.skip($1, 'so')`, task(x.ID, "test/a/1")},
		"retry":   {`select weir.retry($1)`, task(x.ID, "test/b/1")},
		"job":     {`select weir.cancel_job($1)`, x.ID},
		"again":   {`select weir.retry_job($1)`, x.ID},
	} {
		_, err := r.db.Pool.Exec(t.Context(), c.sql, c.id)
		p := problem.Explain(err)
		if err == nil || p.Kind != problem.Conflict || !strings.Contains(p.What, "belongs to rollout") || !strings.Contains(p.Command, "weir rollout") {
			t.Errorf("%s: %+v", name, p)
		}
	}
	r.want(x.ID, "test/a/1 RUNNING", "test/b/1 FAILED")
	r.must(r.store.Abort(t.Context(), "ann", x.ID, ""))
}
