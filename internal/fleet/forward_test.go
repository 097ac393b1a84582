package fleet

import (
	"crypto/rand"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/problem"
)

// allow lets a PC allow ports.
func (r *rig) allow(pc, ports string) []ForwardOrder {
	r.Helper()
	orders, err := r.store.ForwardOrders(r.Context(), pc, ports)
	if err != nil {
		r.Fatal(err)
	}
	return orders
}

// forward asks for a forward.
func (r *rig) forward(who, serial string, port int, force bool) (id weir.ID, err error) {
	_, _ = rand.Read(id[:]) // never fails
	_, err = r.store.OpenForward(r.Context(), id, ForwardRequest{
		Serial: serial, Port: port, Force: force, Who: auth.Subject{Kind: auth.KindUser, ID: who, Name: who},
	})
	return id, err
}

func (r *rig) ends(id weir.ID, want string) {
	r.Helper()
	why, _, err := r.store.KeepForward(r.Context(), id)
	if err != nil || why != want {
		r.Errorf("the forward ends because of %q, and not %q: %v", why, want, err)
	}
}

// F11: a forward is refused where it could disturb a run, and where its PC does not allow it.
func TestF11AForwardIsForTheHolder(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("d", 2)...)
	refused := func(who string, port int, says string) {
		t.Helper()
		_, err := r.forward(who, "d01", port, false)
		if p := r.refused(problem.Conflict, err); !strings.Contains(p.What, says) {
			t.Errorf("%s, port %d: %s", who, port, p.What)
		}
	}
	refused("ann", 5555, "allows no forwards")
	r.allow("PC-01", "5555,8000-8010")
	refused("ann", 8011, "no forward to port 8011")
	_, err := r.forward("ann", "d01", 0, false)
	if p := r.refused(invalid, err); p.Field != "port" {
		t.Errorf("%+v", p)
	}
	refused("ann", 5555, "not reserved by you")
	r.submit("job", nil)
	runs := r.claim("PC-01", 1)
	r.reserve("d01", "ann", time.Hour)
	refused("ann", 5555, "a run on device d01 goes on")
	r.done(runs...)
	refused("bob", 5555, "reserved by ann")
	id, err := r.forward("ann", "d01", 8010, false)
	if err != nil {
		t.Fatal(err)
	}
	if got := r.allow("PC-01", "5555,8000-8010"); len(got) != 1 || got[0] != (ForwardOrder{id, "d01", 8010}) {
		t.Fatalf("%+v", got)
	}
	r.want("not another PC's", len(r.allow("PC-02", "5555")), 0)
}

// A forward ends with what it was given for.
func TestF11AForwardEnds(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("d", 3)...)
	r.allow("PC-01", "5555")
	open := func(who string, force bool) weir.ID {
		t.Helper()
		id, err := r.forward(who, "d01", 5555, force)
		if err == nil {
			err = r.store.JoinForward(t.Context(), id)
		}
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	ann := Holder{By: "ann", Name: "ann"}
	reserved := func(until time.Duration) {
		t.Helper()
		if _, err := r.store.Reserve(t.Context(), ann, "d01", "", time.Now().Add(until)); err != nil {
			t.Fatal(err)
		}
	}
	reserved(time.Hour)
	id := open("ann", false)
	r.want("it is taken up", len(r.allow("PC-01", "5555")), 0)
	r.ends(id, "")
	// The time is over before the pass that ends the reservation.
	r.exec(`update weir.devices set reserved_until = now() - interval '1 s' where serial = 'd01'`)
	r.ends(id, ForwardReservation)
	reserved(2 * time.Hour)
	r.ends(id, "")
	if _, err := r.store.Release(t.Context(), Holder{By: "root", Others: true}, "d01", ""); err != nil {
		t.Fatal(err)
	}
	r.ends(id, ForwardReservation)
	forced := open("root", true)
	r.ends(forced, "")
	if _, err := r.store.Maintain(t.Context(), "ann", "d01", "battery", time.Time{}); err != nil {
		t.Fatal(err)
	}
	repair := open("bob", false)
	r.ends(repair, "")
	r.exec(`update weir.pcs set left_at = now()`)
	r.ends(repair, ForwardAgent)
	if err := r.store.EndForward(t.Context(), repair, ForwardAgent, 7, 9); err != nil {
		t.Fatal(err)
	}
	r.ends(repair, ForwardGone)
	log, err := r.store.DeviceLog(t.Context(), "d01", 1)
	if err != nil || log[0].Type != "unforwarded" || log[0].By != "bob" {
		t.Fatalf("%+v %v", log, err)
	}
	// A server that died says nothing of its forwards.
	r.exec(`update weir.forwards set seen_at = now() - interval '2 min' where id = $1`, forced)
	r.exec(`select weir.fleet_tidy()`)
	r.ends(forced, ForwardGone)
	r.ends(id, ForwardAgent)
}

// Only the agent of the PC refuses a forward.
func TestAForwardIsRefusedByItsPC(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("d", 1)...)
	r.report("PC-02", named("e", 1)...)
	r.allow("PC-01", "5555")
	id, err := r.forward("root", "d01", 5555, true)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.store.RefuseForward(t.Context(), id, "PC-02", "not that one"); err != nil {
		t.Fatal(err)
	}
	if _, refused, err := r.store.KeepForward(t.Context(), id); err != nil || refused != "" {
		t.Errorf("another PC refuses it: %q %v", refused, err)
	}
	if err := r.store.RefuseForward(t.Context(), id, "PC-01", "not that one"); err != nil {
		t.Fatal(err)
	}
	if _, refused, err := r.store.KeepForward(t.Context(), id); err != nil || refused != "not that one" {
		t.Errorf("%q %v", refused, err)
	}
	r.want("it waits no more", len(r.allow("PC-01", "5555")), 0)
	for _, ports := range []string{"x", "0", "70000", "9-8", "5555,"} {
		if _, err := r.store.ForwardOrders(t.Context(), "PC-01", ports); err == nil {
			t.Errorf("%q is taken for ports", ports)
		}
	}
}
