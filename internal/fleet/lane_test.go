package fleet

import (
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/testdb"
)

// in names the lane of a job and its devices.
func in(lane string, serials ...string) func(*Spec) {
	return func(s *Spec) {
		s.Lane, s.Target = lane, Target{Devices: serials}
	}
}

// Jobs of different lanes are active side by side, each lane with its own order; a job
// that names no lane is in the default one, where one job is active as ever.
func TestLanes(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("d", 4)...)
	a := r.submit("a", in("", "d01", "d02"))
	b := r.submit("b", in("default", "d01", "d02"))
	c := r.submit("c", in("ios", "d03", "d04"))
	d := r.submit("d", in("ios", "d03", "d04"))
	r.job(a, JobActive)
	r.job(b, JobWaiting)
	if j := r.job(c, JobActive); j.Lane != "ios" {
		t.Errorf("lane %s", j.Lane)
	}
	r.job(d, JobWaiting)
	list := r.claim("PC-01", 10)
	r.want("both lanes", serials(list), "d01 d02 d03 d04")
	if why := r.why(d); !strings.Contains(why, "c is active in lane ios since") {
		t.Errorf("why: %s", why)
	}
	// The end of one lane's job makes the next of this lane active, and of no other.
	r.done(of(list, "d03"), of(list, "d04"))
	r.job(c, JobDone)
	r.job(d, JobActive)
	r.job(b, JobWaiting)
	r.done(of(list, "d01"), of(list, "d02"))
	r.job(b, JobActive)
	r.done(r.claim("PC-01", 10)...)
	r.job(b, JobDone)
	r.job(d, JobDone)
	active, err := r.store.Active(t.Context())
	if err != nil || len(active) != 0 {
		t.Errorf("%+v %v", active, err)
	}
}

// Two lanes that want one device do not fight over it: it runs one thing at a time, first
// for the higher priority, and both jobs end.
func TestTwoLanesShareADevice(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("d", 1)...)
	r.report("PC-02", named("e", 2)...)
	low := r.submit("low", in("one", "d01"))
	high := r.submit("high", func(s *Spec) { s.Lane, s.Target, s.Priority = "two", Target{Devices: []string{"d01"}}, 5 })
	r.submit("any", func(s *Spec) { s.Lane, s.Target, s.Any = "three", Target{All: true}, 2 })
	list := r.claim("PC-01", 10)
	r.want("one run", len(list), 1)
	r.want("of the higher priority", *list[0].Job, high)
	r.want("not the other", len(r.claim("PC-01", 10)), 0)
	if why := r.why(low); !strings.Contains(why, "d01 busy with high") {
		t.Errorf("why: %s", why)
	}
	r.wait(10 * time.Second)
	r.job(low, JobActive)
	r.done(list...)
	r.want("any device", len(r.claim("PC-02", 10)), 2)
	list = r.claim("PC-01", 10)
	r.want("then the other", *list[0].Job, low)
	r.done(list...)
	r.job(low, JobDone)
}

// A lane whose devices are gone keeps no other lane waiting.
func TestALaneWaitsAlone(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("d", 1)...)
	r.report("PC-02", named("e", 1)...)
	gone := r.submit("gone", func(s *Spec) {
		s.Lane, s.Target, s.Linger = "ios", Target{Devices: []string{"e01"}}, new(node.Span(time.Hour))
	})
	delete(r.seen, "PC-02")
	for range 3 {
		id := r.submit("works", in("android", "d01"))
		r.done(r.claim("PC-01", 1)...)
		r.job(id, JobDone)
		r.wait(time.Minute)
	}
	r.job(gone, JobActive)
}

// A lane has a name that can be written down, and there are not many.
func TestLanesAreBounded(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("d", 1)...)
	for _, lane := range []string{"Big", "a b", "-a", strings.Repeat("a", 64), "é"} {
		r.refused(problem.Invalid, r.spec(in(lane, "d01")).Check())
		_, err := r.db.Pool.Exec(t.Context(), `select weir.fleet_submit('x', jsonb_build_object('run', '{"argv": ["true"]}'::jsonb, 'target', '{"all": true}'::jsonb, 'lane', $1::text))`, lane)
		r.refused(problem.Invalid, err)
	}
	r.exec(`select weir.fleet_submit('x', jsonb_build_object('run', '{"argv": ["true"]}'::jsonb, 'target', '{"all": true}'::jsonb, 'lane', 'lane-' || n)) from generate_series(1, 32) n`)
	_, err := r.db.Pool.Exec(t.Context(), `select weir.fleet_submit('x', '{"run": {"argv": ["true"]}, "target": {"all": true}, "lane": "more"}')`)
	r.refused(problem.Conflict, err)
	r.submit("known", in("lane-7", "d01"))
	r.want("active", r.count(`select count(*) from weir.fleet_jobs where state = 'active'`), 32)
}

// Lanes become active without waiting for each other.
func TestLanesHaveLocksOfTheirOwn(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("d", 2)...)
	r.play(nil, testdb.Overlap{
		Name: "the default lane is at it, another one begins", Passes: true,
		First:  `select pg_advisory_xact_lock(89, 0)`,
		Second: `select weir.fleet_submit('b', '{"run": {"argv": ["true"]}, "target": {"all": true}, "lane": "ios"}', at => {t})`,
		Then:   `select state = 'active' from weir.fleet_jobs where lane = 'ios'`,
	})
}

// Overlap looks past a job that wants other devices, and not without end.
func TestOverlapLooksPastTheNextJob(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.policy(PolicyChange{Overlap: ptr(true)})
	r.report("PC-01", named("a", 1)...)
	r.report("PC-02", named("b", 1)...)
	r.submit("first", in("", "a01"))
	r.want("the first", len(r.claim("PC-01", 5)), 1)
	second := r.submit("second", in("", "a01"))
	third := r.submit("third", in("", "b01"))
	list := r.claim("PC-02", 5)
	r.want("the third", serials(list), "b01")
	r.want("its job", *list[0].Job, third)
	r.want("units of what it passed", r.count(`select count(*) from weir.fleet_units where job = $1`, second), 0)
	r.done(list...)
	r.job(third, JobDone)
	for range 9 {
		r.submit("more", in("", "a01"))
	}
	far := r.submit("far", in("", "b01"))
	r.want("what is too far", len(r.claim("PC-02", 5)), 0)
	r.units(far, "")
}
