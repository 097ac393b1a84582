package fleet

import (
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/problem"
)

func TestInfraBudget(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.strict()
	r.report("PC-01", named("d", 1)...)
	id := r.submit("infra", nil)
	l := r.claim("PC-01", 1)[0]
	for range 2 {
		r.infra(l)
		r.units(id, "1 retrying")
		r.wait(5 * time.Minute)
		l = r.claim("PC-01", 1)[0]
	}
	// The budget of the test is untouched: it survives two failures.
	for range 2 {
		r.fail(l)
		r.units(id, "1 retrying")
		r.wait(5 * time.Minute)
		l = r.claim("PC-01", 1)[0]
	}
	r.want("attempt", l.Attempt, 5)
	r.infra(l)
	r.units(id, "1 failed")
	r.health("d01", HealthQuarantined)
	var cause string
	if r.scan(&cause, `select cause from weir.fleet_units where job = $1`, id); !strings.HasPrefix(cause, "the infrastructure broke it 3 times") {
		t.Error(cause)
	}
}

func TestPlacement(t *testing.T) {
	t.Parallel()
	for place, want := range map[string]string{PlaceSame: "a01", PlaceOtherDevice: "a02", PlaceOtherPC: "b01"} {
		t.Run(place, func(t *testing.T) {
			r := newRig(t)
			r.report("PC-01", named("a", 2)...)
			r.report("PC-02", named("b", 1)...)
			id := r.submit("place", func(s *Spec) {
				s.Target = Target{All: true}
				s.Any = 1
				s.Infra = &Infra{Place: place}
			})
			l := r.claim("PC-01", 1)[0]
			r.want("first", l.Serial, "a01")
			r.infra(l)
			r.wait(time.Minute)
			got := append(r.claim("PC-01", 1), r.claim("PC-02", 1)...) // as many as there is room for
			r.want("then", serials(got), want)
			r.want("the same task", got[0].Task, l.Task)
			r.done(got...)
			r.job(id, JobDone)
			r.want("nobody is out", r.count(`select count(*) from weir.devices where health = 'quarantined'`), 0)
		})
	}
}

func TestAny(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("a", 3)...)
	r.report("PC-02", named("b", 3)...)
	id := r.submit("any", func(s *Spec) { s.Any = 8 })
	list := append(r.claim("PC-01", 100), r.claim("PC-02", 100)...)
	r.want("one each", serials(list), "a01 a02 a03 b01 b02 b03")
	r.done(list...)
	r.want("two are left", len(append(r.claim("PC-01", 100), r.claim("PC-02", 100)...)), 2)
	r.units(id, "2 running 6 done")
}

func TestRepeat(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("a", 2)...)
	id := r.submit("rounds", func(s *Spec) { s.Repeat = 3 })
	r.want("total", r.job(id, JobActive).Counts.Total, 6)
	for _, key := range []string{"a01 a02", "a01#2 a02#2", "a01#3 a02#3"} {
		list := r.claim("PC-01", 100)
		r.want("keys", list[0].Key+" "+list[1].Key, key)
		r.done(list...)
	}
	r.job(id, JobDone)
}

func TestTargets(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", node.Device{Serial: "a", Labels: map[string]string{"model": "x", "tag": "night"}}, node.Device{Serial: "b", Labels: map[string]string{"model": "x"}}, node.Device{Serial: "c"})
	for want, target := range map[string]Target{
		"a b c": {All: true},
		"a b":   {Labels: map[string]string{"model": "x"}},
		"a":     {Tag: "night"},
		"b c":   {Devices: []string{"c", "b"}},
		"b":     {Devices: []string{"c", "b"}, Labels: map[string]string{"model": "x"}},
	} {
		id := r.submit(want, func(s *Spec) { s.Target = target })
		list := r.claim("PC-01", 100)
		r.want("devices", serials(list), want)
		r.done(list...)
		r.job(id, JobDone)
	}
	_, err := r.store.Submit(t.Context(), "ann", r.spec(func(s *Spec) { s.Target = Target{Devices: []string{"nobody"}} }), "")
	if p := r.refused(invalid, err); !strings.Contains(p.What, "nobody") || p.Next == "" {
		t.Errorf("%+v", p)
	}
	// If nothing is in the target, the job fails with that cause and keeps no other job
	// waiting.
	empty := r.submit("empty", func(s *Spec) { s.Target = Target{Tag: "none"} })
	if j := r.job(empty, JobFailed); j.Cause != "no device is in its target: tag=none keeps 3 of 3 out" {
		t.Errorf("%+v", j)
	}
}

func TestJoin(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("a", 1)...)
	pending := r.submit("pending", nil)
	running := r.submit("running", func(s *Spec) { s.Join = JoinRunning })
	list := r.claim("PC-01", 10)
	r.report("PC-01", named("a", 2)...)
	r.units(pending, "1 running")
	r.want("who comes late waits", len(r.claim("PC-01", 10)), 0)
	r.done(list...)
	r.units(running, "2 waiting")
	r.report("PC-01", named("a", 3)...)
	r.units(running, "3 waiting")
	r.want("total", r.job(running, JobActive).Counts.Total, 3)
	r.done(r.claim("PC-01", 10)...)
	r.job(running, JobDone)
}

func TestOverlap(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("a", 2)...)
	a := r.submit("a", nil)
	b := r.submit("b", nil)
	list := r.claim("PC-01", 10)
	r.done(list[0])
	r.want("off by default", len(r.claim("PC-01", 10)), 0)
	r.policy(PolicyChange{Overlap: ptr(true)})
	next := r.claim("PC-01", 10)
	r.want("the idle device", serials(next), list[0].Serial)
	r.want("its job", *next[0].Job, b)
	r.job(a, JobActive)
	r.job(b, JobWaiting)
	r.done(next...)
	r.done(list[1])
	r.job(a, JobDone)
	r.job(b, JobActive)
	r.done(r.claim("PC-01", 10)...)
	r.job(b, JobDone)
}

func TestCancel(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("a", 25)...)
	a := r.submit("a", nil)
	b := r.submit("b", nil)
	c := r.submit("c", nil)
	list := r.claim("PC-01", 100)
	r.fail(list[0])
	r.done(list[1])
	answer, err := r.store.Cancel(t.Context(), "ann", b, "not needed")
	if err != nil || answer.Requested != 0 {
		t.Fatal(answer, err)
	}
	r.job(b, JobCanceled)
	answer, err = r.store.Cancel(t.Context(), "ann", a, "enough")
	if err != nil || answer.Canceled != 6 || answer.Requested != 18 {
		t.Fatal(answer, err)
	}
	r.units(a, "18 running 6 canceled 1 done")
	r.job(a, JobCanceling)
	for _, l := range list[2:] {
		r.answer("ok", `select weir.confirm_cancel($1, $2, $3, at => $4)`, l.Task, l.Attempt, l.Token, r.now)
	}
	r.job(a, JobCanceled)
	r.job(c, JobActive)
	// The engine's own command does the same.
	if _, err := r.db.Pool.Exec(t.Context(), `select weir.cancel_job($1)`, c); err != nil {
		t.Fatal(err)
	}
	r.job(c, JobCanceled)
	r.units(c, "25 canceled")
	_, err = r.store.Cancel(t.Context(), "ann", a, "again")
	if err != nil {
		t.Fatal(err)
	}
	_, err = r.store.Cancel(t.Context(), "ann", weir.ID{9}, "")
	r.refused(problem.NotFound, err)
	r.want("nobody is out", r.count(`select count(*) from weir.devices where health = 'quarantined'`), 0)
}

// A person cancels or skips a task while it waits for another attempt.
func TestTaskCommands(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("a", 3)...)
	id := r.submit("a", nil)
	list := r.claim("PC-01", 100)
	r.fail(list...)
	r.exec(`select weir.cancel($1, 'ann', at => $2)`, list[0].Task, r.now)
	r.exec(`select weir.skip($1, 'not this one', 'ann', at => $2)`, list[1].Task, r.now)
	r.units(id, "1 retrying 1 missed 1 canceled")
	_, err := r.db.Pool.Exec(t.Context(), `select weir.retry($1)`, list[0].Task)
	r.refused(problem.Conflict, err)
	r.wait(time.Minute)
	r.done(r.claim("PC-01", 10)...)
	r.job(id, JobCanceled)
}

func TestSubmitAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("a", 1)...)
	one, err := r.store.Submit(t.Context(), "ann", r.spec(nil), "key")
	if err != nil {
		t.Fatal(err)
	}
	two, err := r.store.Submit(t.Context(), "ann", r.spec(nil), "key")
	if err != nil || two.ID != one.ID {
		t.Fatal(two, err)
	}
	if one.Spec == nil || one.Spec.Name != "job" || one.By != "ann" || one.Spec.Run.Argv[0] != "true" {
		t.Errorf("%+v", one)
	}
	list, err := r.store.Jobs(t.Context(), JobFilter{State: JobActive, Search: "JO"}, page(10))
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	active, err := r.store.Active(t.Context())
	if err != nil || len(active) != 1 || active[0].ID != one.ID {
		t.Fatal(active, err)
	}
}

func TestReads(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("a", 25)...)
	id := r.submit("reads", nil)
	list := r.claim("PC-01", 100)
	slots, err := r.store.Slots(t.Context(), "PC-01")
	if err != nil || len(slots) != 20 || slots[0].JobName != "reads" {
		t.Fatal(slots, err)
	}
	units, err := r.store.Units(t.Context(), id, UnitFilter{State: UnitRunning, PC: "PC-01"}, page(5))
	if err != nil || len(units) != 5 || units[0].Attempt != 1 || units[0].Deadline == nil {
		t.Fatal(units, err)
	}
	units, err = r.store.DeviceUnits(t.Context(), list[0].Serial, 5)
	if err != nil || len(units) != 1 || units[0].Task != list[0].Task {
		t.Fatal(units, err)
	}
	w, err := r.store.Why(t.Context(), id, 0)
	if err != nil || w.Summary != "active: 20 running, 5 waiting" || len(w.Devices) != 5 || w.Devices[0].Why != "PC-01: all 20 slots are taken" {
		t.Fatal(w, err)
	}
	devices, err := r.store.Devices(t.Context(), DeviceFilter{PC: "PC-01", Search: "A1", Online: "true"}, page(3))
	if err != nil || len(devices) != 3 || devices[0].Serial != "a10" || devices[0].Job != id {
		t.Fatal(devices, err)
	}
	p, err := r.store.Policy(t.Context())
	if err != nil || p.Policy != PolicyEvidence || p.Slots != 20 || p.Overlap || p.Health != nil {
		t.Fatal(p, err)
	}
}
