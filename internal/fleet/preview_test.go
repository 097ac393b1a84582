package fleet

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/problem"
)

// A preview says which devices a job would take, which not and why, and what comes first;
// it changes nothing, and refuses what Submit refuses.
func TestPreview(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.now = r.now.Add(-5 * time.Minute)
	r.report("pc2", named("b", 2)...)
	r.now = r.now.Add(5 * time.Minute)
	red := named("a", 5)
	for i := range red[:4] {
		red[i].Labels = map[string]string{"tag": "red", "model": "x"}
	}
	r.report("pc1", red...)
	for serial, do := range map[string]string{"a03": "device_quarantine", "b02": "device_retire"} {
		r.exec(`select weir.`+do+`($1, 'ann', 'smokes')`, serial)
	}
	first := r.submit("first", func(s *Spec) { s.Target = Target{Devices: []string{"a01"}} })
	r.want("a lease", serials(r.claim("pc1", 5)), "a01")
	r.submit("second", func(s *Spec) { s.Priority = 5 })
	events := r.count(`select count(*) from weir.events`)

	see := func(change func(*Spec)) Preview {
		t.Helper()
		p, err := r.store.Preview(t.Context(), r.spec(change), 2)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	p := see(func(s *Spec) { s.Repeat = 3 })
	r.want("all", fmt.Sprint(p.Fleet, p.Devices, p.Runs, p.Ready, p.Busy, p.Out, p.Ahead), "6 6 18 3 1 2 2")
	r.want("takes", fmt.Sprint(p.Takes), "[{a01 pc1 busy {busy map[]}  <nil>} {a02 pc1  { map[]}  <nil>}]")
	r.want("misses", len(p.Misses), 2)
	r.want("the first that it misses", p.Misses[0].Device+" "+p.Misses[0].Why[:17], "a03 quarantined since")
	r.want("the second", p.Misses[1].Device+" "+p.Misses[1].Why[:17], "b01 pc2 offline since")
	p = see(func(s *Spec) {
		s.Target, s.Any, s.Repeat, s.Priority = Target{Tag: "red", Labels: map[string]string{"model": "x"}}, 10, 2, 6
	})
	r.want("some", fmt.Sprint(p.Fleet, p.Devices, p.Runs, p.Ready, p.Busy, p.Out, p.Ahead), "6 4 20 2 1 1 1")
	p = see(func(s *Spec) { s.Target = Target{Tag: "blue"} })
	r.want("none", fmt.Sprint(p.Devices, p.Runs, len(p.Takes), len(p.Misses)), "0 0 0 0")
	r.want("events", r.count(`select count(*) from weir.events`), events)

	_, err := r.store.Preview(t.Context(), r.spec(func(s *Spec) { s.Target = Target{Devices: []string{"nowhere"}} }), 2)
	r.refused(problem.Invalid, err)
	_, err = r.store.Preview(t.Context(), r.spec(func(s *Spec) { s.Run = node.Run{} }), 2)
	r.refused(problem.Invalid, err)
	r.job(first, JobActive)
}

// The counts of what a job waits for use the words of why.
func TestWaits(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.now = r.now.Add(-5 * time.Minute)
	r.report("pc2", named("b", 3)...)
	r.now = r.now.Add(5 * time.Minute)
	r.report("pc1", named("a", 6)...)
	r.exec(`update weir.pcs set slots = 3`)
	r.exec(`select weir.device_quarantine('a04', 'ann', 'smokes')`)
	r.exec(`select weir.device_maintain('a05', 'ann', 'battery')`)
	id := r.submit("job", func(s *Spec) { s.Repeat, s.Backoff = 2, new(node.Span(time.Hour)) })
	list := r.claim("pc1", 3)
	r.fail(of(list, "a01"))
	waits, err := r.store.Waits(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	// The first round of a01 is to be retried, the second waits; a02 and a03 are busy
	// with the first.
	want := map[string]int{HealthQuarantined: 2, HealthMaintenance: 2, WaitPC: 6, WaitBusy: 2, WaitRetrying: 1, WaitTurn: 3}
	if !reflect.DeepEqual(waits, want) {
		t.Errorf("%v, want %v", waits, want)
	}
	why, err := r.store.Why(t.Context(), id, 0)
	if err != nil || len(why.Devices) != 16 {
		t.Errorf("%d reasons, %v", len(why.Devices), err)
	}
	for kind := range waits {
		if !slices.Contains(WaitKinds, kind) {
			t.Errorf("%s has no place", kind)
		}
	}
}

// Sum has what the PCs have together; a page has those that match, in order, and no PC
// twice.
func TestPCPages(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.now = r.now.Add(-5 * time.Minute)
	r.report("old", named("o", 2)...)
	r.now = r.now.Add(5 * time.Minute)
	for i := range 7 {
		r.report(fmt.Sprintf("pc-%d", i), named(fmt.Sprintf("d%d", i), 3)...)
	}
	r.exec(`update weir.pcs set slots = 2 where node = (select id from weir.nodes where name = 'pc-1')`)
	r.exec(`select weir.device_quarantine('d201', 'ann', 'smokes')`)
	r.exec(`select weir.device_retire('d301', 'ann', 'burnt')`)
	r.exec(`update weir.devices set missing_at = now() where serial = 'd401'`)
	r.exec(`insert into weir.devices (serial, online, online_at, health, health_at, registered_at) values ('loose', false, now(), 'unknown', now(), now())`)
	r.submit("job", nil)
	r.claim("pc-0", 3)
	r.claim("pc-1", 1)

	all, err := r.store.PCPage(t.Context(), PCFilter{}, page(1000))
	if err != nil {
		t.Fatal(err)
	}
	want := Sum{Devices: 1, WithoutPC: 1}
	for _, p := range all {
		want.PCs++
		if p.Why != "" {
			want.Still++
		}
		want.Running += p.Running
		want.Target += p.Target
		want.Eligible += p.Eligible
		want.Devices += p.Devices
		want.Online += p.Online
		want.Quarantined += p.Quarantined
	}
	if sum, err := r.store.Sum(t.Context()); err != nil || sum != want || sum.Still != 1 || sum.Running != 4 {
		t.Errorf("%+v, want %+v: %v", sum, want, err)
	}

	page := func(f PCFilter, after string) (names []string) {
		t.Helper()
		list, err := r.store.PCPage(t.Context(), f, view.Page{Limit: 3, After: after})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range list {
			names = append(names, p.Name)
			if i := slices.IndexFunc(all, func(x PC) bool { return x.Name == p.Name }); !reflect.DeepEqual(all[i], p) && p.Why == "" {
				t.Errorf("%+v on a page, %+v in the list", p, all[i])
			}
		}
		return names
	}
	r.want("the first page", page(PCFilter{}, ""), "[old pc-0 pc-1]")
	r.want("the last page", page(PCFilter{}, "pc-4"), "[pc-5 pc-6]")
	r.want("by name", page(PCFilter{Search: "C-3"}, ""), "[pc-3]")
	r.want("by health", page(PCFilter{Health: HealthQuarantined}, ""), "[pc-2]")
	r.want("trouble", page(PCFilter{Trouble: true}, ""), "[old pc-2 pc-4]")
	r.want("trouble with a name", page(PCFilter{Trouble: true, Search: "pc"}, "pc-2"), "[pc-4]")

	slots, err := r.store.SlotsOf(t.Context(), []string{"pc-1", "pc-2"})
	if err != nil || len(slots) != 1 || slots[0].PC != "pc-1" {
		t.Errorf("%+v, %v", slots, err)
	}
	devices, err := r.store.DevicesOf(t.Context(), []string{"", "pc-3", "pc-5"}, HealthUnknown, 2)
	if err != nil {
		t.Fatal(err)
	}
	var serials []string
	for _, d := range devices {
		serials = append(serials, d.Serial)
	}
	r.want("devices", serials, "[loose d302 d303 d501 d502]")
}

// The YAML of a job describes the same job.
func TestSpecYAML(t *testing.T) {
	none, wait := 0, node.Span(90*time.Second)
	spec := Spec{
		Name: "nightly: 1", Run: node.Run{Argv: []string{"./a", "b c", "yes", "1"}, Env: map[string]string{"A": "1"}}, Params: map[string]any{"n": 20000000.0, "on": true}, Target: Target{Devices: []string{"007", "1e3"}, Labels: map[string]string{"os": "15"}},
		Any: 3, Repeat: 2, Attempts: 5, Timeout: wait, Backoff: new(node.Span), Infra: &Infra{Attempts: 2, Exit: []int{69}, Place: PlaceOtherPC}, Join: JoinRunning, Breaker: &none, Linger: &wait, Priority: -1,
	}
	text, err := spec.YAML()
	if err != nil {
		t.Fatal(err)
	}
	read, err := ParseSpec(text)
	if err != nil || !reflect.DeepEqual(read, spec) {
		t.Errorf("%v\n%s\n%+v", err, text, read)
	}
	if first := string(text[:5]); first != "name:" {
		t.Errorf("it begins with %q", first)
	}
}
