package fleet

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/node"
)

// checked is a policy with a health task.
var checked = PolicyChange{Health: json.RawMessage(`{"run": {"argv": ["./health"]}}`)}

// verdict returns what the one judge says of the unit of a device: the verdict, in what
// time, and the code of the reason.
func (r *rig) verdict(id weir.ID, serial string) string {
	r.Helper()
	var s string
	r.scan(&s, `select concat_ws(' ', a.verdict, extract(epoch from a.at - $3)::int::text, a.reason ->> 'code')
		from weir.fleet_units u join weir.fleet_jobs j on j.job = u.job join weir.devices d on d.id = u.device, weir.fleet_policy f,
		lateral weir._fleet_answer(u, j, f.health is not null, $3) a where u.job = $1 and d.serial = $2`, id, serial, r.now)
	return s
}

// Each situation of a device has one answer, which says whether anything but a person can
// help.
func TestAnswers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		health bool
		sql    string
		want   string
	}{
		"idle":                         {false, ``, "now"},
		"its health task is due":       {true, ``, "now device_unchecked"},
		"its health task was cut off":  {true, `update weir.devices set check_at = $1::timestamptz + interval '1 min'`, "later 60 device_unchecked"},
		"missing":                      {false, `update weir.devices set missing_at = $1`, "later device_missing"},
		"offline":                      {false, `update weir.devices set online = false, online_at = $1`, "later device_offline"},
		"offline for two days":         {false, `update weir.devices set online = false, online_at = $1::timestamptz - interval '2 d'`, "person device_offline"},
		"quarantined":                  {false, `update weir.devices set health = 'quarantined', check_at = $1::timestamptz + interval '5 min'`, "person device_out"},
		"quarantined, a check to come": {true, `update weir.devices set health = 'quarantined', check_at = $1::timestamptz + interval '5 min'`, "later 300 device_out"},
		"quarantined, no check left":   {true, `update weir.devices set health = 'quarantined', check_at = null`, "person device_out"},
		"quarantined, away":            {true, `update weir.devices set health = 'quarantined', check_at = $1, online = false, online_at = $1`, "later device_out"},
		"quarantined, long away":       {true, `update weir.devices set health = 'quarantined', check_at = $1, online = false, online_at = $1::timestamptz - interval '2 d'`, "person device_out"},
		"in maintenance":               {true, `update weir.devices set health = 'maintenance'`, "person device_out"},
		"retired":                      {true, `update weir.devices set health = 'retired'`, "never device_out"},
		"the PC is paused":             {false, `update weir.pcs set paused_until = $1::timestamptz + interval '90 s'`, "later 90 pc_paused"},
		"the PC has no slots":          {false, `update weir.pcs set slots = 0 where $1::timestamptz is not null`, "person pc_slotless"},
		"the PC drains":                {false, `update weir.nodes set mode = 'draining' where $1::timestamptz is not null`, "person pc_mode"},
		"the PC drains until":          {false, `update weir.nodes set mode = 'draining', mode_until = $1::timestamptz + interval '1 h'`, "later 3600 pc_mode"},
		"the PC is silent":             {false, `update weir.nodes set seen_at = $1::timestamptz - interval '1 min'`, "later pc_offline"},
		"the PC has left":              {false, `update weir.pcs set left_at = $1`, "later pc_left"},
		"the PC left two days ago":     {false, `update weir.pcs set left_at = $1::timestamptz - interval '2 d'`, "person pc_left"},
		"paused, and in maintenance":   {false, `with p as (update weir.pcs set paused_until = $1::timestamptz + interval '90 s') update weir.devices set health = 'maintenance'`, "person device_out"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			if c.health {
				r.policy(checked)
			}
			r.report("PC-01", named("d", 1)...)
			id := r.submit("job", nil)
			if strings.Contains(c.sql, "$1") {
				r.exec(c.sql, r.now)
			} else if c.sql != "" {
				r.exec(c.sql)
			}
			r.want("the answer", r.verdict(id, "d01"), c.want)
		})
	}
}

// A unit whose next attempt is not due is served later, by itself, and keeps its job
// active for as long as that takes.
func TestARetryKeepsItsJobActive(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("d", 1)...)
	id := r.submit("job", func(s *Spec) { s.Linger, s.Backoff = new(node.Span), new(node.Span(time.Hour)) })
	r.fail(r.claim("PC-01", 1)...)
	if got := r.verdict(id, "d01"); !strings.HasPrefix(got, "later ") {
		t.Errorf("the answer: %s", got)
	}
	r.wait(time.Second)
	r.job(id, JobActive)
}

// A device that only a person can bring back keeps no job active: the next job follows
// as soon as the other devices are done.
func TestADeviceThatIsOutKeepsNoJobActive(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"device_quarantine", "device_maintain"} {
		t.Run(command, func(t *testing.T) {
			r := newRig(t)
			r.report("PC-01", named("d", 2)...)
			r.exec(`select weir.`+command+`('d01', 'ann', 'broken glass', at => $1)`, r.now)
			first := r.submit("first", nil)
			second := r.submit("second", nil)
			r.done(r.claim("PC-01", 10)...)
			r.wait(time.Second)
			r.units(first, "1 missed 1 done")
			r.job(second, JobActive)
		})
	}
}

// A job waits for a paused PC as long as it lingers, and not longer, however often the
// pause is renewed.
func TestAPausedPCKeepsAJobForItsLinger(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("d", 2)...)
	r.report("PC-02", named("e", 1)...)
	first := r.submit("first", func(s *Spec) { s.Target = Target{Devices: []string{"d01"}} })
	second := r.submit("second", func(s *Spec) { s.Target = Target{Devices: []string{"e01"}} })
	for range 9 {
		r.job(first, JobActive)
		r.exec(`update weir.pcs set paused_until = $1 where node = (select id from weir.nodes where name = 'PC-01')`, r.now.Add(20*time.Second))
		r.wait(15 * time.Second)
	}
	r.units(first, "1 missed")
	r.job(second, JobActive)
	var cause string
	r.scan(&cause, `select cause from weir.fleet_units where job = $1`, first)
	if !strings.Contains(cause, "PC-01 paused until") {
		t.Errorf("cause: %s", cause)
	}
}

// A job does not wait at all for what comes later than it lingers.
func TestAJobDoesNotWaitForWhatComesTooLate(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("d", 1)...)
	id := r.submit("job", nil)
	r.exec(`update weir.nodes set mode = 'draining', mode_until = $1`, r.now.Add(time.Hour))
	r.wait(time.Second)
	r.units(id, "1 missed")
}

// pauses returns how often a PC was paused.
func (r *rig) pauses() int {
	r.Helper()
	return r.count(`select count(*) from weir.events where kind = 'pc' and type = 'paused'`)
}

// A device that is out of the schedule says nothing about its PC when it goes away.
func TestDevicesOutOfTheScheduleTakeNoPartInADropOut(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"device_quarantine", "device_maintain", "device_retire"} {
		t.Run(command, func(t *testing.T) {
			r := newRig(t)
			all := named("d", 6)
			r.report("PC-01", all...)
			r.exec(`select weir.`+command+`('d01', 'ann', 'cable', at => $1), weir.`+command+`('d02', 'ann', 'cable', at => $1)`, r.now)
			r.report("PC-01", all[2:]...)
			r.want("pauses", r.pauses(), 0)
			// One that works and goes with them is one.
			r.report("PC-01", all[3:]...)
			r.want("pauses", r.pauses(), 0)
			r.report("PC-01", all[4:]...)
			r.want("pauses when two that work are lost", r.pauses(), 1)
		})
	}
}

// A drop-out counts losses: devices that come and go are no new ones, so their PC is
// paused once, and for 2 minutes.
func TestADropOutCountsLosses(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	all := named("d", 6)
	r.report("PC-01", all...)
	began := r.now
	for i := range 60 {
		r.now = r.now.Add(5 * time.Second)
		r.report("PC-01", all[2*((i+1)%2):]...)
		r.tend()
	}
	r.want("pauses", r.pauses(), 1)
	if paused := r.count(`select extract(epoch from paused_until - $1)::int from weir.pcs`, began); paused > 125 {
		t.Errorf("paused until %d s after the first loss", paused)
	}
	// What goes away after ten quiet minutes is news again.
	r.report("PC-01", all...)
	r.wait(11 * time.Minute)
	r.report("PC-01", all[2:]...)
	r.want("pauses", r.pauses(), 2)
}

// A PC is paused three times in an hour at most, whatever it loses, and a pause is not
// prolonged.
func TestPausesAreCapped(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	all := named("d", 10)
	r.report("PC-01", all...)
	without := func(from int) []node.Device {
		return append(append([]node.Device{}, all[:from]...), all[from+2:]...)
	}
	for i := range 5 {
		r.report("PC-01", without(2*i)...)
		r.wait(time.Minute)
		r.report("PC-01", all...)
		r.wait(4 * time.Minute)
	}
	r.want("pauses", r.pauses(), 3)
	r.wait(time.Hour)
	r.report("PC-01", without(0)...)
	r.want("pauses in the next hour", r.pauses(), 4)
	var until, still time.Time
	r.scan(&until, `select paused_until from weir.pcs`)
	r.now = r.now.Add(time.Minute)
	r.report("PC-01", all[4:]...)
	r.scan(&still, `select paused_until from weir.pcs`)
	r.want("the pause", still, until)
}

// Flaps are counted and make a device suspect. A success says nothing about the cable;
// one after the hour clears the suspicion.
func TestFlaps(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	all := named("d", 12)
	r.report("PC-01", all...)
	flap := func(n int) {
		for range n {
			r.report("PC-01", all[1:]...)
			r.now = r.now.Add(5 * time.Second)
			r.report("PC-01", all...)
			r.now = r.now.Add(5 * time.Second)
		}
	}
	flap(4)
	r.want("flaps", r.health("d01", HealthUnknown).Flaps, 4)
	flap(1)
	d := r.health("d01", HealthSuspect)
	if d.Flaps != 5 || !strings.Contains(d.HealthNote, "it went away 5 times since") || !d.Eligible {
		t.Fatalf("%+v", d)
	}
	r.submit("one", func(s *Spec) { s.Target = Target{Devices: []string{"d01"}} })
	r.done(r.claim("PC-01", 1)...)
	r.health("d01", HealthSuspect)
	flap(5)
	r.want("told once", r.count(`select count(*) from weir.events where kind = 'device' and type = 'suspect'`), 1)
	r.wait(time.Hour)
	r.submit("two", func(s *Spec) { s.Target = Target{Devices: []string{"d01"}} })
	r.done(r.claim("PC-01", 1)...)
	r.health("d01", HealthGood)
	// What is lost with the PC, or with the hub, is no flap of a device.
	for i := range 6 {
		r.report("PC-01", all[6:]...)
		r.report("PC-01", all...)
		if i == 0 {
			r.want("flaps of a lost hub", r.count(`select max(flaps) from weir.devices where serial between 'd02' and 'd06'`), 0)
		}
		r.silence(time.Minute)
		r.report("PC-01", all...)
		r.wait(15 * time.Minute)
	}
	r.want("suspects", r.count(`select count(*) from weir.devices where health = 'suspect'`), 0)
}
