package fleet

import (
	"testing"
	"time"
)

// Work that could not be started is a fault of the PC or of the job: however often that
// happens, the device is not quarantined for it.
func TestADeviceIsNotBlamedForWhatItsPCCannotBegin(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		attempts     int
		infra, final bool
		tries        int
	}{
		"not this time":        {3, true, false, 3},
		"never, at once":       {3, false, true, 1},
		"never, only one try":  {1, false, true, 1},
		"only one, not begun":  {1, false, false, 1},
		"all of them, one why": {2, false, false, 2},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.report("PC-01", named("A", 1)...)
			id := r.submit("job", func(s *Spec) { s.Attempts = c.attempts })
			for range c.tries {
				l := of(r.claim("PC-01", 1), "A01")
				r.answer("ok", `select weir.fleet_fail($1, $2, $3, 'the program "test" is not in PATH', infra => $4, harmless => true, final => $5, at => $6)`,
					l.Task, l.Attempt, l.Token, c.infra, c.final, r.now)
				r.wait(10 * time.Minute)
			}
			r.job(id, JobFailed)
			r.health("A01", HealthUnknown)
		})
	}
}

// Later failures on the device count as usual.
func TestADeviceIsBlamedForWhatFailsOnItAfterThat(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.strict()
	r.report("PC-01", named("A", 1)...)
	r.submit("job", func(s *Spec) { s.Attempts = 2 })
	l := of(r.claim("PC-01", 1), "A01")
	r.answer("ok", `select weir.fleet_fail($1, $2, $3, 'no disk', harmless => true, at => $4)`, l.Task, l.Attempt, l.Token, r.now)
	r.wait(10 * time.Minute)
	r.fail(of(r.claim("PC-01", 1), "A01"))
	r.health("A01", HealthQuarantined)
}

// A health task that its PC cannot start says nothing about the device either.
func TestAHealthTaskThatCannotBegin(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.exec(`select weir.set_fleet_policy('{"health": {"run": {"argv": ["health"]}}}', at => $1)`, r.now)
	r.report("PC-01", named("A", 1)...)
	l := of(r.claim("PC-01", 1), "A01")
	r.answer("ok", `select weir.fleet_fail($1, $2, $3, 'the program "health" is not in PATH', harmless => true, final => true, at => $4)`, l.Task, l.Attempt, l.Token, r.now)
	r.health("A01", HealthUnknown)
}

// A PC that cannot look for its devices gets no work for them and reports why; what is
// known of the devices stays.
func TestABlindPC(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("A", 2)...)
	r.submit("job", nil)
	blind := func(want bool) {
		t.Helper()
		var changed bool
		r.scan(&changed, `select weir.fleet_trouble('PC-01', 'adb: exit code 7', true, at => $1)`, r.now)
		r.want("new", changed, want)
	}
	blind(true)
	blind(false)
	r.now = r.now.Add(31 * time.Second)
	blind(false)
	r.want("claimed by a blind PC", len(r.claim("PC-01", 10)), 0)
	// Other words at the next look are kept, and are no further event.
	r.exec(`select weir.fleet_trouble('PC-01', 'line 1: x8f2', true, at => $1)`, r.now)
	var says string
	r.scan(&says, `select trouble from weir.pcs`)
	r.want("says", says, "line 1: x8f2")
	var why string
	r.scan(&why, `select weir._sentence(weir._pc_reason(n, p, $1)) from weir.nodes n join weir.pcs p on p.node = n.id`, r.now)
	if want := "cannot see its devices since"; len(why) < len(want) || why[6:6+len(want)] != want {
		t.Errorf("why: %s", why)
	}
	r.want("online", r.count(`select count(*) from weir.devices where online`), 2)
	r.exec(`select weir.fleet_trouble('PC-01', at => $1)`, r.now)
	r.want("claimed when it sees again", len(r.claim("PC-01", 10)), 2)
	r.want("told", r.count(`select count(*) from weir.events where kind = 'pc' and type in ('blind', 'sees')`), 2)
}

// Jobs do not wait for a PC whose agent has stopped and reported it, until it is back.
func TestAPCThatLeft(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("A", 2)...)
	r.submit("job", nil)
	r.want("claimed", len(r.claim("PC-01", 1)), 1)
	r.exec(`select weir.stop_worker('PC-01', at => $1)`, r.now)
	r.want("left", r.count(`select count(*) from weir.pcs where left_at is not null`), 1)
	r.tend()
	r.want("online", r.count(`select count(*) from weir.devices where online`), 0)
	r.wait(time.Second)
	r.want("back", serials(r.claim("PC-01", 10)), "A01 A02")
}
