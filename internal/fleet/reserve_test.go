package fleet

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/testdb"
)

func (r *rig) reserve(serial, by string, d time.Duration) bool {
	r.Helper()
	var changed bool
	r.scan(&changed, `select weir.device_reserve($1, $2, $3, 'a crash in the camera', at => $4)`, serial, r.now.Add(d), by, r.now)
	return changed
}

// A device that a person has gets no work until the end that he named; what runs on it
// ends as it would.
func TestReservation(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("d", 2)...)
	id := r.submit("job", func(s *Spec) { s.Attempts = 2; s.Linger = new(node.Span(0)) })
	runs := r.claim("PC-01", 1)
	r.want("reserved", r.reserve("d01", "ann", 2*time.Hour) && r.reserve("d02", "ann", 2*time.Hour), true)
	r.want("the same again", r.reserve("d01", "ann", 2*time.Hour), false)
	r.want("it is not given away", len(r.claim("PC-01", 10)), 0)
	d := r.health("d02", HealthUnknown)
	if d.ReservedBy != "ann" || d.Eligible || d.Reason.Code != "device_reserved" ||
		!strings.HasPrefix(d.Why, "reserved by ann until ") || !strings.HasSuffix(d.Why, ": a crash in the camera") {
		t.Fatalf("%+v %+v", d, d.Reason)
	}
	waits, err := r.store.Waits(t.Context(), id)
	if err != nil || waits[WaitReserved] != 1 {
		t.Fatalf("%v %v", waits, err)
	}
	r.want("a status of the device queue", r.count(`select count(*) from fleet.devices where status = 'busy'`), 2)
	// The retry of what ran waits, too: the person has the device.
	r.fail(runs...)
	r.wait(time.Minute)
	r.want("no retry", len(r.claim("PC-01", 10)), 0)
	r.job(id, JobFailed) // it does not wait hours for a person: both were missed
	next := r.submit("next", nil)
	r.wait(2 * time.Hour)
	r.want("both are back", serials(r.claim("PC-01", 10)), "d01 d02")
	if d := r.health("d01", HealthUnknown); d.ReservedBy != "" || d.ReservedUntil != nil {
		t.Fatalf("%+v", d)
	}
	r.job(next, JobActive)
	log, err := r.store.DeviceLog(t.Context(), "d02", 10)
	if err != nil || log[0].Type != "unreserved" || log[1].Type != "reserved" || log[1].By != "ann" {
		t.Fatalf("%+v %v", log, err)
	}
}

// The person who has a device gives it back, an admin takes it away, and others do
// neither.
func TestReservationIsOnesOwn(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ctx, s := t.Context(), r.store
	ann, bob := Holder{By: "ann (token ci)", Name: "ann"}, Holder{By: "bob", Name: "bob"}
	r.report("PC-01", named("d", 1)...)
	for until, next := range map[time.Time]string{
		{}: "give a time to come", time.Now().Add(-time.Minute): "give a time to come",
		time.Now().Add(31 * 24 * time.Hour): "give 30d or less, and reserve it again before it ends",
	} {
		_, err := s.Reserve(ctx, ann, "d01", "", until)
		if p := r.refused(invalid, err); p.Field != "until" || p.Next != next {
			t.Errorf("%+v", p)
		}
	}
	later := time.Now().Add(time.Hour)
	_, err := s.Reserve(ctx, ann, "none", "", later)
	r.refused(problem.NotFound, err)
	did := func(changed bool, err error) bool {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return changed
	}
	r.want("reserved", did(s.Reserve(ctx, ann, "d01", "", later)), true)
	r.want("for longer, by her page", did(s.Reserve(ctx, Holder{By: "ann", Name: "ann"}, "d01", "", later.Add(time.Hour))), true)
	_, err = s.Reserve(ctx, bob, "d01", "", later)
	if p := r.refused(problem.Conflict, err); !strings.Contains(p.What, "reserved by ann until") {
		t.Errorf("%+v", p)
	}
	_, err = s.Release(ctx, bob, "d01", "mine")
	r.refused(problem.Conflict, err)
	if d := r.health("d01", HealthUnknown); d.ReservedBy != "ann" {
		t.Fatalf("%+v", d)
	}
	// What puts a device out is the matter of all; the reservation stays.
	did(s.Quarantine(ctx, "bob", "d01", "it smells"))
	r.want("bob heals it", did(s.Release(ctx, bob, "d01", "aired")), true)
	if d := r.health("d01", HealthGood); d.ReservedBy != "ann" {
		t.Fatalf("%+v", d)
	}
	r.want("ann is done", did(s.Release(ctx, ann, "d01", "")), true)
	r.want("ann is done already", did(s.Release(ctx, ann, "d01", "done")), false)
	did(s.Reserve(ctx, ann, "d01", "", later))
	bob.Others = true
	r.want("an admin takes it away", did(s.Release(ctx, bob, "d01", "")), true)
	did(s.Retire(ctx, "bob", "d01", "sold"))
	_, err = s.Reserve(ctx, ann, "d01", "", later)
	r.refused(problem.Conflict, err)
}

func TestMaintenanceEnds(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.policy(PolicyChange{Health: json.RawMessage(`{"run": {"argv": ["./health"]}}`)})
	r.report("PC-01", named("d", 1)...)
	maintain := func(until any) (changed bool) {
		t.Helper()
		r.scan(&changed, `select weir.device_maintain('d01', 'ann', 'new battery', $1, $2)`, until, r.now)
		return changed
	}
	r.want("out", maintain(r.now.Add(2*time.Hour)), true)
	r.want("the same", maintain(r.now.Add(2*time.Hour)), false)
	if d := r.health("d01", HealthMaintenance); d.HealthUntil == nil || !strings.Contains(d.Why, " until ") {
		t.Fatalf("%+v", d)
	}
	_, err := r.store.Maintain(t.Context(), "ann", "d01", "again", time.Now().Add(-time.Second))
	r.refused(invalid, err)
	r.wait(time.Hour)
	r.health("d01", HealthMaintenance)
	r.want("without an end", maintain(nil), true)
	r.wait(2 * time.Hour)
	r.health("d01", HealthMaintenance)
	r.want("with one", maintain(r.now.Add(time.Hour)), true)
	r.wait(time.Hour)
	r.health("d01", HealthUnknown)
	r.want("its health task comes first", r.claim("PC-01", 10)[0].Key, "health d01")
}

// A reservation and a claim of the same device follow one another, whichever comes first.
func TestReservedUnderThePCsLock(t *testing.T) {
	t.Parallel()
	const reserve = `select weir.device_reserve('d01', {t} + interval '1 h', 'ann', at => {t})`
	const claim = `select weir.fleet_claim('PC-01', 'PC-01', 1, at => {t})`
	for _, o := range []testdb.Overlap{
		{Name: "reserved, claimed", First: reserve, Second: claim, Then: `select not exists (select from weir.running)`},
		{Name: "claimed, reserved", First: claim, Second: reserve, Then: `select exists (select from weir.running)
			and exists (select from weir.devices where reserved_by = 'ann')`},
	} {
		t.Run(o.Name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.report("PC-01", named("d", 1)...)
			r.claim("PC-01", 1) // its worker is known: a claim that registers one waits before it picks
			r.submit("job", nil)
			r.play(nil, o)
		})
	}
	t.Run("what is held comes later", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		r.report("PC-01", named("d", 2)...)
		for _, serial := range []string{"d01", "d02"} {
			r.reserve(serial, "ann", time.Minute)
			r.exec(`select weir.device_maintain($1, 'ann', 'x', $2, at => $3)`, serial, r.now.Add(time.Minute), r.now)
		}
		r.now = r.now.Add(time.Hour)
		tx, err := r.db.Pool.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer tx.Rollback(t.Context())
		if _, err := tx.Exec(t.Context(), `select from weir.devices where serial = 'd01' for update`); err != nil {
			t.Fatal(err)
		}
		r.exec(`set statement_timeout = '10s'; select weir._device_due(clock_timestamp() + interval '1 h'); reset statement_timeout`)
		r.want("the one that is free", r.count(`select count(*) from weir.devices where reserved_by is null and health = 'good'`), 1)
	})
}
