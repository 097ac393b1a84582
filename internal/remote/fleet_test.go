package remote_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/fleet"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
)

// Fleets give the same results over a server as on the database.
func TestFleetsAreTheSame(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	far := r.as(auth.Admin)
	ctx := t.Context()
	if _, err := r.db.Pool.Exec(ctx, `select weir.fleet_report('PC-01', '[{"serial": "A1", "labels": {"a": "b=c"}}, {"serial": "B2"}, {"serial": "C3"}]', 2)`); err != nil {
		t.Fatal(err)
	}
	none, breaker := node.Span(0), 0
	spec := fleet.Spec{
		Name: "nightly", Run: node.Run{Argv: []string{"x", "y"}, Env: map[string]string{"A": "b"}, Timeout: node.Timeout{Start: node.Span(time.Minute)}, InfraOn: []int{7}}, Params: map[string]any{"n": 1.5}, Target: fleet.Target{All: true, Devices: []string{"A1", "B2"}},
		Repeat: 2, Attempts: 4, Timeout: node.Span(90 * time.Second), Backoff: &none, Infra: &fleet.Infra{Attempts: 2, Exit: []int{7}, Place: "other_device"}, Join: "running", Breaker: &breaker, Linger: &none, Priority: 3,
	}
	job := must[fleet.Job](t)
	create := &fleet.Creating{Keyed: op.Keyed{IdempotencyKey: "once"}, Body: fleet.CreateBody{Spec: spec}}
	made := job(fleet.Create.Call(ctx, far, create))
	if again := job(fleet.Create.Call(ctx, far, create)); again.ID != made.ID || made.Existed || !again.Existed {
		t.Errorf("made twice: %s and %s", made.ID, again.ID)
	}
	of := fleet.Named{Job: "nightly"}
	if p := problem.Explain(failure(fleet.Rerun.Call(ctx, far, &fleet.Repeating{Named: of}))); p.Kind != problem.Conflict {
		t.Errorf("what has not ended is run again: %v", p)
	}
	repeat := &fleet.Repeating{Named: of, Keyed: op.Keyed{IdempotencyKey: "again"}, Body: &fleet.RerunBody{Which: fleet.RerunAll}}
	if again := job(fleet.Rerun.Call(ctx, far, repeat)); again.ID == made.ID || again.State != fleet.JobWaiting || again.Spec == nil || plain(t, *again.Spec) != plain(t, spec) {
		t.Errorf("run again: %s", plain(t, again))
	}
	if p := problem.Explain(failure(fleet.Show.Call(ctx, far, &of))); p.Field != "job" {
		t.Errorf("two are called so: %v", p)
	}
	if of.Job = made.ID.String(); made.Spec == nil || plain(t, *made.Spec) != plain(t, spec) {
		t.Errorf("it is %s, wanted %s", plain(t, made.Spec), plain(t, spec))
	}
	on := func(o *op.Op[*fleet.Store, fleet.DeviceDecision, fleet.DeviceChanged], serial string) bool {
		t.Helper()
		out := must[fleet.DeviceChanged](t)(o.Call(ctx, far, &fleet.DeviceDecision{NamedDevice: fleet.NamedDevice{Serial: serial}, Body: &op.DecisionBody{Reason: "x"}}))
		return out.Changed && out.Device.Serial == serial
	}
	maintain := func(serial string) bool {
		t.Helper()
		in := &fleet.DeviceMaintenance{NamedDevice: fleet.NamedDevice{Serial: serial}, Body: &fleet.MaintenanceBody{Reason: "x"}}
		out := must[fleet.DeviceChanged](t)(fleet.Maintain.Call(ctx, far, in))
		return out.Changed && out.Device.Serial == serial
	}
	slots := func(n *int) bool {
		t.Helper()
		in := &fleet.SettingSlots{NamedPC: fleet.NamedPC{PC: "PC-01"}}
		in.Body.Slots = n
		return must[fleet.PCChanged](t)(fleet.SetSlots.Call(ctx, far, in)).Changed
	}
	if !maintain("A1") || !on(fleet.Release, "A1") || !on(fleet.Quarantine, "B2") || !on(fleet.Retire, "C3") || !slots(new(1)) {
		t.Error("a command changed nothing")
	}
	if first, again := maintain("A1"), maintain("A1"); !first || again || slots(new(1)) {
		t.Error("the same again changed something")
	}
	evidence := fleet.PolicyEvidence
	change := func(c fleet.PolicyChange) fleet.Policy {
		t.Helper()
		return must[fleet.Policy](t)(fleet.ChangePolicy.Call(ctx, far, &fleet.Changing{Body: c}))
	}
	change(fleet.PolicyChange{Policy: &evidence, Health: json.RawMessage(`{"run": {"argv": ["ok"]}, "timeout": "1m"}`)})
	near := op.Local{Stores: []any{r.fleets}, Who: func(context.Context) auth.Subject { return auth.System("test") }}
	compareFleets(t, near, far, of)
	if p := change(fleet.PolicyChange{Health: fleet.NoHealth}); p.Health != nil || p.Policy != evidence {
		t.Errorf("the policy is %+v", p)
	}
	slots(nil)
	if c := must[fleet.Canceled](t)(fleet.Cancel.Call(ctx, far, &fleet.Decision{Named: of, Body: &op.DecisionBody{Reason: "enough"}})); c.Canceled != 4 || c.ID != made.ID {
		t.Errorf("canceled: %+v", c)
	}
	for name, err := range map[string]error{
		"device": failure(fleet.ShowDevice.Call(ctx, far, &fleet.NamedDevice{Serial: "ghost"})), "pc": failure(fleet.ShowPC.Call(ctx, far, &fleet.NamedPC{PC: "ghost"})),
		"job": failure(fleet.Show.Call(ctx, far, &fleet.Named{Job: weir.ID{1}.String()})),
	} {
		if p := problem.Explain(err); err == nil || p.Kind != problem.NotFound || p.Next == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func failure[T any](_ T, err error) error { return err }

// compareFleets reads everything both ways.
func compareFleets(t *testing.T, near, far op.Caller, of fleet.Named) {
	t.Helper()
	ctx := t.Context()
	device, pc := fleet.NamedDevice{Serial: "A1"}, &fleet.NamedPC{PC: "PC-01"}
	devices := func(c op.Caller, page op.Paged, f fleet.DeviceFilter) (any, error) {
		return fleet.ListDevices.Call(ctx, c, &fleet.ListingDevices{Paged: page, DeviceFilter: f})
	}
	jobs := func(c op.Caller, page op.Paged, f fleet.JobFilter) (any, error) {
		return fleet.List.Call(ctx, c, &fleet.Listing{Paged: page, JobFilter: f})
	}
	units := func(c op.Caller, page op.Paged, f fleet.UnitFilter) (any, error) {
		return fleet.ListUnits.Call(ctx, c, &fleet.ListingUnits{Named: of, Paged: page, UnitFilter: f})
	}
	for name, read := range map[string]func(op.Caller) (any, error){
		"jobs": func(c op.Caller) (any, error) {
			return jobs(c, op.Paged{Limit: 1}, fleet.JobFilter{State: "active", Search: "night"})
		},
		"none":  func(c op.Caller) (any, error) { return jobs(c, op.Paged{}, fleet.JobFilter{State: "done"}) },
		"job":   func(c op.Caller) (any, error) { return fleet.Show.Call(ctx, c, &of) },
		"units": func(c op.Caller) (any, error) { return units(c, op.Paged{Limit: 2, After: "1"}, fleet.UnitFilter{}) },
		"some units": func(c op.Caller) (any, error) {
			return units(c, op.Paged{}, fleet.UnitFilter{State: "waiting", Device: "A1", PC: "PC-01"})
		},
		"why": func(c op.Caller) (any, error) { return fleet.Explain.Call(ctx, c, &fleet.Asking{Named: of, Limit: 2}) },
		"devices": func(c op.Caller) (any, error) {
			return devices(c, op.Paged{}, fleet.DeviceFilter{PC: "PC-01", Health: "maintenance", Online: "true", Label: []string{"a=b=c"}, Search: "a"})
		},
		"device page": func(c op.Caller) (any, error) {
			return devices(c, op.Paged{Limit: 1, After: "A1"}, fleet.DeviceFilter{})
		},
		"device": func(c op.Caller) (any, error) { return fleet.ShowDevice.Call(ctx, c, &device) },
		"device log": func(c op.Caller) (any, error) {
			return fleet.ListDeviceLog.Call(ctx, c, &fleet.DevicePast{NamedDevice: device, Limit: 2})
		},
		"device units": func(c op.Caller) (any, error) {
			return fleet.ListDeviceUnits.Call(ctx, c, &fleet.DevicePast{NamedDevice: device, Limit: 1})
		},
		"pcs":          func(c op.Caller) (any, error) { return op.Each(ctx, c, fleet.ListPCs, fleet.ListingPCs{}) },
		"pc":           func(c op.Caller) (any, error) { return fleet.ShowPC.Call(ctx, c, pc) },
		"slots":        func(c op.Caller) (any, error) { return fleet.ListSlots.Call(ctx, c, &struct{}{}) },
		"slots of one": func(c op.Caller) (any, error) { return fleet.ListPCSlots.Call(ctx, c, pc) },
		"policy":       func(c op.Caller) (any, error) { return fleet.ShowPolicy.Call(ctx, c, &struct{}{}) },
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
		if x, y := plain(t, a), plain(t, b); x != y {
			t.Errorf("%s differs: %s\nand %s", name, x, y)
		}
	}
}
