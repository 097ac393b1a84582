package fleet

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/problem"
)

const invalid = problem.Invalid

func page(n int) view.Page { return view.Page{Limit: n} }

func (r *rig) policy(c PolicyChange) {
	r.Helper()
	if _, err := r.store.SetPolicy(r.Context(), "ann", c); err != nil {
		r.Fatal(err)
	}
}

// strict sets the policy of the device queue.
func (r *rig) strict() {
	r.Helper()
	r.policy(PolicyChange{Policy: ptr(PolicyStrict)})
}

func ptr[T any](v T) *T { return &v }

func TestEvidence(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.policy(PolicyChange{Policy: ptr(PolicyEvidence)})
	r.report("PC-01", named("d", 1)...)
	a := r.submit("a", nil)
	r.failed("PC-01", r.claim("PC-01", 1)[0])
	r.job(a, JobFailed)
	d := r.health("d01", HealthSuspect)
	if !d.Eligible {
		t.Fatalf("a suspect device works: %+v", d)
	}
	// A success clears the suspicion.
	r.submit("b", nil)
	r.done(r.claim("PC-01", 1)...)
	if d = r.health("d01", HealthGood); len(d.Evidence) != 0 {
		t.Fatalf("%+v", d)
	}
	// Failures of two jobs quarantine the device.
	for _, name := range []string{"c", "d"} {
		r.submit(name, nil)
		r.failed("PC-01", r.claim("PC-01", 1)[0])
	}
	if d = r.health("d01", HealthQuarantined); len(d.Evidence) != 2 {
		t.Fatalf("%+v", d)
	}
	log, err := r.store.DeviceLog(t.Context(), "d01", 10)
	if err != nil || len(log) != 5 || log[0].Type != HealthQuarantined || log[0].Was != HealthSuspect || len(log[0].Evidence) != 2 || log[4].Type != "registered" {
		t.Fatalf("%+v %v", log, err)
	}
}

func TestHealthTask(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.strict()
	r.policy(PolicyChange{Health: json.RawMessage(`{"run": {"argv": ["./health"]}}`)})
	r.report("PC-01", named("d", 1)...)
	id := r.submit("job", nil)
	check := r.claim("PC-01", 10)
	if len(check) != 1 || check[0].Key != "health d01" || check[0].Job != nil {
		t.Fatalf("an unknown device is checked first: %+v", check)
	}
	r.done(check...)
	r.health("d01", HealthGood)
	r.failed("PC-01", r.claim("PC-01", 1)[0])
	r.job(id, JobFailed)
	d := r.health("d01", HealthQuarantined)
	r.want("the first try", d.CheckAt.Sub(d.HealthAt), 5*time.Minute)
	r.wait(4 * time.Minute)
	r.want("not yet", len(r.claim("PC-01", 10)), 0)
	r.wait(time.Minute)
	check = r.claim("PC-01", 10)
	r.want("due", len(check), 1)
	r.fail(check...)
	d = r.health("d01", HealthQuarantined)
	r.want("the second try", d.CheckAt.Sub(r.now), time.Hour)
	r.wait(time.Hour)
	r.fail(r.claim("PC-01", 10)...)
	if d = r.health("d01", HealthQuarantined); d.CheckAt != nil || d.Checks != 2 {
		t.Fatalf("then a person: %+v", d)
	}
	r.wait(24 * time.Hour)
	r.want("no more", len(r.claim("PC-01", 10)), 0)
	r.exec(`select weir.device_release('d01', 'ann', 'new cable', at => $1)`, r.now)
	r.health("d01", HealthUnknown)
	r.done(r.claim("PC-01", 10)...)
	r.health("d01", HealthGood)
}

func TestHealthTaskBringsBack(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.policy(PolicyChange{Health: json.RawMessage(`{"run": {"argv": ["./health"]}}`)})
	r.report("PC-01", named("d", 1)...)
	r.fail(r.claim("PC-01", 10)...)
	r.health("d01", HealthQuarantined)
	r.wait(5 * time.Minute)
	check := r.claim("PC-01", 10)
	r.want("a health task", len(check), 1)
	// A health task that was cut off says nothing, and is run again.
	r.infra(check[0])
	r.health("d01", HealthQuarantined)
	r.wait(time.Minute)
	check = r.claim("PC-01", 10)
	r.want("again", len(check), 1)
	r.done(check...)
	r.health("d01", HealthGood)
}

func TestBreaker(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.strict()
	r.report("PC-01", named("a", 20)...)
	r.report("PC-02", named("b", 20)...)
	bad := r.submit("bad", func(s *Spec) { s.Attempts = 1 })
	next := r.submit("next", nil)
	first := r.claim("PC-01", 100)
	r.claim("PC-02", 5)
	r.done(first[0], first[1])
	r.fail(first[2:6]...)
	r.want("out so far", r.count(`select count(*) from weir.devices where health = 'quarantined'`), 4)
	r.fail(first[6])
	j := r.job(bad, JobActive)
	if !strings.Contains(j.Stopped, "failed on 5 devices") {
		t.Fatalf("%+v", j)
	}
	r.want("nobody is out", r.count(`select count(*) from weir.devices where health in ('quarantined', 'suspect')`), 0)
	r.units(bad, "18 running 5 failed 15 canceled 2 done")
	r.want("asked to stop", r.count(`select count(*) from weir.running where cancel_at is not null`), 18)
	r.want("nothing more of it", len(r.claim("PC-02", 100)), 0)
	// Later failures are not punished, and the last end makes the next job active.
	r.exec(`select weir.fail(task, attempt, token, 'stopped', at => $1) from weir.running`, r.now)
	j = r.job(bad, JobFailed)
	r.want("cause", j.Cause, j.Stopped)
	r.want("nobody is out", r.count(`select count(*) from weir.devices where health in ('quarantined', 'suspect')`), 0)
	r.job(next, JobActive)
}

// What a job says of a device counts no more when the job is stopped as bad, and what
// other jobs said counts as before.
func TestAStoppedJobIsNoEvidence(t *testing.T) {
	t.Parallel()
	sound := func(s *Spec) { s.Attempts, s.Lane, s.Target = 1, "sound", Target{Devices: []string{"d01"}} }
	bad := func(s *Spec) { s.Attempts = 1 }
	stop := func(r *rig, id weir.ID, list []lease) {
		for _, l := range list {
			if l.Serial != "d01" && r.text(`select coalesce(stopped, '') from weir.fleet_jobs where job = $1`, id) == "" {
				r.fail(l)
			}
		}
		if r.text(`select coalesce(stopped, '') from weir.fleet_jobs where job = $1`, id) == "" {
			r.Fatal("the bad job was not stopped")
		}
	}
	speaks := func(r *rig, want string) {
		r.Helper()
		r.want("the evidence is of", r.text(`select coalesce(string_agg(j.name, ' '), '') from weir.devices d, unnest(d.evidence) e (task)
			join weir.tasks q on q.id = e.task join weir.jobs j on j.id = q.job where d.serial = 'd01'`), want)
	}
	t.Run("it failed before", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		r.report("PC-01", named("d", 5)...)
		id := r.submit("bad", bad)
		list := r.claim("PC-01", 100)
		r.fail(of(list, "d01"))
		r.health("d01", HealthSuspect)
		r.submit("sound", sound)
		r.fail(r.claim("PC-01", 1)...)
		r.health("d01", HealthQuarantined)
		stop(r, id, list)
		r.health("d01", HealthSuspect)
		speaks(r, "sound")
	})
	t.Run("it failed after", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		r.report("PC-01", named("d", 5)...)
		r.submit("sound", sound)
		r.fail(r.claim("PC-01", 1)...)
		r.health("d01", HealthSuspect)
		id := r.submit("bad", bad)
		list := r.claim("PC-01", 100)
		r.fail(of(list, "d01"))
		r.health("d01", HealthQuarantined)
		stop(r, id, list)
		r.health("d01", HealthSuspect)
		speaks(r, "sound")
		r.submit("next", sound)
		r.fail(r.claim("PC-01", 1)...)
		r.health("d01", HealthQuarantined)
		speaks(r, "sound next")
	})
	t.Run("a health task put it out", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		r.report("PC-01", named("d", 5)...)
		id := r.submit("bad", bad)
		list := r.claim("PC-01", 100)
		r.fail(of(list, "d01"))
		r.policy(PolicyChange{Health: json.RawMessage(`{"run": {"argv": ["./health"]}}`)})
		r.wait(time.Second)
		r.fail(of(r.claim("PC-01", 100), "d01"))
		r.health("d01", HealthQuarantined)
		stop(r, id, list)
		r.health("d01", HealthQuarantined)
		speaks(r, "")
	})
}

// A small lab survives a red build without anything being set: the job is stopped as bad,
// and its devices serve the next one.
func TestARedBuildInASmallLab(t *testing.T) {
	t.Parallel()
	for n, breaker := range map[int]int{1: 2, 2: 2, 3: 2, 6: 3, 9: 5, 30: 5} {
		r := newRig(t)
		r.report("PC-01", named("d", n)...)
		red := r.submit("red", func(s *Spec) { s.Attempts = 1 })
		r.want("the breaker", r.count(`select breaker from weir.fleet_jobs where job = $1`, red), breaker)
		for _, l := range r.claim("PC-01", 100) {
			r.exec(`select weir.fail($1, $2, $3, 'red', at => $4)`, l.Task, l.Attempt, l.Token, r.now)
		}
		j := r.job(red, JobFailed)
		r.want(fmt.Sprintf("stopped as bad with %d devices", n), j.Stopped != "", n > 1)
		r.want("out", r.count(`select count(*) from weir.devices where health = 'quarantined'`), 0)
		green := r.submit("green", nil)
		for list := r.claim("PC-01", 100); len(list) > 0; list = r.claim("PC-01", 100) {
			r.done(list...)
		}
		r.job(green, JobDone)
	}
}

// A device that joins a running job counts for its breaker, unless the job names one.
func TestTheBreakerGrowsWithTheTarget(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ named, before, after int }{{-1, 2, 5}, {7, 7, 7}, {0, 0, 0}} {
		r := newRig(t)
		r.report("PC-01", named("d", 2)...)
		id := r.submit("job", func(s *Spec) {
			s.Join = JoinRunning
			if c.named >= 0 {
				s.Breaker = &c.named
			}
		})
		r.want("before", r.count(`select breaker from weir.fleet_jobs where job = $1`, id), c.before)
		r.report("PC-01", named("d", 12)...)
		r.want("after", r.count(`select breaker from weir.fleet_jobs where job = $1`, id), c.after)
	}
}

// A job that succeeds on most devices is not bad: the devices are.
func TestBreakerSparesGoodJobs(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.strict()
	r.report("PC-01", named("a", 20)...)
	id := r.submit("good", func(s *Spec) { s.Attempts = 1 })
	list := r.claim("PC-01", 100)
	r.done(list[:12]...)
	r.fail(list[12:]...)
	if j := r.job(id, JobFailed); j.Stopped != "" {
		t.Fatal(j.Stopped)
	}
	r.want("out", r.count(`select count(*) from weir.devices where health = 'quarantined'`), 8)
}

func TestDeviceCommands(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ctx := t.Context()
	r.report("PC-01", named("d", 2)...)
	type command func() (bool, error)
	do := func(what string, c command, changed bool, health string) {
		t.Helper()
		got, err := c()
		if err != nil || got != changed {
			t.Fatalf("%s: %v %v", what, got, err)
		}
		r.health("d01", health)
	}
	do("quarantine", func() (bool, error) { return r.store.Quarantine(ctx, "ann", "d01", "smells") }, true, HealthQuarantined)
	do("again", func() (bool, error) { return r.store.Quarantine(ctx, "ann", "d01", "smells") }, false, HealthQuarantined)
	do("maintain", func() (bool, error) { return r.store.Maintain(ctx, "ann", "d01", "open it", time.Time{}) }, true, HealthMaintenance)
	do("release", func() (bool, error) { return r.store.Release(ctx, Holder{By: "ann"}, "d01", "fixed") }, true, HealthGood)
	_, err := r.store.Retire(ctx, "ann", "d01", "")
	r.refused(invalid, err)
	_, err = r.store.Retire(ctx, "ann", "nobody", "x")
	r.refused(problem.NotFound, err)
	do("retire", func() (bool, error) { return r.store.Retire(ctx, "ann", "d01", "broken glass") }, true, HealthRetired)
	_, err = r.store.Quarantine(ctx, "ann", "d01", "x")
	if p := r.refused(problem.Conflict, err); p.Next != "release it first, if it is back" {
		t.Errorf("%+v", p)
	}
	if d := r.health("d01", HealthRetired); d.HealthBy != "ann" || !strings.Contains(d.HealthNote, "broken glass") {
		t.Errorf("%+v", d)
	}
	_, err = r.store.Submit(ctx, "ann", r.spec(func(s *Spec) { s.Target = Target{Devices: []string{"d01"}} }), "")
	if p := r.refused(invalid, err); p.Pattern != "device %s is retired" || p.Command != "weir device release d01" {
		t.Errorf("%+v", p)
	}
	id := r.submit("rest", nil)
	r.units(id, "1 waiting")
}

// The health task of a device is the first of by_label whose conditions its labels meet, or
// else the one for all others.
func TestHealthTaskByLabel(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.policy(PolicyChange{Health: json.RawMessage(`{"run": {"argv": ["any"]}, "by_label": [
		{"match": ["os=ios", "model=old"], "run": {"argv": ["old"]}, "timeout": "2m"}, {"match": ["os=ios"], "run": {"argv": ["ios"]}}]}`)})
	r.report("PC-01", node.Device{Serial: "a", Labels: map[string]string{"os": "android"}}, node.Device{Serial: "i", Labels: map[string]string{"os": "ios"}},
		node.Device{Serial: "o", Labels: map[string]string{"os": "ios", "model": "old"}})
	list := r.claim("PC-01", 9)
	var got string
	r.scan(&got, `select string_agg(concat_ws(' ', d.serial, q.run #>> '{argv,0}', q.timeout, r.deadline - r.claimed_at), '; ' order by d.serial)
		from weir.running r join weir.devices d on d.id = r.device join weir.tasks q on q.id = r.task`)
	r.want("the tasks", got, "a any 00:05:00 00:05:00; i ios 00:05:00 00:05:00; o old 00:02:00 00:02:00")
	r.done(list...)
	d, err := r.store.Device(t.Context(), "o")
	if err != nil || d.Health != HealthGood || d.HealthTask.Run.Argv[0] != "old" || len(d.HealthTask.Match) != 2 {
		t.Errorf("%+v, %v", d.HealthTask, err)
	}
	if d, err = r.store.Device(t.Context(), "a"); err != nil || d.HealthTask.Run.Argv[0] != "any" || d.HealthTask.Match != nil {
		t.Errorf("%+v, %v", d.HealthTask, err)
	}
	for field, text := range map[string]string{
		"health.by_label[0].match":   `"by_label": [{"match": ["os=="], "run": {"argv": ["x"]}}]`,
		"health.by_label[0].run":     `"by_label": [{"match": ["os"], "run": {}}]`,
		"health.by_label[0].timeout": `"by_label": [{"match": ["os"], "run": {"argv": ["x"]}, "timeout": "0.1s"}]`,
		"health.run":                 `"run": {}`,
		"health.by_label":            `"by_label": {}`,
		"health.other":               `"other": 1`,
	} {
		_, err := r.db.Pool.Exec(t.Context(), `select weir.set_fleet_policy(jsonb_build_object('health', '{"run": {"argv": ["x"]}}'::jsonb || $1::jsonb))`, `{`+text+`}`)
		if p := r.refused(problem.Invalid, err); p.Field != field {
			t.Errorf("%s: %s is blamed: %v", text, p.Field, err)
		}
	}
	_, err = r.db.Pool.Exec(t.Context(), `select weir.set_fleet_policy(jsonb_build_object('health', jsonb_build_object('run', '{"argv": ["x"]}'::jsonb, 'by_label',
		(select jsonb_agg('{"match": ["os"], "run": {"argv": ["x"]}}'::jsonb) from generate_series(1, 21)))))`)
	r.refused(problem.Invalid, err)
}

// A command sets or removes one health task and leaves the others in their order.
func TestHealthTaskForLabels(t *testing.T) {
	h := HealthTask{}
	for _, c := range []struct{ match, argv, want string }{
		{"os=ios", "a", "os=ios a"}, {"tag=x", "b", "os=ios a, tag=x b"}, {"os=ios", "c", "os=ios c, tag=x b"}, {"none", "", "os=ios c, tag=x b"}, {"os=ios", "", "tag=x b"},
	} {
		l := LabelHealth{Match: []string{c.match}}
		if c.argv != "" {
			l.Run.Argv = []string{c.argv}
		}
		h.For(l)
		var got []string
		for _, l := range h.ByLabel {
			got = append(got, l.Match[0]+" "+l.Run.Argv[0])
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s %s: %s", c.match, c.argv, got)
		}
	}
}
