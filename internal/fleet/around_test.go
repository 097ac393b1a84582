package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/testwait"
)

// A command around a run is refused where it is given, with its field, by the program and by
// the SQL alike.
func TestCommandsAroundARunAreBounded(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("a", 1)...)
	for field, text := range map[string]string{
		"setup.argv":      `"setup": {"argv": []}`,
		"cleanup.argv":    `"cleanup": {"argv": [""]}`,
		"setup.timeout":   `"setup": {"argv": ["x"], "timeout": "2h"}`,
		"cleanup.timeout": `"cleanup": {"argv": ["x"], "timeout": "500ms"}`,
		"setup.shell":     `"setup": {"argv": ["x"], "shell": true}`,
	} {
		whole := fmt.Sprintf(`{"run": {"argv": ["x"]}, "target": {"all": true}, %s}`, text)
		_, err := ParseSpec([]byte(whole))
		if p := r.refused(problem.Invalid, err); p.Field != field {
			t.Errorf("%s: the program blames %s", text, p.Field)
		}
		_, err = r.db.Pool.Exec(t.Context(), `select weir.fleet_submit('x', $1)`, whole)
		if err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: the SQL says %v", text, err)
		}
	}
	_, err := r.db.Pool.Exec(t.Context(), `select weir.fleet_submit('x', '{"run": {"argv": ["x"], "cleanup": {"argv": ["x"]}}, "target": {"all": true}}')`)
	if err == nil || !strings.Contains(err.Error(), "beside run") && !strings.Contains(err.Error(), "fields of the job") {
		t.Errorf("a clean-up inside run: %v", err)
	}
}

// The lease of a run lasts as long as its commands and itself, on each attempt. An agent gets
// the commands with the run.
func TestTheTimeOfCommandsIsAdded(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("a", 1)...)
	id := r.submit("around", func(s *Spec) {
		s.Timeout, s.Setup = node.Span(time.Minute), &node.Command{Argv: []string{"up"}, Timeout: node.Span(20 * time.Second)}
		s.Cleanup = &node.Command{Argv: []string{"down"}}
	})
	for attempt := 1; attempt <= 2; attempt++ {
		l := r.claim("PC-01", 1)[0]
		var got string
		r.scan(&got, `select concat_ws(' ', r.attempt, r.deadline - r.claimed_at, q.timeout, q.run #>> '{setup,argv,0}', q.run #>> '{cleanup,argv,0}')
			from weir.running r join weir.tasks q on q.id = r.task`)
		r.want("the lease", got, fmt.Sprintf("%d 00:06:30 00:06:30 up down", attempt))
		r.fail(l)
		r.wait(5 * time.Minute)
	}
	r.units(id, "1 retrying")
	if all, after := (node.Around{Setup: &node.Command{Timeout: node.Span(20 * time.Second)}, Cleanup: &node.Command{}}).Span(); all != 330*time.Second || after != 310*time.Second {
		t.Errorf("the agent counts %s and %s", all, after)
	}
}

// A failed clean-up makes the device suspect when the lease ends, although the run on it
// succeeded. Only the holder of the lease can say so, and the next attempt begins clean.
func TestAFailedCleanUp(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("a", 2)...)
	r.submit("first", func(s *Spec) { s.Attempts = 3 })
	list := r.claim("PC-01", 2)
	unclean := func(l lease, token any, want string) {
		t.Helper()
		r.answer(want, `select weir.fleet_unclean($1, $2, $3, 'the app is still there')`, l.Task, l.Attempt, token)
	}
	unclean(list[0], list[1].Task, "lease_lost")
	r.want("another lease says nothing", r.count(`select count(*) from weir.fleet_units where unclean is not null`), 0)
	unclean(list[0], list[0].Token, "ok")
	r.done(list[0])
	d := r.health("a01", HealthSuspect)
	r.want("the reason", d.HealthNote, "the clean-up after first failed: the app is still there")
	r.want("the evidence", len(d.Evidence), 1)
	unclean(list[0], list[0].Token, "lease_lost")

	unclean(list[1], list[1].Token, "ok")
	r.fail(list[1])
	r.health("a02", HealthSuspect)
	r.wait(time.Minute)
	again := r.claim("PC-01", 1)[0]
	r.want("it is tried again", again.Attempt, 2)
	r.done(again)
	r.health("a02", HealthGood)
}

// A failed clean-up waits for who ends its lease, and for who takes its device out.
func TestACleanUpIsJudgedUnderLocks(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("a", 2)...)
	r.submit("first", nil)
	list := r.claim("PC-01", 2)
	l := list[0]
	waited, n := r.behind(`select weir.fail($1, $2, $3, 'x')`, `select count(*) from weir.fleet_unclean($1, $2, $3, 'y') x where x = 'ok'`, l.Task, l.Attempt, l.Token)
	if !waited || n != 0 {
		t.Errorf("it waited for the end of the lease: %v, and was taken %d times", waited, n)
	}
	l = list[1]
	r.answer("ok", `select weir.fleet_unclean($1, $2, $3, 'y')`, l.Task, l.Attempt, l.Token)
	waited, _ = r.behind(`select weir.device_quarantine('a02', 'ann', 'broken ' || $1::uuid || $2::int || $3::uuid)`, `select count(*) from weir.fail($1, $2, $3, 'x')`, l.Task, l.Attempt, l.Token)
	if !waited {
		t.Error("it did not wait for the command")
	}
	r.health("a02", HealthQuarantined)
}

// powered is a rig with a health task and a power command, and devices that are good.
func powered(t *testing.T, devices int) *rig {
	t.Helper()
	r := newRig(t)
	r.policy(PolicyChange{Policy: ptr(PolicyStrict), Health: json.RawMessage(`{"run": {"argv": ["./health"]}, "timeout": "2m", "power": {"argv": ["cycle", "{serial}"], "timeout": "1m"}}`)})
	r.report("PC-01", named("d", devices)...)
	r.done(r.claim("PC-01", 100)...)
	return r
}

// quarantine puts a device out.
func (r *rig) quarantine(serial string) {
	r.Helper()
	r.exec(`select weir.device_quarantine($1, 'ann', 'it hangs', at => $2)`, serial, r.now)
}

// cycles returns how often the timeline of a device has its power command.
func (r *rig) cycles(serial string) int {
	r.Helper()
	return r.count(`select count(*) from weir.events where kind = 'device' and subject = $1 and type = 'power'`, serial)
}

// A device that is put out is power-cycled at once and once more after an hour, each time
// before its health task and with time of its own. A device that nobody knows is not.
func TestPowerCommandOfAQuarantinedDevice(t *testing.T) {
	t.Parallel()
	r := powered(t, 1)
	r.want("power-cycled while unknown", r.cycles("d01"), 0)
	r.want("set-ups so far", r.count(`select count(*) from weir.tasks where run ?| array['setup', 'power']`), 0)
	r.submit("job", func(s *Spec) { s.Attempts = 1 })
	r.fail(r.claim("PC-01", 1)...)
	d := r.health("d01", HealthQuarantined)
	r.want("the first check", d.CheckAt.Sub(d.HealthAt), time.Duration(0))
	check := r.claim("PC-01", 10)
	r.want("the lease", r.text(`select concat_ws(' ', r.deadline - r.claimed_at, q.timeout, q.run #>> '{setup,argv,0}', q.run ->> 'power', q.run #>> '{argv,0}')
		from weir.running r join weir.tasks q on q.id = r.task`), "00:03:10 00:03:10 cycle true ./health")
	r.want("power-cycled", r.cycles("d01"), 1)
	r.fail(check...)
	r.want("the second check", r.health("d01", HealthQuarantined).CheckAt.Sub(r.now), time.Hour)
	r.wait(time.Hour)
	r.fail(r.claim("PC-01", 10)...)
	if d = r.health("d01", HealthQuarantined); d.CheckAt != nil || d.Checks != 2 {
		t.Fatalf("then a person: %+v", d)
	}
	r.want("power-cycled", r.cycles("d01"), 2)
	log, err := r.store.DeviceLog(t.Context(), "d01", 2)
	if err != nil || log[1].Type != "power" || len(log[1].Evidence) != 1 {
		t.Errorf("%+v %v", log, err)
	}
}

// Agents that wait for work hear of a power cycle that is due.
func TestAPowerCycleIsHeardOf(t *testing.T) {
	t.Parallel()
	r := powered(t, 1)
	ctx, cancel := context.WithTimeout(t.Context(), testwait.Limit)
	defer cancel()
	conn, err := pgx.Connect(ctx, r.db.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(ctx, `listen weir_available`); err != nil {
		t.Fatal(err)
	}
	r.exec(`select weir.device_quarantine('d01', 'ann', 'it hangs', at => $1)`, r.now)
	if note, err := conn.WaitForNotification(ctx); err != nil || note.Payload != "fleet" {
		t.Errorf("heard %v, %v", note, err)
	}
}

// F12: however a power cycle ends, it counts as a check: a device is never power-cycled more than
// twice while it is out.
func TestF12APowerCycleCountsHoweverItEnds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end  func(r *rig, l lease)
		says string
	}{
		"the power command fails": {func(r *rig, l lease) {
			r.answer("ok", `select weir.fleet_fail($1, $2, $3, 'the power command failed: exit code 3', infra => true, at => $4)`, l.Task, l.Attempt, l.Token, r.now)
		}, "the power command failed: exit code 3"},
		"it cannot begin": {func(r *rig, l lease) {
			r.answer("ok", `select weir.fleet_fail($1, $2, $3, 'uhubctl is not in PATH', harmless => true, at => $4)`, l.Task, l.Attempt, l.Token, r.now)
		}, "uhubctl is not in PATH"},
		"somebody cancels it": {func(r *rig, l lease) {
			r.exec(`select weir.cancel($1, by => 'ann', reason => 'no', at => $2)`, l.Task, r.now)
			r.answer("ok", `select weir.fleet_fail($1, $2, $3, 'stopped', infra => true, at => $4)`, l.Task, l.Attempt, l.Token, r.now)
		}, "canceled by ann: no"},
		"its lease runs out": {func(r *rig, _ lease) { r.wait(46 * time.Second) }, "cut off after its power command began"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := powered(t, 1)
			r.quarantine("d01")
			for n := 1; n <= 2; n++ {
				r.want("checks", len(r.claim("PC-01", 10)), 1)
				c.end(r, r.leased("d01"))
				r.want("counted", r.health("d01", HealthQuarantined).Checks, n)
				r.want("it says", r.text(`select split_part(message, ': ', 2) || coalesce(': ' || nullif(split_part(message, ': ', 3), ''), '')
					from weir.events where kind = 'device' and type = 'check_failed' order by seq desc limit 1`), c.says)
				r.wait(time.Hour)
			}
			r.wait(24 * time.Hour)
			r.want("more checks", len(r.claim("PC-01", 10)), 0)
			r.want("power-cycled", r.cycles("d01"), 2)
		})
	}
}

// leased is the lease that a device has.
func (r *rig) leased(serial string) (l lease) {
	r.Helper()
	if err := r.db.Pool.QueryRow(r.Context(), `select r.task, r.attempt, r.token from weir.running r join weir.devices d on d.id = r.device where d.serial = $1`, serial).
		Scan(&l.Task, &l.Attempt, &l.Token); err != nil {
		r.Fatal(err)
	}
	return l
}

// A device that is away during its own power cycle is missing, and nothing else: its health
// task goes on, it is no flap, and its PC is not paused, also if a person released it.
func TestADeviceIsAwayDuringItsPowerCycle(t *testing.T) {
	t.Parallel()
	r := powered(t, 3)
	r.quarantine("d01")
	r.quarantine("d02")
	check := r.claim("PC-01", 10)
	r.want("checks", serials(check), "d01 d02")
	r.exec(`select weir.device_release(x, 'ann', 'it is mine', at => $1) from unnest(array['d01', 'd02']) x`, r.now)
	r.want("stopped", len(r.report("PC-01", named("d", 3)[2])), 0)
	for range 4 {
		r.renew(check...)
		r.wait(20 * time.Second)
	}
	r.want("devices", r.text(`select string_agg(concat_ws(' ', serial, online, missing_at is not null, flaps), '; ' order by serial) from weir.devices`),
		"d01 t t 0; d02 t t 0; d03 t f 0")
	r.want("leases", r.count(`select count(*) from weir.running`), 2)
	r.want("paused", r.count(`select count(*) from weir.pcs where paused_until is not null`), 0)
	r.done(check...)
	r.health("d01", HealthGood)
	// What was switched off and is not back is no new loss when another device goes away.
	r.report("PC-01")
	r.want("paused", r.count(`select count(*) from weir.pcs where paused_until is not null`), 0)
	r.want("flaps", r.count(`select flaps from weir.devices where serial = 'd01'`), 0)
	r.want("offline", r.count(`select count(*) from weir.devices where not online`), 2)
}

// renew extends leases, as their PC does.
func (r *rig) renew(list ...lease) {
	r.Helper()
	for _, l := range list {
		r.exec(`select weir.renew('PC-01', array[$1::uuid], array[$2::int], array[$3::uuid], '45 s', at => $4)`, l.Task, l.Attempt, l.Token, r.now)
	}
}

// A run that says power in its command is none: the device that it loses is lost.
func TestARunIsNoPowerCycle(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("d", 1)...)
	r.exec(`select weir.fleet_submit('x', '{"run": {"argv": ["x"], "power": true}, "target": {"all": true}}', at => $1)`, r.now)
	check := r.claim("PC-01", 1)
	r.report("PC-01")
	for range 2 {
		r.renew(check...)
		r.wait(20 * time.Second)
	}
	r.want("leases", r.count(`select count(*) from weir.running`), 0)
}

// A device that another PC sees during its power cycle has moved. That counts as well.
func TestADeviceMovesDuringItsPowerCycle(t *testing.T) {
	t.Parallel()
	r := powered(t, 1)
	r.quarantine("d01")
	r.want("checks", len(r.claim("PC-01", 10)), 1)
	r.report("PC-01")
	r.report("PC-02", named("d", 1)...)
	if d := r.health("d01", HealthQuarantined); d.PC != "PC-02" || d.Checks != 1 || d.CheckAt.Sub(r.now) != time.Hour {
		t.Errorf("%+v", d)
	}
}

// A power command by label is that of these devices alone, and it is refused where it is
// given unless it is a command beside a health task.
func TestPowerCommandByLabel(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.policy(PolicyChange{Health: json.RawMessage(`{"run": {"argv": ["any"]}, "power": null, "by_label": [
		{"match": ["os=ios"], "run": {"argv": ["ios"]}, "power": {"argv": ["cycle"]}}]}`)})
	r.report("PC-01", node.Device{Serial: "a"}, node.Device{Serial: "i", Labels: map[string]string{"os": "ios"}})
	r.fail(r.claim("PC-01", 9)...)
	r.want("the first checks", r.text(`select string_agg(concat_ws(' ', serial, check_at - health_at), '; ' order by serial) from weir.devices`), "a 00:05:00; i 00:00:00")
	r.wait(5 * time.Minute)
	r.want("checks", len(r.claim("PC-01", 9)), 2)
	r.want("power-cycled", r.cycles("a")*10+r.cycles("i"), 1)
	for field, text := range map[string]string{
		"health.run":                       `{"power": {"argv": ["x"]}}`,
		"health.run.power":                 `{"run": {"argv": ["x"], "power": true}}`,
		"health.power.argv":                `{"run": {"argv": ["x"]}, "power": {"argv": []}}`,
		"health.power.timeout":             `{"run": {"argv": ["x"]}, "power": {"argv": ["x"], "timeout": "2h"}}`,
		"health.by_label[0].power.argv":    `{"run": {"argv": ["x"]}, "by_label": [{"match": ["os"], "run": {"argv": ["x"]}, "power": {"argv": [""]}}]}`,
		"health.by_label[0].power.argv[1]": `{"run": {"argv": ["x"]}, "by_label": [{"match": ["os"], "run": {"argv": ["x"]}, "power": {"argv": ["x", "a {serial}"]}}]}`,
	} {
		_, err := r.store.SetPolicy(t.Context(), "ann", PolicyChange{Health: json.RawMessage(text)})
		if p := r.refused(problem.Invalid, err); p.Field != field && field != "health.run.power" {
			t.Errorf("%s: the program blames %s", text, p.Field)
		}
		if field == "health.by_label[0].power.argv[1]" {
			continue // the agent refuses it
		}
		_, err = r.db.Pool.Exec(t.Context(), `select weir.set_fleet_policy(jsonb_build_object('health', $1::jsonb))`, text)
		if p := r.refused(problem.Invalid, err); p.Field != field {
			t.Errorf("%s: the SQL blames %s: %v", text, p.Field, err)
		}
	}
}
