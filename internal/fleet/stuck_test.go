package fleet

import (
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/node"
)

// stateOf returns the state of a job, and its cause.
func (r *rig) stateOf(id any) string {
	r.Helper()
	var s string
	r.scan(&s, `select concat_ws(': ', state, cause) from weir.fleet_job where id = $1`, id)
	return s
}

func (r *rig) why(id any) string {
	r.Helper()
	var s string
	r.scan(&s, `select string_agg(concat_ws(' ', device, why), '; ') from weir.fleet_why($1, at => $2)`, id, r.now)
	return s
}

// A PC that may run nothing until a person gives it slots keeps no job active.
func TestAPCWithoutSlotsIsNoReasonToWait(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("A", 2)...)
	r.report("PC-02", named("B", 1)...)
	first := r.submit("first", func(s *Spec) { s.Target = Target{Devices: []string{"A01", "A02"}} })
	second := r.submit("second", nil)
	r.exec(`select weir.set_slots('PC-01', 0, at => $1)`, r.now)
	r.want("slots", len(r.claim("PC-01", 10)), 0)
	if why := r.why(first); !strings.Contains(why, "A01 PC-01 has no slots") {
		t.Errorf("why: %s", why)
	}
	r.wait(time.Second)
	r.want("the first", r.stateOf(first), "failed: no device could serve it")
	r.want("the second", r.stateOf(second), "active")
}

// A job of which nothing has run is no success.
func TestAJobThatNobodyServedHasFailed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("A", 2)...)
	all := r.submit("all away", func(s *Spec) { s.Linger = new(node.Span(0)) })
	r.exec(`select weir.device_maintain('A01', 'ann', 'new battery', at => $1), weir.device_maintain('A02', 'ann', 'new battery', at => $1)`, r.now)
	r.wait(time.Second)
	r.wait(time.Second)
	r.want("all missed", r.stateOf(all), "failed: no device could serve it")
	if why := r.why(all); !strings.Contains(why, "failed: 2 missed") || !strings.Contains(why, "A01 missed: maintenance since") {
		t.Errorf("why: %s", why)
	}
	r.exec(`select weir.device_release('A01', 'ann', 'charged', at => $1)`, r.now)
	some := r.submit("one away", func(s *Spec) { s.Linger = new(node.Span(0)) })
	r.done(r.claim("PC-01", 10)...)
	r.wait(time.Second)
	r.wait(time.Second)
	r.want("one missed", r.stateOf(some), "done")
}

// An operator who has taken care of a PC need not wait for the end of its pause.
func TestActivatingAPCEndsItsPause(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("A", 10)...)
	r.submit("job", nil)
	r.report("PC-01", named("A", 2)...)
	r.want("paused", len(r.claim("PC-01", 10)), 0)
	r.report("PC-01", named("A", 10)...)
	r.want("still paused", len(r.claim("PC-01", 10)), 0)
	r.exec(`select weir.set_node_mode('PC-01', 'active', by => 'ann', at => $1)`, r.now)
	r.want("after that", len(r.claim("PC-01", 10)), 10)
}

// A device that was retired by mistake comes back.
func TestARetiredDeviceComesBack(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("A", 1)...)
	r.exec(`select weir.device_retire('A01', 'ann', 'sold', at => $1)`, r.now)
	r.submit("first", func(s *Spec) { s.Linger = new(node.Span(0)) })
	r.want("retired", len(r.claim("PC-01", 10)), 0)
	r.exec(`select weir.device_release('A01', 'ann', 'not sold', at => $1)`, r.now)
	r.wait(time.Second)
	r.submit("second", nil)
	r.want("back", serials(r.claim("PC-01", 10)), "A01")
}

// The one line of why is checked for each state of a job.
func TestWhyOfAJobInEveryState(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	none := r.submit("none", func(s *Spec) { s.Target = Target{Tag: "moon"} })
	if why := r.why(none); !strings.Contains(why, "no device matches its target") {
		t.Errorf("no device: %s", why)
	}
	r.report("PC-01", named("A", 1)...)
	bad := r.submit("bad", func(s *Spec) { s.Attempts, s.Breaker = 1, new(int) })
	r.fail(r.claim("PC-01", 1)...)
	if why := r.why(bad); !strings.HasPrefix(why, "failed: 1 failed; A01 failed: ") || !strings.Contains(why, "adb offline") {
		t.Errorf("failed: %s", why)
	}
	r.exec(`select weir.device_release('A01', 'ann', 'fine', at => $1)`, r.now)
	r.submit("first", nil)
	r.submit("second", nil)
	third := r.submit("third", nil)
	if why := r.why(third); !strings.Contains(why, "waits: first is active") || !strings.Contains(why, "1 fleet job comes first") {
		t.Errorf("waiting: %s", why)
	}
}
