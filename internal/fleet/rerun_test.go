package fleet

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
)

// A job is run again where it was not done, where it failed, or completely. The same key
// makes one job of two calls, and the answer says so.
func TestRerun(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("d", 4)...)
	id := r.submit("nightly", func(s *Spec) { s.Attempts, s.Priority = 1, 7 })
	rerun := func(which, key string) (Job, error) {
		local := op.Local{Stores: []any{r.store}, Who: func(context.Context) auth.Subject { return auth.System("ann") }}
		return Rerun.Call(t.Context(), local, &Repeating{Named: Named{Job: id.String()}, Keyed: op.Keyed{IdempotencyKey: key}, Body: &RerunBody{Which: which}})
	}
	_, err := rerun("", "")
	r.refused(problem.Conflict, err)
	list := r.claim("PC-01", 3)
	r.done(list[0])
	r.fail(list[1])
	r.done(list[2])
	r.exec(`select weir.fleet_cancel($1, at => $2)`, id, r.now)
	r.units(id, "1 failed 1 canceled 2 done")
	again := func(which string) string {
		t.Helper()
		spec, err := r.store.Again(t.Context(), id, which)
		if err != nil {
			t.Fatal(err)
		}
		if spec.Name != "nightly" || spec.Attempts != 1 || spec.Priority != 7 {
			t.Errorf("another job: %+v", spec)
		}
		if spec.Target.All {
			return "all"
		}
		return strings.Join(spec.Target.Devices, " ")
	}
	r.want("what was not done", again(""), "d02 d04")
	r.want("what failed", again(RerunFailed), "d02")
	r.want("all", again(RerunAll), "all")
	_, err = r.store.Again(t.Context(), id, RerunMissed)
	if p := r.refused(problem.Conflict, err); !strings.Contains(p.What, "no run that is missed") {
		t.Error(p)
	}
	_, err = r.store.Again(t.Context(), id, "half")
	r.want("field", r.refused(problem.Invalid, err).Field, "which")

	first, err := rerun(RerunFailed, "once")
	if err != nil || first.Existed || first.By != "ann" || first.Counts.Total != 1 {
		t.Fatalf("%+v %v", first, err)
	}
	second, err := rerun(RerunFailed, "once")
	if err != nil || !second.Existed || second.ID != first.ID {
		t.Errorf("%+v %v", second, err)
	}
}

// A job that any device could serve asks again for as many runs as were not done.
func TestRerunOfAny(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("d", 3)...)
	id := r.submit("some", func(s *Spec) { s.Any, s.Repeat, s.Attempts = 2, 2, 1 })
	list := r.claim("PC-01", 3)
	r.done(list[0], list[1])
	r.fail(list[2])
	r.exec(`select weir.fleet_cancel($1, at => $2)`, id, r.now)
	spec, err := r.store.Again(t.Context(), id, RerunRest)
	if err != nil || spec.Any != 2 || spec.Repeat != 0 || !spec.Target.All {
		t.Errorf("%+v %v", spec, err)
	}
}

// The figures are those of the views, with known words.
func TestFigures(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("d", 4)...)
	r.report("PC-02", named("e", 1)...)
	r.exec(`select weir.device_maintain('d01', 'ann', 'battery', at => $1)`, r.now)
	r.submit("first", nil)
	r.submit("second", nil)
	r.claim("PC-01", 2)
	r.report("PC-02")
	r.exec(`update weir.nodes set seen_at = clock_timestamp() - interval '1 hour' where name = 'PC-02'`)
	f, err := r.store.Figures(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r.want("in maintenance", f.ByHealth[HealthMaintenance][PresenceOnline], 1)
	r.want("online", f.ByHealth[HealthUnknown][PresenceOnline], 3)
	r.want("missing", f.ByHealth[HealthUnknown][PresenceMissing], 1)
	r.want("at work", f.Running, 2)
	r.want("active", f.Jobs[JobActive], 1)
	r.want("waiting", f.Jobs[JobWaiting], 1)
	r.want("units", f.Units.Running+f.Units.Waiting, 5)
	if time.Since(f.Since) > time.Hour || f.Since.IsZero() {
		t.Error(f.Since)
	}
	for _, state := range []string{PCActive, PCPaused, PCDraining, PCDead} {
		r.want(state, f.ByState[state], r.count(`select count(*) from weir.pc where state = $1`, state))
	}
	r.want("dead", f.ByState[PCDead], 1)
}
