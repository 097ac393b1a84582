package remote_test

import (
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/fleet"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/problem"
)

// Through a server fleets are what they are on the database.
func TestFleetsAreTheSame(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	far := r.as(auth.Admin).Fleets()
	ctx := t.Context()
	if _, err := r.db.Pool.Exec(ctx, `select weir.fleet_report('PC-01', '[{"serial": "A1", "labels": {"a": "b=c"}}, {"serial": "B2"}, {"serial": "C3"}]', 2)`); err != nil {
		t.Fatal(err)
	}
	none, breaker := node.Span(0), 0
	spec := fleet.Spec{
		Name: "nightly", Run: node.Run{Argv: []string{"x", "y"}, Env: map[string]string{"A": "b"}, InfraOn: []int{7}}, Params: map[string]any{"n": 1.5}, Target: fleet.Target{All: true, Devices: []string{"A1", "B2"}},
		Repeat: 2, Attempts: 4, Timeout: node.Span(90 * time.Second), Backoff: &none, Infra: &fleet.Infra{Attempts: 2, Exit: []int{7}, Place: "other_device"}, Join: "running", Breaker: &breaker, Linger: &none, Priority: 3,
	}
	job := must[fleet.Job](t)
	made := job(far.Submit(ctx, "ignored", spec, "once"))
	if again := job(far.Submit(ctx, "", spec, "once")); again.ID != made.ID || made.Existed || !again.Existed {
		t.Errorf("made twice: %s and %s", made.ID, again.ID)
	}
	if p := problem.Explain(failure(far.Rerun(ctx, "", made.ID, "", ""))); p.Kind != problem.Conflict {
		t.Errorf("what has not ended is run again: %v", p)
	}
	if again := job(far.Rerun(ctx, "", made.ID, fleet.RerunAll, "again")); again.ID == made.ID || again.State != fleet.JobWaiting || again.Spec == nil || plain(t, *again.Spec) != plain(t, spec) {
		t.Errorf("run again: %s", plain(t, again))
	}
	if made.By == "ignored" || made.Spec == nil || plain(t, *made.Spec) != plain(t, spec) {
		t.Errorf("it is %s, wanted %s", plain(t, made.Spec), plain(t, spec))
	}
	did := must[bool](t)
	for name, changed := range map[string]bool{
		"maintain": did(far.Maintain(ctx, "", "A1", "battery")), "release": did(far.Release(ctx, "", "A1", "done")), "quarantine": did(far.Quarantine(ctx, "", "B2", "screen")),
		"retire": did(far.Retire(ctx, "", "C3", "sold")), "slots": did(far.SetSlots(ctx, "", "PC-01", new(1))),
	} {
		if !changed {
			t.Errorf("%s changed nothing", name)
		}
	}
	if first, again := did(far.Maintain(ctx, "", "A1", "x")), did(far.Maintain(ctx, "", "A1", "x")); !first || again || did(far.SetSlots(ctx, "", "PC-01", new(1))) {
		t.Error("the same again changed something")
	}
	evidence := fleet.PolicyEvidence
	must[fleet.Policy](t)(far.SetPolicy(ctx, "", fleet.PolicyChange{Policy: &evidence, Health: &fleet.HealthTask{Run: node.Run{Argv: []string{"ok"}}, Timeout: node.Span(time.Minute)}}))
	compareFleets(t, r.fleets, far, made.ID)
	if p := must[fleet.Policy](t)(far.SetPolicy(ctx, "", fleet.PolicyChange{NoHealth: true})); p.Health != nil || p.Policy != evidence {
		t.Errorf("the policy is %+v", p)
	}
	did(far.SetSlots(ctx, "", "PC-01", nil))
	if c := must[fleet.Canceled](t)(far.Cancel(ctx, "", made.ID, "enough")); c.Canceled != 4 {
		t.Errorf("canceled: %+v", c)
	}
	for name, err := range map[string]error{"device": failure(far.Device(ctx, "ghost")), "pc": failure(far.PC(ctx, "ghost")), "job": failure(far.Job(ctx, weir.ID{1}))} {
		if p := problem.Explain(err); err == nil || p.Kind != problem.NotFound || p.Next == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func failure[T any](_ T, err error) error { return err }

// compareFleets reads everything both ways.
func compareFleets(t *testing.T, near, far app.Fleets, id weir.ID) {
	t.Helper()
	ctx, yes := t.Context(), true
	for name, read := range map[string]func(app.Fleets) (any, error){
		"jobs": func(s app.Fleets) (any, error) {
			return s.Jobs(ctx, fleet.JobFilter{State: "active", Search: "night"}, view.Page{Limit: 1})
		},
		"none": func(s app.Fleets) (any, error) { return s.Jobs(ctx, fleet.JobFilter{State: "done"}, view.Page{}) },
		"job":  func(s app.Fleets) (any, error) { return s.Job(ctx, id) },
		"units": func(s app.Fleets) (any, error) {
			return s.Units(ctx, id, fleet.UnitFilter{}, view.Page{Limit: 2, After: "1"})
		},
		"some units": func(s app.Fleets) (any, error) {
			return s.Units(ctx, id, fleet.UnitFilter{State: "waiting", Device: "A1", PC: "PC-01"}, view.Page{})
		},
		"why": func(s app.Fleets) (any, error) { return s.Why(ctx, id, 2) },
		"devices": func(s app.Fleets) (any, error) {
			return s.Devices(ctx, fleet.DeviceFilter{PC: "PC-01", Health: "maintenance", Online: &yes, Labels: map[string]string{"a": "b=c"}, Search: "a"}, view.Page{})
		},
		"device page": func(s app.Fleets) (any, error) {
			return s.Devices(ctx, fleet.DeviceFilter{}, view.Page{Limit: 1, After: "A1"})
		},
		"device":       func(s app.Fleets) (any, error) { return s.Device(ctx, "B2") },
		"device log":   func(s app.Fleets) (any, error) { return s.DeviceLog(ctx, "A1", 2) },
		"device units": func(s app.Fleets) (any, error) { return s.DeviceUnits(ctx, "A1", 1) },
		"pcs":          func(s app.Fleets) (any, error) { return s.PCs(ctx) },
		"pc":           func(s app.Fleets) (any, error) { return s.PC(ctx, "PC-01") },
		"slots":        func(s app.Fleets) (any, error) { return s.Slots(ctx, "") },
		"slots of one": func(s app.Fleets) (any, error) { return s.Slots(ctx, "PC-01") },
		"policy":       func(s app.Fleets) (any, error) { return s.Policy(ctx) },
	} {
		a, err := read(near)
		if err != nil {
			t.Errorf("%s on the database: %v", name, err)
			continue
		}
		b, err := read(far)
		if err != nil {
			t.Errorf("%s through the server: %v", name, err)
			continue
		}
		if x, y := plain(t, a), plain(t, b); x != y && !(x == "null" && y == "[]") {
			t.Errorf("%s differs: %s\nand %s", name, x, y)
		}
	}
}
