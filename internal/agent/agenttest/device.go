package agenttest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/agent"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/problem"
)

// phones returns n devices of a PC.
func phones(n int) (all []node.Device) {
	for i := range n {
		all = append(all, node.Device{Serial: fmt.Sprintf("R%02d", i+1), Target: fmt.Sprintf("10.0.0.%d:5555", i+1), Hub: "hub-1", Labels: map[string]string{"model": "x"}})
	}
	return all
}

// report reports the devices that are attached to the first node.
func (r *rig) report(devices []node.Device, slots int) []node.DeviceStop {
	r.Helper()
	orders, err := r.mine.Devices(r.Context(), node.DeviceReport{Devices: devices, Slots: slots})
	r.ok(err)
	return orders.Stop
}

// fleet submits a job for all devices.
func (r *rig) fleet(more string) weir.ID {
	r.Helper()
	id, err := weir.ParseID(r.text(`select weir.fleet_submit('warmup', '{"run": {"argv": ["warm", "{serial}"]}, "target": {"all": true}, "params": {"x": 1}, "backoff": "0 s"}'::jsonb || $1::jsonb)::text`, more))
	r.ok(err)
	return id
}

func (r *rig) onDevices(t agent.Transport, n int) []node.Assignment {
	r.Helper()
	got, err := t.Claim(r.Context(), node.ClaimRequest{ID: newID(), Services: []string{node.Fleet, "svc"}, Slots: []int{n, n}, N: n, Lease: 30 * time.Second})
	r.ok(err)
	return got.Tasks
}

func reportsDevices(r *rig) {
	all := phones(3)
	all[2].Target, all[2].Hub, all[2].Labels = "", "", nil
	r.report(all, 7)
	r.report(all, 0) // without a change
	const known = `select string_agg(concat_ws(' ', d.serial, d.target, d.hub, d.labels ->> 'model', n.name, p.reported_slots), ', ' order by d.serial)
		from weir.devices d join weir.nodes n on n.id = d.node join weir.pcs p on p.node = n.id where d.online`
	if got := r.text(known); got != "R01 10.0.0.1:5555 hub-1 x mine 7, R02 10.0.0.2:5555 hub-1 x mine 7, R03 mine 7" {
		r.Errorf("reported: %s", got)
	}
	// A device is known by its serial, whatever its address.
	all[0].Target = "10.9.9.9:5555"
	r.report(all, 7)
	if got := r.text(`select target from weir.devices where serial = 'R01'`); got != "10.9.9.9:5555" {
		r.Errorf("its address is %s", got)
	}
	r.exec(`select weir.set_slots('mine', 30, 'ann')`)
	if orders, err := r.mine.Devices(r.Context(), node.DeviceReport{Devices: all, Slots: 7}); err != nil || orders.Slots != 30 || len(orders.Stop) != 0 {
		r.Errorf("told %+v, %v", orders, err)
	}
	// A device that two PCs see at once stays with its PC; a device that its PC has lost
	// moves.
	for _, c := range []struct {
		lost int
		want string
	}{{0, "mine"}, {1, "other"}} {
		r.report(all[c.lost:], 7)
		_, err := r.other.Devices(r.Context(), node.DeviceReport{Devices: all[:1]})
		r.ok(err)
		if got := r.text(`select n.name from weir.devices d join weir.nodes n on n.id = d.node where serial = 'R01'`); got != c.want {
			r.Errorf("it is at %s, not %s", got, c.want)
		}
	}
	for what, bad := range map[string]node.DeviceReport{
		"a serial that is none": {Devices: []node.Device{{Serial: "R01"}, {Serial: "-rf /"}}},
		"one twice":             {Devices: []node.Device{{Serial: "R01"}, {Serial: "R01"}}},
		"a target that is none": {Devices: []node.Device{{Serial: "R01", Target: "a\nb"}}},
		"too many":              {Devices: phones(node.DevicesMost + 1)},
		"too many slots":        {Devices: phones(1), Slots: 1001},
	} {
		if _, err := r.mine.Devices(r.Context(), bad); err == nil || problem.Explain(err).Kind != problem.Invalid {
			r.Errorf("%s: %v", what, err)
		}
	}
	if stop := r.report(nil, 0); len(stop) > 0 {
		r.Errorf("nothing runs, and these shall stop: %v", stop)
	}
}

func claimsDevices(r *rig) {
	r.report(phones(5), 3)
	job := r.fleet(`{"timeout": "2 min", "attempts": 4, "infra": {"exit": [75]}}`)
	q := node.ClaimRequest{ID: newID(), Services: []string{node.Fleet, "svc"}, Slots: []int{20, 20}, N: 20, Lease: 30 * time.Second}
	got, err := r.mine.Claim(r.Context(), q)
	r.ok(err)
	if len(got.Tasks) != 3 {
		r.Fatalf("%d of 3 slots were filled", len(got.Tasks))
	}
	holds := map[node.Lease]bool{}
	for _, a := range got.Tasks {
		holds[a.Holds()] = true
		if a.Device == nil || a.Service != node.Fleet || a.Job != job || a.Key != a.Device.Serial || !strings.HasPrefix(a.Device.Target, "10.0.0.") || a.Attempt != 1 || a.MaxAttempts != 4 {
			r.Errorf("got %+v on %+v", a, a.Device)
		}
		run, err := node.ParseRun(a.Run)
		r.ok(err)
		if run.Driver != "exec" || !slices.Equal(run.Argv, []string{"warm", "{serial}"}) || !slices.Equal(run.InfraOn, []int{75}) || !strings.Contains(string(a.Params), `"x"`) {
			r.Errorf("run %s, params %s", a.Run, a.Params)
		}
		if a.Lease <= 20*time.Second || a.Lease > 30*time.Second || a.Deadline <= time.Minute || a.Deadline > 2*time.Minute {
			r.Errorf("lease %s, deadline %s", a.Lease, a.Deadline)
		}
	}
	again, err := r.mine.Claim(r.Context(), q)
	r.ok(err)
	if len(again.Tasks) != 3 {
		r.Fatalf("the same claim again gave %d", len(again.Tasks))
	}
	for _, a := range again.Tasks {
		if !holds[a.Holds()] || a.Device == nil {
			r.Errorf("the same claim again gave %+v", a)
		}
	}
	// The slots of the PC are full, so the claim gets other work, and a repeated claim
	// with the same id gets the same work.
	r.submit(map[string]any{"key": "a"})
	q.ID = newID()
	for range 2 {
		plain, err := r.mine.Claim(r.Context(), q)
		r.ok(err)
		if len(plain.Tasks) != 1 || plain.Tasks[0].Device != nil || plain.Tasks[0].Service != "svc" {
			r.Errorf("got %+v", plain.Tasks)
		}
	}
	// A freed slot goes to the next device.
	if answer := r.refusal(r.mine.End(r.Context(), []node.Outcome{{Lease: got.Tasks[0].Holds(), Verdict: node.Done}})); answer != "ok" {
		r.Errorf("its end: %s", answer)
	}
	if next := r.onDevices(r.mine, 20); len(next) != 1 || next[0].Device == nil || next[0].Key == got.Tasks[0].Key {
		r.Errorf("then it got %+v", next)
	}
}

func failsDevices(r *rig) {
	r.exec(`select weir.set_fleet_policy('{"policy": "strict"}')`)
	r.report(phones(2), 2)
	r.fleet(`{"attempts": 1}`)
	tasks := r.onDevices(r.mine, 2)
	if len(tasks) != 2 {
		r.Fatalf("got %d", len(tasks))
	}
	broken := node.Outcome{Lease: tasks[0].Holds(), Verdict: node.Failed, Error: "adb: device offline", Infra: true}
	failed := node.Outcome{Lease: tasks[1].Holds(), Verdict: node.Failed, Error: "assertion"}
	if answer := r.refusal(r.other.End(r.Context(), []node.Outcome{broken})); answer != node.LeaseLost {
		r.Errorf("another node's word: %s", answer)
	}
	refused, err := r.mine.End(r.Context(), []node.Outcome{broken, failed})
	r.ok(err)
	if len(refused) > 0 {
		r.Errorf("refused: %v", refused)
	}
	// If the answer was lost, reporting the same end again has the same effect.
	if answer := r.refusal(r.mine.End(r.Context(), []node.Outcome{broken})); answer == node.LeaseLost || answer == node.Unknown {
		r.Errorf("told again: %s", answer)
	}
	const units = `select string_agg(concat_ws(' ', u.state, u.infra), ', ' order by u.device) from weir.fleet_units u`
	if got := r.text(units); !strings.HasPrefix(got, "retrying 1, failed") {
		r.Errorf("the units are %s", got)
	}
	if got := r.text(`select string_agg(health, ' ' order by serial) from weir.devices`); !strings.HasSuffix(got, " quarantined") || strings.HasPrefix(got, "quarantined") {
		r.Errorf("the devices are %s", got)
	}
}

func losesDevices(r *rig) {
	r.report(phones(10), 10)
	r.fleet(`{}`)
	tasks := r.onDevices(r.mine, 10)
	if len(tasks) != 10 {
		r.Fatalf("got %d", len(tasks))
	}
	left := []node.Device{}
	lost := map[weir.ID]node.Assignment{}
	for _, a := range tasks {
		if len(lost) < 3 {
			lost[a.Task] = a
		}
	}
	for _, d := range phones(10) {
		if !slices.ContainsFunc(tasks, func(a node.Assignment) bool { return a.Device.Serial == d.Serial && lost[a.Task].Attempt > 0 }) {
			left = append(left, d)
		}
	}
	stop := r.report(left, 10)
	if len(left) != 7 || len(stop) != 3 {
		r.Fatalf("%d are left and %d shall stop", len(left), len(stop))
	}
	for _, s := range stop {
		a, ok := lost[s.Task]
		if !ok || s.Attempt != a.Attempt || s.Why == "" {
			r.Errorf("told to stop %+v", s)
			continue
		}
		if answer := r.refusal(r.mine.End(r.Context(), []node.Outcome{{Lease: a.Holds(), Verdict: node.Failed, Error: "late", Infra: true}})); answer != node.LeaseLost {
			r.Errorf("a late word: %s", answer)
		}
	}
	if got := r.text(`select count(*)::text from weir.devices where health not in ('good', 'unknown')`); got != "0" {
		r.Errorf("%s devices were punished", got)
	}
}
