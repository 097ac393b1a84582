package fleet

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/testdb"
)

// play plays overlaps at the rig's time. {word} is replaced by the quoted value of words.
func (r *rig) play(words map[string]string, overlaps ...testdb.Overlap) {
	r.Helper()
	pairs := []string{"{t}", "timestamptz '" + r.now.Format(time.RFC3339Nano) + "'"}
	for name, value := range words {
		pairs = append(pairs, "{"+name+"}", "'"+value+"'")
	}
	r.db.Play(r.T, strings.NewReplacer(pairs...), overlaps...)
}

// ends returns the statement that ends a lease; its consequences are decided at once, and
// not only at the commit.
func ends(call string, l lease) string {
	args := fmt.Sprintf(`'%s', %d, '%s'`, l.Task, l.Attempt, l.Token)
	return `select weir.` + fmt.Sprintf(call, args) + `; set constraints all immediate`
}

// A person's decision about a device stands: a task that ends on it at the same moment
// reads the device again before it changes its health.
func TestDevicesAreJudgedUnderTheirLock(t *testing.T) {
	const finish, fail = `finish(%s, at => {t})`, `fail(%s, 'adb offline', at => {t})`
	once := func(s *Spec) { s.Attempts = 1 }
	for _, c := range []struct {
		name   string
		health string // of the device before
		check  bool   // the ending task is a health task
		first  string // the action of the person; empty: the end comes first
		call   string
		then   string
	}{
		{name: "retired, its health task passes", check: true, first: "device_retire", call: finish, then: `health = 'retired'`},
		{name: "out, a run succeeds", health: "suspect", first: "device_quarantine", call: finish, then: `health = 'quarantined'`},
		{name: "retired, a run fails for good", first: "device_retire", call: fail, then: `health = 'retired'`},
		{name: "a run fails for good, out", call: fail, then: `(select count(*) from weir.events where kind = 'device' and subject = 'd01' and type = 'quarantined') = 1`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			if c.check {
				r.policy(PolicyChange{Health: json.RawMessage(`{"run": {"argv": ["./health"]}}`)})
			}
			r.report("PC-01", named("d", 1)...)
			r.submit("job", once)
			l := r.claim("PC-01", 1)[0]
			if c.health != "" {
				r.exec(`update weir.devices set health = $1`, c.health)
			}
			o := testdb.Overlap{Name: c.name, First: `select weir.` + c.first + `('d01', 'ann', 'broken glass', at => {t})`, Second: ends(c.call, l), Then: `select ` + c.then + ` from weir.devices where serial = 'd01'`}
			if c.first == "" {
				o.First, o.Second = o.Second, `select weir.device_quarantine('d01', 'ann', 'broken glass', at => {t})`
			}
			r.play(nil, o)
		})
	}
	t.Run("retired, the job that put it out is stopped", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		r.report("PC-01", named("d", 2)...)
		job := r.submit("job", nil)
		r.exec(`update weir.devices set health = 'quarantined', health_job = $1 where serial = 'd01'`, job)
		r.play(map[string]string{"job": job.String()}, testdb.Overlap{
			Name:   "retire, stop",
			First:  `select weir.device_retire('d01', 'ann', 'broken glass', at => {t})`,
			Second: `select weir._fleet_stop({job}, 'bad', {t})`,
			Then:   `select health = 'retired' from weir.devices where serial = 'd01'`,
		})
	})
	t.Run("out, a claim takes it", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		r.report("PC-01", named("d", 1)...)
		r.submit("job", nil)
		r.play(nil, testdb.Overlap{
			Name:   "quarantine, claim",
			First:  `select weir.device_quarantine('d01', 'ann', 'broken glass', at => {t})`,
			Second: `select weir.fleet_claim('PC-01', 'PC-01', 1, at => {t})`,
			Then:   `select not exists (select from weir.running)`,
		})
	})
}

// A device that moves to another PC while a claim of the first one is open has its work: the
// claim of the second one leaves the device out, and does not fail.
func TestAClaimLeavesOutADeviceThatWorks(t *testing.T) {
	const moves = `update weir.devices set node = (select id from weir.nodes where name = 'PC-02')%s where serial = 'd01'; select weir.fleet_claim('PC-02', 'PC-02', 1, at => {t})`
	for name, also := range map[string]string{
		"for a unit":        ``,
		"for a health task": `, health = 'suspect', check_at = {t}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.policy(PolicyChange{Health: json.RawMessage(`{"run": {"argv": ["./health"]}}`)})
			r.report("PC-01", named("d", 1)...)
			r.report("PC-02", named("e", 1)...)
			r.exec(`update weir.devices set check_at = null, health = case serial when 'd01' then 'good' else 'retired' end`)
			r.submit("job", func(s *Spec) { s.Any = 2 })
			r.play(nil, testdb.Overlap{
				Name:   name,
				First:  `select weir.fleet_claim('PC-01', 'PC-01', 1, at => {t})`,
				Second: fmt.Sprintf(moves, also),
				Then:   `select count(*) = 1 from weir.running`,
			})
			r.want("units that run", r.count(`select count(*) from weir.fleet_units where state = 'running'`), 1)
			r.want("tasks", r.count(`select count(*) from weir.tasks`), 1)
			r.exec(`update weir.devices set node = (select id from weir.nodes where name = 'PC-01') where serial = 'd01'`)
		})
	}
}

// A change of a PC waits for the holder of its row, such as a claim, and has locked
// nothing of the PC in the meantime.
func TestThePCIsLockedBeforeItsDevices(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("d", 2)...)
	r.exec(`select weir._worker('fresh', '{fleet}', $1)`, r.now)
	r.submit("job", nil)
	for _, c := range []struct{ name, call, free string }{
		{"it reports other slots", `select weir.fleet_report('PC-01', '[{"serial": "d01"}, {"serial": "d02"}]', 5, at => {t})`, "pcs"},
		{"it reports a new device", `select weir.fleet_report('PC-01', '[{"serial": "d01"}, {"serial": "d02"}, {"serial": "d03"}]', at => {t})`, "devices"},
		{"it sees a new device", `insert into fleet.devices (serial, pc_id) values ('d03', 'PC-01')`, "devices"},
		{"a device is gone", `update fleet.devices set status = 'offline' where serial = 'd01'`, "devices"},
		{"a worker claims for the first time", `select weir.fleet_claim('fresh', 'PC-01', 1, at => {t})`, "workers"},
	} {
		r.play(nil, testdb.Overlap{
			Name: c.name, First: `select from weir.nodes where name = 'PC-01' for no key update`, Second: c.call, Free: `select from weir.` + c.free + ` for update nowait`,
		})
	}
}

// Devices are locked by id, whatever is reported of each.
func TestDevicesAreLockedInOrder(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("d", 2)...)
	// The rows are not stored in the order of their ids.
	r.exec(`update weir.devices set labels = '{"moved": "yes"}' where serial = 'd01'`)
	r.exec(`update weir.devices set labels = '{}' where serial = 'd01'`)
	const hold, free = `select from weir.devices where serial = 'd01' for update`, `select from weir.devices where serial = 'd02' for update nowait`
	r.play(nil, testdb.Overlap{
		Name: "one is elsewhere, one is absent", First: hold, Free: free,
		Second: `select weir.fleet_report('PC-01', '[{"serial": "d01", "target": "elsewhere"}]', at => {t})`,
	})
	r.exec(`update weir.devices set missing_at = $1`, r.now.Add(-time.Minute))
	r.play(nil, testdb.Overlap{Name: "both stay away", First: hold, Free: free, Second: `select weir.fleet_tend(at => {t})`})
}

// The leader's pass reads a PC again once it has locked it, and waits neither for a PC
// that another transaction holds nor for another pass.
func TestThePassOfTheLeader(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("d", 1)...)
	r.exec(`update weir.devices set missing_at = $1`, r.now.Add(-time.Minute))
	r.play(nil, testdb.Overlap{
		Name:   "a device is back",
		First:  `select weir.fleet_report('PC-01', '[{"serial": "d01"}]', at => {t})`,
		Second: `select weir.fleet_tend(at => {t})`,
		Then:   `select online and missing_at is null from weir.devices where serial = 'd01'`,
	})
	r.now = r.now.Add(time.Minute)
	const silent = `select online from weir.devices where serial = 'd01'`
	r.play(nil,
		testdb.Overlap{
			Name: "a silent PC that somebody has", Passes: true,
			First: `select from weir.nodes where name = 'PC-01' for no key update`, Second: `select weir.fleet_tend(at => {t})`, Then: silent,
		},
		testdb.Overlap{
			Name: "another pass", Passes: true,
			First: `select pg_advisory_xact_lock(89, 1)`, Second: `select weir.fleet_tend(at => {t})`, Then: silent,
		},
	)
}

// submitted submits a job that does not become active, because another transaction is
// making one active.
func (r *rig) submitted(name string) weir.ID {
	r.Helper()
	r.play(nil, testdb.Overlap{
		Name: "make one active, submit", Passes: true,
		First:  `select pg_advisory_xact_lock(89, 0)`,
		Second: `select weir.fleet_submit('` + name + `', '{"run": {"argv": ["true"]}, "target": {"all": true}}', at => {t})`,
		Then:   `select j.state = 'waiting' from weir.fleet_jobs j join weir.jobs x on x.id = j.job where x.name = '` + name + `'`,
	})
	var id weir.ID
	r.scan(&id, `select id from weir.jobs where name = $1`, name)
	return id
}

// A job becomes active once, and not while it is being canceled.
func TestTheNextJobIsMadeActiveOnce(t *testing.T) {
	t.Parallel()
	const next = `select weir._fleet_next('default', {t})`
	const activated = `(select count(*) from weir.events where job = {job} and type = 'activated')`
	r := newRig(t)
	r.report("PC-01", named("d", 1)...)
	r.play(map[string]string{"job": r.submitted("twice").String()}, testdb.Overlap{
		Name: "two at once", First: next, Second: next, Then: `select ` + activated + ` = 1`,
	})
	r = newRig(t)
	r.report("PC-01", named("d", 1)...)
	r.play(map[string]string{"job": r.submitted("canceled").String()}, testdb.Overlap{
		Name: "it is canceled", Passes: true, First: `select weir.cancel_job({job}, at => {t})`, Second: next, Then: `select ` + activated + ` = 0 and (select state = 'ended' from weir.fleet_jobs where job = {job})`,
	})
}

// A job that has units already is not made active while it is being canceled either.
func TestAJobWithUnitsIsMadeActiveUnderItsLock(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("d", 1)...)
	id := r.submitted("planned")
	r.exec(`select weir._fleet_plan($1, $2)`, id, r.now)
	r.play(map[string]string{"job": id.String()}, testdb.Overlap{
		Name: "it is canceled", Passes: true, First: `select weir.cancel_job({job}, at => {t})`, Second: `select weir._fleet_next('default', {t})`,
		Then: `select (select count(*) from weir.events where job = {job} and type = 'activated') = 0 and (select state = 'ended' from weir.fleet_jobs where job = {job})`,
	})
}

// The next job, if it overlaps, gets its units under the locks of the transaction that
// makes it active or cancels it.
func TestOverlapPlansUnderTheJobsLock(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("d", 2)...)
	r.policy(PolicyChange{Overlap: ptr(true)})
	r.submit("a", nil)
	list := r.claim("PC-01", 10)
	r.done(list[0])
	b := r.submit("b", nil)
	const claim = `select weir.fleet_claim('PC-01', 'PC-01', 1, at => {t})`
	r.play(map[string]string{"b": b.String()},
		testdb.Overlap{Name: "somebody makes one active", First: `select pg_advisory_xact_lock(89, 0)`, Second: claim},
		testdb.Overlap{
			Name: "it is canceled", First: `select weir.cancel_job({b}, at => {t})`, Second: claim,
			Then: `select not exists (select from weir.fleet_units where job = {b})`,
		},
	)
}

// One statement cancels several jobs while others end runs of them. Whoever ends the
// active job does not wait for the one who cancels the next, who may wait for the active
// one; and the one who cancels waits for no lease once it holds a job.
func TestManyJobsAreCanceledInOneStatement(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("d", 1)...)
	a, b, c := r.submit("a", nil), r.submit("b", nil), r.submit("c", nil)
	l := r.claim("PC-01", 1)[0]
	r.play(map[string]string{"a": a.String(), "b": b.String()}, testdb.Overlap{
		Name: "cancel the next, end the active one", Passes: true,
		First: `select weir.fleet_cancel({b}, at => {t})`, Second: ends(`finish(%s, at => {t})`, l),
		Then: `select state = 'ended' from weir.fleet_jobs where job = {a}`,
	})
	r.tend()
	r.job(b, JobCanceled)
	r.job(c, JobActive)

	r = newRig(t)
	r.report("PC-01", named("d", 3)...)
	r.policy(PolicyChange{Overlap: ptr(true)})
	a = r.submit("a", func(s *Spec) { s.Target = Target{Devices: []string{"d01"}} })
	b = r.submit("b", nil)
	r.want("running", len(r.claim("PC-01", 3)), 3)
	r.play(map[string]string{"a": a.String(), "b": b.String()}, testdb.Overlap{
		Name: "a run of the second ends", Passes: true, First: `select from weir.running where job = {b} for update`,
		Second: `select weir.fleet_cancel(j::uuid, at => {t}) from unnest(array[{a}, {b}]) j`,
		Then:   `select count(*) > 0 from weir.running where cancel_at is not null`,
	})
	r.tend()
	r.want("asked to stop", r.count(`select count(*) from weir.running where cancel_at is not null`), 3)

	r = newRig(t)
	r.report("PC-01", named("d", 2)...)
	r.policy(PolicyChange{Overlap: ptr(true)})
	a = r.submit("a", func(s *Spec) { s.Target = Target{Devices: []string{"d01"}} })
	b = r.submit("b", func(s *Spec) { s.Target = Target{Devices: []string{"d02"}} })
	list := r.claim("PC-01", 2)
	r.want("running", len(list), 2)
	r.play(map[string]string{"a": a.String(), "b": b.String()}, testdb.Overlap{
		Name: "cancel the next that runs already, end the active one", Passes: true,
		First: `select weir.fleet_cancel({b}, at => {t})`, Second: ends(`finish(%s, at => {t})`, list[0]),
		Then: `select state = 'ended' from weir.fleet_jobs where job = {a}`,
	})
	r.tend()
	r.job(b, JobCanceling)
}

// A job that makes no progress is locked before anything of it is written.
func TestAJobIsLockedBeforeItLingers(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("d", 1)...)
	id := r.submit("job", nil)
	r.now = r.now.Add(time.Minute)
	r.exec(`select weir.fleet_tend(at => $1)`, r.now) // its PC is lost
	r.play(map[string]string{"job": id.String()}, testdb.Overlap{
		Name: "command, pass", First: `select from weir.job_live where job = {job} for update`, Second: `select weir.fleet_tend(at => {t})`,
		Free: `select from weir.fleet_jobs where job = {job} for update nowait`,
	})
}

// Claims do not wait for the holder of a unit, and take the next one if any unit will do.
func TestUnitsThatSomebodyHasAreLeft(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("d", 2)...)
	r.report("PC-02", named("e", 2)...)
	id := r.submit("job", nil)
	r.play(map[string]string{"job": id.String()}, testdb.Overlap{
		Name: "cancel, claim", Passes: true,
		First: `select from weir.fleet_units where job = {job} for update`, Second: `select weir.fleet_claim('PC-01', 'PC-01', 1, at => {t})`,
		Then: `select not exists (select from weir.running)`,
	})
	r.exec(`select weir.cancel_job($1, at => $2)`, id, r.now)
	r.submit("any", func(s *Spec) { s.Any = 2 })
	r.play(nil, testdb.Overlap{
		Name: "two PCs", Passes: true,
		First: `select weir.fleet_claim('PC-01', 'PC-01', 1, at => {t})`, Second: `select weir.fleet_claim('PC-02', 'PC-02', 1, at => {t})`,
		Then: `select count(*) = 2 from weir.running`,
	})
}

// The repetition of a claim that is under way waits for it and gets the same leases, and
// each of a worker's claims gets its own.
func TestARepeatedClaimOfAPC(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("d", 5)...)
	r.submit("job", nil)
	r.claim("PC-01", 1) // so that the worker is registered
	const claim = `select weir.fleet_claim('PC-01', 'PC-01', 1, claim_id => '0190a000-0000-7000-8000-000000000001', at => {t})`
	r.play(nil, testdb.Overlap{Name: "claim, the same again", First: claim, Second: claim, Then: `select count(*) = 2 from weir.running`})
	r.want("leases of another claim", len(r.claim("PC-01", 1)), 1)
}

// A PC that reports the success of a run while its lease is being lost gets that answer.
func TestAReportIsForTheLeaseAsItIs(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("d", 1)...)
	r.submit("job", nil)
	l := r.claim("PC-01", 1)[0]
	r.play(map[string]string{"task": l.Task.String()}, testdb.Overlap{
		Name:   "fail, complete",
		First:  fmt.Sprintf(`select weir.fail('%s', %d, '%s', 'adb offline', at => {t})`, l.Task, l.Attempt, l.Token),
		Second: `select 1 / (case when (fleet.complete_task_device({task}, 'PC-01', attempt => 1, at => {t})).id is null then 1 else 0 end)`,
		Then:   `select count(*) = 1 from weir.events where task = {task} and type = 'stale'`,
	})
}

// Concurrent changes of different parts of the policy are both kept.
func TestThePolicyIsChangedUnderItsLock(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.play(nil, testdb.Overlap{
		Name:   "slots, overlap",
		First:  `select weir.set_fleet_policy('{"slots": 7}', at => {t})`,
		Second: `select weir.set_fleet_policy('{"overlap": true}', at => {t})`,
		Then:   `select (slots, overlap) = (7, true) from weir.fleet_policy`,
	})
}
