package fleet

import (
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/node"
)

func TestDebounce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	all := named("d", 20)
	r.report("PC-01", all...)
	r.submit("flap", nil)
	list := r.claim("PC-01", 100)
	r.report("PC-01", all[1:]...)
	d := r.health("d01", HealthUnknown)
	if !d.Online || d.MissingAt == nil || d.Eligible {
		t.Fatalf("missing, not offline: %+v", d)
	}
	r.wait(20 * time.Second)
	r.report("PC-01", all...)
	if d = r.health("d01", HealthUnknown); !d.Online || d.MissingAt != nil {
		t.Fatalf("it was never away: %+v", d)
	}
	r.want("its run goes on", r.count(`select count(*) from weir.running`), 20)

	// A single device that stays away is offline, and its run counts as broken by the
	// infrastructure.
	r.now = r.now.Add(time.Second)
	r.report("PC-01", all[1:]...)
	r.exec(`update weir.running set until = until + interval '1 h'`)
	r.wait(31 * time.Second)
	if d = r.health("d01", HealthUnknown); d.Online {
		t.Fatalf("offline: %+v", d)
	}
	r.want("its lease", r.count(`select count(*) from weir.running r join weir.devices d on d.id = r.device where d.serial = 'd01'`), 0)
	r.want("no attempt is spent", r.count(`select returns from weir.forgiven where task = $1`, of(list, "d01").Task), 1)
	r.answer("lease_lost", `select weir.finish($1, $2, $3, at => $4)`, of(list, "d01").Task, 1, of(list, "d01").Token, r.now)
	r.want("infra", r.count(`select infra from weir.fleet_units where task = $1`, of(list, "d01").Task), 1)
	// It comes back and gets another attempt.
	r.report("PC-01", all...)
	r.wait(time.Minute)
	r.exec(`update weir.running set until = until + interval '1 h'`)
	again := of(r.claim("PC-01", 100), "d01")
	r.want("attempt", again.Attempt, 2)
}

func TestHubLost(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	all := named("d", 35)
	for i := range all {
		all[i].Hub = "hub-a"
		if i < 7 {
			all[i].Hub = "hub-b"
		}
	}
	r.report("PC-01", all...)
	thirty := 35
	if _, err := r.store.SetSlots(t.Context(), "ann", "PC-01", &thirty); err != nil {
		t.Fatal(err)
	}
	id := r.submit("hub", nil)
	list := r.claim("PC-01", 100)
	r.want("running", len(list), 35)
	stop := r.report("PC-01", all[7:]...)
	r.want("told to stop", strings.Join(stop, " "), "d01 d02 d03 d04 d05 d06 d07")
	r.answer("lease_lost", `select weir.fail($1, $2, $3, 'adb: device not found', at => $4)`, of(list, "d01").Task, 1, of(list, "d01").Token, r.now)
	r.units(id, "28 running 7 retrying")
	r.done(of(list, "d20"))
	pc, err := r.store.PC(t.Context(), "PC-01")
	if err != nil || pc.State != PCPaused || !strings.Contains(pc.Why, "lost 7 of 35 devices at once") {
		t.Fatalf("%+v %v", pc, err)
	}
	r.want("a paused PC gets nothing", len(r.claim("PC-01", 100)), 0)
	r.exec(`update weir.running set until = until + interval '1 h'`)
	r.wait(40 * time.Second)
	r.want("offline", r.count(`select count(*) from weir.devices where not online`), 7)
	r.want("nobody is punished", r.count(`select count(*) from weir.devices where health not in ('unknown', 'good')`), 0)
	r.report("PC-01", all...)
	r.wait(2 * time.Minute)
	again := r.claim("PC-01", 100)
	r.want("all seven again", serials(again), "d01 d02 d03 d04 d05 d06 d07")
	for _, l := range again {
		r.want("attempt "+l.Serial, l.Attempt, 2)
		// A failure now is the first that counts: two more are left.
		r.want("forgiven", r.count(`select returns from weir.forgiven where task = $1`, l.Task), 1)
	}
}

func TestDeadPC(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("a", 25)...)
	r.report("PC-02", named("b", 3)...)
	id := r.submit("dead", nil)
	held := r.claim("PC-01", 100)
	r.want("running", len(held), 20)
	delete(r.seen, "PC-01")
	for range 4 {
		r.wait(15 * time.Second)
	}
	r.want("all back within 60 s", r.count(`select count(*) from weir.running`), 0)
	r.want("its devices", r.count(`select count(*) from weir.devices where serial like 'a%' and online`), 0)
	r.want("one event", r.count(`select count(*) from weir.events where kind = 'pc' and type = 'lost'`), 1)
	r.answer("lease_lost", `select weir.finish($1, $2, $3, at => $4)`, held[0].Task, 1, held[0].Token, r.now)
	r.want("the late report is recorded", r.count(`select count(*) from weir.events where task = $1 and type = 'stale'`, held[0].Task), 1)
	// The other PCs continue, and so does this PC when it is back.
	r.done(r.claim("PC-02", 100)...)
	r.wait(10 * time.Second)
	r.report("PC-01", named("a", 25)...)
	again := r.claim("PC-01", 100)
	r.want("again", serials(again), serials(held))
	r.done(again...)
	r.done(r.claim("PC-01", 100)...)
	r.job(id, JobDone)
}

// If a PC is lost three times with the same run, the task is given up, and the device is
// not to blame.
func TestPoison(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("a", 1)...)
	id := r.submit("poison", nil)
	for range 3 {
		r.want("a claim", len(r.claim("PC-01", 1)), 1)
		r.silence(time.Minute)
		r.report("PC-01", r.seen["PC-01"]...)
	}
	r.units(id, "1 failed")
	r.job(id, JobFailed)
	r.health("a01", HealthUnknown)
}

func TestMissed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("a", 2)...)
	r.report("PC-02", named("b", 2)...)
	delete(r.seen, "PC-02")
	r.silence(50 * time.Second)
	r.report("PC-01", r.seen["PC-01"]...)
	a := r.submit("missed", nil)
	b := r.submit("next", nil)
	r.tend()
	list := r.claim("PC-01", 100)
	r.done(list[0])
	r.wait(time.Minute)
	r.units(a, "1 retrying 2 waiting 1 done")
	list = r.claim("PC-01", 100)
	r.done(list...)
	r.wait(time.Second)
	// PC-02 was lost before the job became active: the job waits 2m from its activation.
	j := r.job(a, JobActive)
	if j.LingersAt == nil || j.MissedAt == nil || !j.MissedAt.Equal(j.ActivatedAt.Add(2*time.Minute)) {
		t.Fatalf("it lingers: %+v", j)
	}
	w, err := r.store.Why(t.Context(), a, 0)
	if err != nil || len(w.Devices) != 2 || !strings.Contains(w.Summary, "no device can serve the rest") {
		t.Fatalf("%+v %v", w, err)
	}
	r.wait(58 * time.Second)
	r.job(a, JobActive)
	r.wait(2 * time.Second)
	r.units(a, "2 missed 2 done")
	j = r.job(a, JobDone)
	r.want("missed", j.Counts.Missed, 2)
	r.job(b, JobActive)
	list2, err := r.store.Units(t.Context(), a, UnitFilter{State: UnitMissed}, page(10))
	if err != nil || len(list2) != 2 || !strings.HasPrefix(list2[0].Cause, "PC-02 offline since") {
		t.Fatalf("%+v %v", list2, err)
	}
}

func TestRetryMissed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	all := named("a", 10)
	r.report("PC-01", all...)
	id := r.submit("gone", func(s *Spec) { s.Linger = new(node.Span) })
	list := r.claim("PC-01", 100)
	r.fail(of(list, "a01"))
	r.report("PC-01", all[1:]...)
	for _, l := range list {
		if l.Serial != "a01" {
			r.done(l)
		}
	}
	r.wait(time.Minute)
	r.units(id, "1 missed 9 done")
	r.job(id, JobDone)
	r.health("a01", HealthUnknown)
}

func TestMove(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("a", 10)...)
	r.report("PC-02", named("b", 1)...)
	id := r.submit("move", nil)
	held := of(r.claim("PC-01", 100), "a10")
	both := append(named("b", 1), node.Device{Serial: "a10", Target: "usb:2"})
	// Two PCs see one serial: it stays where it is, and an event reports the conflict.
	r.report("PC-02", both...)
	r.report("PC-02", both...)
	r.want("conflicts", r.count(`select count(*) from weir.events where kind = 'device' and subject = 'a10' and type = 'conflict'`), 1)
	r.want("its run goes on", r.count(`select count(*) from weir.running where task = $1`, held.Task), 1)
	r.report("PC-01", named("a", 9)...)
	r.report("PC-02", both...)
	r.answer("lease_lost", `select weir.finish($1, $2, $3, at => $4)`, held.Task, 1, held.Token, r.now)
	r.want("nobody is missing", r.count(`select count(*) from weir.devices where missing_at is not null`), 0)
	r.exec(`update weir.running set until = until + interval '1 h'`)
	r.wait(time.Minute)
	l := of(r.claim("PC-02", 100), "a10")
	r.want("the same task at the other PC", l.Task, held.Task)
	r.want("its address", l.Target, "usb:2")
	r.done(l)
	r.units(id, "10 running 1 done")
}

func TestReportIsRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, bad := range []string{`{}`, `[1]`, `[{}]`, `[{"serial": "-x"}]`, `[{"serial": "a"}, {"serial": "a"}]`, `[{"serial": "a", "labels": {"x": 1}}]`, `[{"serial": "a b"}]`} {
		_, err := r.db.Pool.Exec(t.Context(), `select weir.fleet_report('PC-01', $1)`, bad)
		if err == nil {
			t.Errorf("%s was taken", bad)
			continue
		}
		r.refused(invalid, err)
	}
	r.want("devices", r.count(`select count(*) from weir.devices`), 0)
}
