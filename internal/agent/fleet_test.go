package agent_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/agent"
	"github.com/weirhq/weir/internal/agent/device"
	"github.com/weirhq/weir/internal/agent/device/simulate"
	"github.com/weirhq/weir/internal/node"
)

// pc returns the configuration of an agent that serves the devices of a source.
func (w *world) pc(name string, slots int, source device.Source) agent.Config {
	c := w.config(name, map[string]int{node.Fleet: slots})
	c.Devices, c.DeviceSlots, c.Look = source, slots, 20*time.Millisecond
	return c
}

// lab returns a PC with simulated devices.
func (w *world) lab(name string, slots int, s simulate.Config) (agent.Config, *simulate.Lab) {
	w.Helper()
	s.PC = name
	lab, err := simulate.New(s)
	if err != nil {
		w.Fatal(err)
	}
	c := w.pc(name, slots, lab)
	c.Drivers[lab.Name()], c.DeviceDriver = lab, lab.Name()
	return c, lab
}

// listed returns a PC whose devices are listed in a file.
func (w *world) listed(name string, slots int, text string) (c agent.Config, rewrite func(text string)) {
	w.Helper()
	path := filepath.Join(w.TempDir(), "devices.yaml")
	rewrite = func(text string) {
		w.Helper()
		if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
			w.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			w.Fatal(err)
		}
	}
	rewrite(text)
	source, err := device.Open(path)
	if err != nil {
		w.Fatal(err)
	}
	return w.pc(name, slots, source), rewrite
}

// fleet submits a job for all devices after the PC has the given number of them.
func (w *world) fleet(devices int, spec string) weir.ID {
	w.Helper()
	w.until(fmt.Sprintf("%d devices are known", devices), func() bool {
		return one[int](w, `select count(*) from weir.devices where online and missing_at is null`) == devices
	})
	return one[weir.ID](w, `select weir.fleet_submit('test', '{"run": {"argv": ["true"]}, "target": {"all": true}, "backoff": "0 s", "linger": "0 s"}'::jsonb || $1::jsonb)`, spec)
}

// units returns how many units of a job are in which state.
func (w *world) units(job weir.ID) string {
	w.Helper()
	return one[string](w, `select coalesce(string_agg(state || ' ' || n, ', ' order by state), '') from (select state, count(*) as n from weir.fleet_units where job = $1 group by state) u`, job)
}

func (w *world) becomes(job weir.ID, want string) {
	w.Helper()
	w.until("the units are "+want, func() bool { return w.units(job) == want })
}

// An agent with 30 devices and 20 slots serves each device in each round, with never two
// attempts on one device and never more than 20 at once.
func TestAgentServesAFleet(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	config, lab := w.lab("pc1", 20, simulate.Config{Devices: 30, Seed: 1, Shortest: time.Millisecond, Longest: 50 * time.Millisecond})
	a := w.run(config)
	job := w.fleet(30, `{"repeat": 2}`)
	w.becomes(job, "done 60")
	w.until("the job is over", func() bool { return one[string](w, `select state from weir.fleet_jobs where job = $1`, job) == "ended" })
	w.until("all ends are counted", func() bool { return a.Stats().Done == 60 })
	if s := lab.Stats(); s.Done != 60 || s.Overlaps != 0 || s.Busiest > 20 {
		t.Errorf("the lab says %+v", s)
	}
	if n := one[int](w, `select count(*) from weir.task where job = $1 and result ->> 'serial' = split_part(key, '#', 1)`, job); n != 60 {
		t.Errorf("%d results are those of their device", n)
	}
	if n := one[int](w, `select count(*) from weir.events where job = $1 and type = 'progress'`, job); n == 0 {
		t.Error("nobody told how far it was")
	}
}

// Every job ends in a lab with all kinds of faults: failed attempts are retried, hanging
// ones are killed at their deadline, and connection faults cost no test attempt.
func TestAgentOfATroubledLab(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	config, lab := w.lab("pc1", 8, simulate.Config{Devices: 12, Seed: 4, Fail: 0.2, Infra: 0.2, Hang: 0.1, Shortest: time.Millisecond, Longest: 30 * time.Millisecond})
	config.Grace = 50 * time.Millisecond
	w.run(config)
	job := w.fleet(12, `{"timeout": "10 s", "attempts": 10, "infra": {"attempts": 20}, "breaker": 0}`)
	w.becomes(job, "done 12")
	s := lab.Stats()
	if s.Overlaps != 0 || s.Busiest > 8 || s.Failed == 0 || s.Broken == 0 {
		t.Errorf("the lab says %+v", s)
	}
	if infra := one[int](w, `select sum(infra) from weir.fleet_units where job = $1`, job); infra != s.Broken {
		t.Errorf("%d were told as trouble of connections, not %d", infra, s.Broken)
	}
}

// A hub with seven devices is lost: the attempts on them are returned, no device or test
// is charged, and the agent's late reports are refused.
func TestAgentLosesAHub(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	config, lab := w.lab("pc1", 20, simulate.Config{Devices: 30, Seed: 1})
	config.Look = time.Hour // so that it looks because something failed
	a := w.run(config)
	job := w.fleet(30, `{"params": {"simulate": {"hang": 1, "seconds": 0}}}`)
	running := func() int { return one[int](w, `select count(*) from weir.running where device is not null`) }
	w.until("all slots are filled", func() bool { return running() == 20 })
	serials := one[[]string](w, `select array_agg(d.serial) from weir.running r join weir.devices d on d.id = r.device where d.hub = 'pc1/hub-1'`)
	if len(serials) < 2 {
		t.Fatalf("%d of the hub run", len(serials))
	}
	var hub []string
	for i := range 7 {
		hub = append(hub, fmt.Sprintf("SIM-pc1-%04d", i+1))
	}
	lab.Unplug(hub...)
	w.until("the PC is paused", func() bool { return one[bool](w, `select paused_until is not null from weir.pcs`) })
	w.until("what ran there is back", func() bool { return running() == 20-len(serials) })
	w.until("the agent has let go", func() bool { return a.Stats().Lost == int64(len(serials)) })
	if n := one[int](w, `select count(*) from weir.devices where health <> 'unknown'`); n != 0 {
		t.Errorf("%d devices were punished", n)
	}
	if n := one[int](w, `select coalesce(sum(infra), 0) from weir.fleet_units where job = $1`, job); n != 0 {
		t.Errorf("%d attempts were spent", n)
	}
	if s := lab.Stats(); s.Busiest > 20 || s.Overlaps != 0 {
		t.Errorf("the lab says %+v", s)
	}
	if _, err := w.db.Pool.Exec(context.Background(), `select weir.fleet_cancel($1, 'ann', 'enough')`, job); err != nil {
		t.Fatal(err)
	}
	w.until("nothing runs", func() bool { return running() == 0 })
}

// The command of a job gets its device, through variables and in its arguments, and the
// device's current address.
func TestCommandOfADevice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	config, rewrite := w.listed("pc1", 2, `devices: [{serial: A1, target: "10.0.0.1:5555", hub: h1, labels: {model: x}}, B2]`)
	w.run(config)
	script := `test "$1" = "$WEIR_DEVICE_SERIAL" && test "$WEIR_DEVICE_HUB $WEIR_DEVICE_LABELS" = "$([ $1 = A1 ] && echo 'h1 {"model":"x"}' || echo ' {}')" && echo "::result \"$1 $2 $WEIR_DEVICE_TARGET\""`
	spec := func(argument string) string {
		return fmt.Sprintf(`{"run": {"argv": ["/bin/sh", "-c", %q, "sh", %q, "--at={target}"]}, "attempts": 1, "breaker": 0}`, script, argument)
	}
	results := func(job weir.ID) string {
		return one[string](w, `select string_agg(result #>> '{}', ', ' order by key) from weir.task where job = $1`, job)
	}
	job := w.fleet(2, spec("{serial}"))
	w.becomes(job, "done 2")
	if got := results(job); got != "A1 --at=10.0.0.1:5555 10.0.0.1:5555, B2 --at=B2 B2" {
		t.Errorf("got %s", got)
	}
	rewrite(`devices: [{serial: A1, target: "10.0.0.9:5555", hub: h1, labels: {model: x}}, B2]`)
	w.until("the address is known", func() bool {
		return one[bool](w, `select target = '10.0.0.9:5555' from weir.devices where serial = 'A1'`)
	})
	job = w.fleet(2, spec("{serial}"))
	w.becomes(job, "done 2")
	if got := results(job); !strings.HasPrefix(got, "A1 --at=10.0.0.9:5555 10.0.0.9:5555") {
		t.Errorf("then %s", got)
	}
	job = w.fleet(2, spec("a line with {serial}"))
	w.becomes(job, "failed 2")
	if cause := one[string](w, `select cause from weir.task where job = $1 limit 1`, job); !strings.Contains(cause, "one word") {
		t.Errorf("it failed: %s", cause)
	}
}

// A run that takes too long is a TIMEOUT in the history of the device queue, in the
// timeline and in why, although the agent ends it shortly before its deadline. The words
// name the time that it was given, which is the same for each attempt.
func TestATimeoutOnADeviceIsAFact(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	config, _ := w.listed("pc1", 1, `devices: [A1]`)
	w.run(config)
	job := w.fleet(1, `{"run": {"argv": ["/bin/sh", "-c", "echo begins; while :; do sleep 0.05; done"]}, "timeout": "2s", "attempts": 2}`)
	w.becomes(job, "failed 1")
	words := one[string](w, `select string_agg(event_type, ' ' order by id) from fleet.execution_logs where task_id = $1 and event_type <> 'progress'`, job)
	if want := "CREATED SENT ACKED TIMEOUT RETRY_SCHEDULED CREATED SENT ACKED TIMEOUT FAILED_FINAL"; words != want {
		t.Errorf("the history says %s, wanted %s", words, want)
	}
	for what, sql := range map[string]string{
		"timeout, timeout": `select string_agg(e.data ->> 'reason', ', ' order by e.seq) from weir.events e join weir.tasks q on q.id = e.task where q.job = $1 and e.type in ('retrying', 'failed')`,
		"timeout":          `select y.code from weir.tasks q, weir.why(q.id) y where q.job = $1`,
		"Task device timeout: exceeded 2 seconds": `select error from fleet.task_devices where task_id = $1`,
		"timed out after 2s":                      `select f.cause from weir.finished f join weir.tasks q on q.id = f.task where q.job = $1`,
		"timed out after 2s, timed out after 2s":  `select string_agg(e.message, ', ' order by e.seq) from weir.events e join weir.tasks q on q.id = e.task where q.job = $1 and e.type in ('retrying', 'failed')`,
	} {
		if got := one[string](w, sql, job); got != what {
			t.Errorf("got %q, wanted %q: %s", got, what, sql)
		}
	}
}

// An exit code of the infrastructure spends its own budget and is not charged to the
// device.
func TestCommandThatMeansInfrastructure(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	config, _ := w.listed("pc1", 1, `devices: [A1]`)
	w.run(config)
	job := w.fleet(1, `{"run": {"argv": ["/bin/sh", "-c", "test $WEIR_ATTEMPT -gt 2 || exit 75"]}, "attempts": 1, "infra": {"attempts": 3, "exit": [74, 75]}}`)
	w.becomes(job, "done 1")
	if got := one[string](w, `select concat_ws(' ', u.infra, d.health) from weir.fleet_units u, weir.devices d where u.job = $1`, job); got != "2 good" {
		t.Errorf("got %s", got)
	}
	job = w.fleet(1, `{"run": {"argv": ["/bin/sh", "-c", "exit 1"]}, "attempts": 2, "infra": {"exit": [74, 75]}}`)
	w.becomes(job, "failed 1")
	if got := one[string](w, `select concat_ws(' ', u.infra, d.health) from weir.fleet_units u, weir.devices d where u.job = $1`, job); got != "0 suspect" {
		t.Errorf("a test that fails: %s", got)
	}
}

// The work on a single device that goes away is stopped once its absence is certain; a
// failing source stops nothing.
func TestAgentLosesADevice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const all = `devices: [A1, A2, A3, A4, A5, A6]`
	config, rewrite := w.listed("pc1", 6, all)
	w.run(config)
	job := w.fleet(6, `{"run": {"argv": ["/bin/sh", "-c", "exec sleep 300"]}}`)
	w.until("all run", func() bool { return len(alive(job)) >= 6 && w.units(job) == "running 6" })
	rewrite(`devices: [A1, A2`)
	w.until("the fault is told", func() bool { return strings.Contains(w.log.String(), "the devices cannot be found out") })
	rewrite(`devices: [A1, A2, A3, A4, A5]`)
	w.until("it is missed", func() bool {
		return one[bool](w, `select missing_at is not null from weir.devices where serial = 'A6'`)
	})
	if n := one[int](w, `select count(*) from weir.devices where online and missing_at is null`); n != 5 {
		t.Errorf("%d devices are left", n)
	}
	if got := w.units(job); got != "running 6" {
		t.Errorf("too soon: %s", got)
	}
	if _, err := w.db.Pool.Exec(context.Background(), `update weir.devices set missing_at = missing_at - interval '40 s' where serial = 'A6'`); err != nil {
		t.Fatal(err)
	}
	rewrite(`devices: [A1, A2, A3, A4, {serial: A5, hub: x}]`) // a reason to report at once
	w.becomes(job, "retrying 1, running 5")
	w.until("its command is dead", func() bool { return len(alive(job)) == 5 })
	if _, err := w.db.Pool.Exec(context.Background(), `select weir.fleet_cancel($1, 'ann', 'enough')`, job); err != nil {
		t.Fatal(err)
	}
	w.gone(job)
}

// An operator changes the slots of a PC while it works, and the agent follows.
func TestSlotsChange(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	config, lab := w.lab("pc1", 3, simulate.Config{Devices: 9, Seed: 1})
	config.Beat = 200 * time.Millisecond // so that it reports often
	w.run(config)
	job := w.fleet(9, `{"params": {"simulate": {"hang": 1, "seconds": 0}}}`)
	w.becomes(job, "running 3, waiting 6")
	if _, err := w.db.Pool.Exec(context.Background(), `select weir.set_slots('pc1', 8, 'ann')`); err != nil {
		t.Fatal(err)
	}
	w.becomes(job, "running 8, waiting 1")
	if s := lab.Stats(); s.Busiest > 8 {
		t.Errorf("the lab says %+v", s)
	}
	if _, err := w.db.Pool.Exec(context.Background(), `select weir.fleet_cancel($1, 'ann', 'enough')`, job); err != nil {
		t.Fatal(err)
	}
	w.until("nothing runs", func() bool { return one[int](w, `select count(*) from weir.running`) == 0 })
}

// A PC that cannot find out its devices reports that, and reports when it can again. What
// is known of the devices stays.
func TestAgentThatIsBlindSaysSo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	config, rewrite := w.listed("pc1", 2, `devices: [A1, A2]`)
	w.run(config)
	w.until("the devices are there", func() bool { return one[int](w, `select count(*) from weir.devices where online`) == 2 })
	rewrite(`devices: [A1, {serial: "-rf"}]`)
	w.until("it says why", func() bool {
		return one[bool](w, `select blind_at is not null and trouble like '%"-rf" is no serial%' from weir.pcs`)
	})
	if n := one[int](w, `select count(*) from weir.devices where online and missing_at is null`); n != 2 {
		t.Errorf("%d devices are there", n)
	}
	rewrite(`devices: [A1, A2]`)
	w.until("it sees again", func() bool { return one[bool](w, `select blind_at is null and trouble is null from weir.pcs`) })
}
