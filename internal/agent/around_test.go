package agent_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/blob/joblog"
)

// script is a line for a shell as a command of a spec, in JSON.
func script(line string) string { return fmt.Sprintf(`{"argv": ["/bin/sh", "-c", %q]}`, line) }

// F10: the commands around a run see its device and its environment, run in order, and
// their lines are marked with their phase. Results that they print are none.
func TestF10CommandsAroundARun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	config, _ := w.listed("pc1", 1, `devices: [{serial: A1, target: "10.0.0.1:5555"}]`)
	w.run(config)
	trace := filepath.Join(w.folder, "trace")
	job := w.fleet(1, fmt.Sprintf(`{"run": {"argv": ["/bin/sh", "-c", "echo work >> $T; echo '::result 7'"], "env": {"T": %q}},
		"setup": {"argv": ["/bin/sh", "-c", "echo $WEIR_PHASE $1 $WEIR_DEVICE_TARGET >> $T; echo hello; echo '::result 8'", "sh", "{serial}"], "timeout": "9s"},
		"cleanup": %s}`, trace, script(`echo $WEIR_PHASE $WEIR_DEVICE_SERIAL >> $T; echo bye >&2`)))
	w.becomes(job, "done 1")
	text, err := os.ReadFile(trace)
	if want := "setup A1 10.0.0.1:5555\nwork\ncleanup A1\n"; err != nil || string(text) != want {
		t.Errorf("it ran %q, %v", text, err)
	}
	if lines := w.logOf(job, "A1", 1); !slices.Equal(lines, []string{"setup: hello", "setup: ::result 8", "cleanup: bye"}) {
		t.Errorf("the log is %q", lines)
	}
	if got := one[string](w, `select concat_ws(' ', q.result, d.health) from weir.task q, weir.devices d where q.job = $1`, job); got != "7 good" {
		t.Errorf("got %s", got)
	}
}

// A set-up that fails is no failed test: it spends an attempt of the infrastructure, and the
// run begins on another device where the job says so. The clean-up runs all the same.
func TestASetUpThatFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	config, _ := w.listed("pc1", 1, `devices: [A1, A2]`)
	w.run(config)
	trace := filepath.Join(w.folder, "trace")
	around := func(setup string) string {
		return fmt.Sprintf(`"setup": {"argv": ["/bin/sh", "-c", %q], "timeout": "1s"}, "cleanup": %s,
			"run": {"argv": ["/bin/sh", "-c", "echo work $WEIR_DEVICE_SERIAL >> $T"], "env": {"T": %q}}`, setup, script(`echo cleanup $WEIR_DEVICE_SERIAL >> $T`), trace)
	}
	job := w.fleet(2, `{`+around(`test $WEIR_DEVICE_SERIAL = A2 || { echo no screen >&2; exit 3; }`)+`, "any": 1, "attempts": 1, "infra": {"attempts": 9, "place": "other_device"}}`)
	w.becomes(job, "done 1")
	text, err := os.ReadFile(trace)
	if err != nil || !strings.HasSuffix(string(text), "work A2\ncleanup A2\n") || strings.Contains(string(text), "work A1") {
		t.Errorf("it ran %q, %v", text, err)
	}
	if strings.Count(string(text), "cleanup A1") != one[int](w, `select infra from weir.fleet_units where job = $1`, job) {
		t.Errorf("the clean-up did not run after each set-up: %q", text)
	}
	job = w.fleet(2, `{`+around(`echo no screen >&2; sleep 100`)+`, "target": {"devices": ["A1"]}, "infra": {"attempts": 2}}`)
	w.becomes(job, "failed 1")
	got := one[string](w, `select concat_ws(' ', u.infra, d.health, f.attempt, f.cause) from weir.fleet_units u
		join weir.devices d on d.id = u.device join weir.finished f on f.task = u.task where u.job = $1`, job)
	if want := "2 suspect 2 the infrastructure broke it 2 times, at last: the set-up failed: timed out after 1s: no screen"; got != want {
		t.Errorf("got %s", got)
	}
	w.gone(job)
	job = w.fleet(2, `{"setup": {"argv": ["/no/such/program"]}, "target": {"devices": ["A2"]}, "infra": {"attempts": 1}}`)
	w.becomes(job, "failed 1")
	if got := one[string](w, `select health from weir.devices where serial = 'A2'`); got != "good" {
		t.Errorf("a program that is missing speaks against the device: %s", got)
	}
}

// The clean-up runs after a run that failed, that timed out and that was canceled. The time
// of a run is its own, without that of the commands.
func TestCleanUpRunsHoweverARunEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	config, _ := w.listed("pc1", 3, `devices: [FAIL, LATE, STOP]`)
	w.run(config)
	trace := filepath.Join(w.folder, "trace")
	job := w.fleet(3, fmt.Sprintf(`{"run": {"argv": ["/bin/sh", "-c", "test $WEIR_DEVICE_SERIAL != FAIL || exit 1; while :; do sleep 0.05; done"], "env": {"T": %q}},
		"setup": %s, "cleanup": %s, "attempts": 1, "timeout": "2s", "breaker": 0}`, trace, script(`sleep 0.1`),
		script(`mkdir $T.$WEIR_DEVICE_SERIAL; test $WEIR_DEVICE_SERIAL != STOP || sleep 0.1; echo $WEIR_DEVICE_SERIAL >> $T`)))
	w.until("one runs", func() bool {
		return one[int](w, `select count(*) from weir.task where job = $1 and key = 'STOP' and started_at is not null`, job) == 1
	})
	if _, err := w.db.Pool.Exec(context.Background(), `select weir.cancel(id) from weir.task where job = $1 and key = 'STOP'`, job); err != nil {
		t.Fatal(err)
	}
	w.becomes(job, "canceled 1, failed 2")
	text, err := os.ReadFile(trace)
	lines := strings.Fields(string(text))
	slices.Sort(lines)
	if err != nil || !slices.Equal(lines, []string{"FAIL", "LATE", "STOP"}) {
		t.Errorf("the clean-up ran for %q, %v", lines, err)
	}
	for what, sql := range map[string]string{
		"timed out after 2s":                      `select cause from weir.task where job = $1 and key = 'LATE'`,
		"Task device timeout: exceeded 2 seconds": `select error from fleet.task_devices where task_id = $1 and device_serial = 'LATE'`,
	} {
		if got := one[string](w, sql, job); got != what {
			t.Errorf("got %q, wanted %q", got, what)
		}
	}
}

// A clean-up that fails or does not end changes nothing of how the run ended. The device is
// suspect, although the run on it succeeded, and its health task decides.
func TestACleanUpThatFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	config, _ := w.listed("pc1", 2, `devices: [A1, A2]`)
	w.run(config)
	job := w.fleet(2, `{"cleanup": {"argv": ["/bin/sh", "-c", "echo stuck >&2; test $WEIR_DEVICE_SERIAL = A1 || sleep 100; exit 4"], "timeout": "1s"}}`)
	w.becomes(job, "done 2")
	got := one[string](w, `select string_agg(concat_ws(' ', serial, health, health_note), '; ' order by serial) from weir.devices`)
	if want := "A1 suspect the clean-up after test failed: exit code 4: stuck; A2 suspect the clean-up after test failed: timed out after 1s: stuck"; got != want {
		t.Errorf("got %s", got)
	}
	w.gone(job)
	if n := one[int](w, `select count(*) from weir.events where job = $1 and type = 'note' and level = 'warn' and message like 'the clean-up failed: %'`, job); n != 2 {
		t.Errorf("the timeline says so %d times", n)
	}
	if _, err := w.db.Pool.Exec(context.Background(), `select weir.set_fleet_policy('{"health": {"run": {"argv": ["/bin/sh", "-c", "test $WEIR_DEVICE_SERIAL = A1"]}}}')`); err != nil {
		t.Fatal(err)
	}
	w.until("the health tasks decide", func() bool {
		return one[string](w, `select string_agg(health, ' ' order by serial) from weir.devices`) == "good quarantined"
	})
}

// F10: a device gets no other work before the clean-up of its last run has ended.
func TestF10TheDeviceIsFreeAfterTheCleanUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	config, _ := w.listed("pc1", 2, `devices: [A1]`)
	w.run(config)
	trace := filepath.Join(w.folder, "trace")
	job := w.fleet(1, fmt.Sprintf(`{"run": {"argv": ["/bin/sh", "-c", "mkdir $T || exit 9; exit 1"], "env": {"T": %q}}, "attempts": 3,
		"cleanup": %s}`, trace, script(`sleep 0.3; rmdir $T`)))
	w.becomes(job, "failed 1")
	if got := one[string](w, `select string_agg(e.message, '; ' order by e.seq) from weir.events e join weir.tasks q on q.id = e.task
		where q.job = $1 and e.type in ('retrying', 'failed')`, job); got != "exit code 1; exit code 1; exit code 1" {
		t.Errorf("the attempts ended with %s", got)
	}
}

// An agent that is killed during a set-up hands the run back without spending anything, and
// cleans up first.
func TestAgentIsRestartedDuringASetUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := filepath.Join(w.folder, "devices.yaml")
	if err := os.WriteFile(path, []byte(`devices: [A1]`), 0o600); err != nil {
		t.Fatal(err)
	}
	p := plan{Dir: t.TempDir(), Node: "pc1", Lease: 20 * time.Second, Devices: path}
	first := w.spawn(p)
	trace := filepath.Join(w.folder, "trace")
	job := w.fleet(1, fmt.Sprintf(`{"run": {"argv": ["/bin/sh", "-c", "echo work >> $T"], "env": {"T": %q}}, "attempts": 1, "infra": {"attempts": 1},
		"setup": %s, "cleanup": %s}`, trace, script(`echo setup >> $T; test $WEIR_ATTEMPT -gt 1 || sleep 100`), script(`echo cleanup >> $T`)))
	w.until("the set-up runs", func() bool {
		text, _ := os.ReadFile(trace)
		return string(text) == "setup\n"
	})
	if err := first.Kill(); err != nil {
		t.Fatal(err)
	}
	w.ended(first)
	w.spawn(p)
	w.becomes(job, "done 1")
	if text, err := os.ReadFile(trace); err != nil || string(text) != "setup\ncleanup\nsetup\nwork\ncleanup\n" {
		t.Errorf("it ran %q, %v", text, err)
	}
	w.gone(job)
}

// An agent that is killed during a power cycle begins it again, because the device may be
// switched off.
func TestAgentIsRestartedDuringAPowerCycle(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := filepath.Join(w.folder, "devices.yaml")
	if err := os.WriteFile(path, []byte(`devices: [A1]`), 0o600); err != nil {
		t.Fatal(err)
	}
	p := plan{Dir: t.TempDir(), Node: "pc1", Lease: 20 * time.Second, Devices: path}
	first := w.spawn(p)
	_, ran := w.power(`echo power >> $T; test -e $T.again || { touch $T.again; sleep 100; }`, "1m")
	w.quarantine("A1")
	w.until("the power command runs", func() bool { return strings.HasSuffix(ran(), "power\n") })
	if err := first.Kill(); err != nil {
		t.Fatal(err)
	}
	w.ended(first)
	w.spawn(p)
	w.until("the device is good", func() bool { return one[string](w, `select health from weir.devices`) == "good" })
	if want := "health A1 A1\npower\npower\nhealth A1 A1\n"; ran() != want {
		t.Errorf("it ran %q", ran())
	}
	if got := one[int](w, `select count(*) from weir.events where kind = 'device' and type in ('power', 'check_failed')`); got != 1 {
		t.Errorf("%d events of power cycles and failed checks", got)
	}
}

// power sets a health task, which writes its phase and its target into a file, and a power
// command. It returns what the file contains.
func (w *world) power(line, timeout string) (trace string, ran func() string) {
	w.Helper()
	trace = filepath.Join(w.folder, "trace")
	text := fmt.Sprintf(`{"health": {"run": {"argv": ["/bin/sh", "-c", "echo health $1 $WEIR_DEVICE_TARGET >> $T", "sh", "{target}"], "env": {"T": %q}},
		"power": {"argv": ["/bin/sh", "-c", %q, "sh", "{serial}"], "timeout": %q}}}`, trace, line, timeout)
	if _, err := w.db.Pool.Exec(context.Background(), `select weir.set_fleet_policy($1)`, text); err != nil {
		w.Fatal(err)
	}
	return trace, func() string {
		text, _ := os.ReadFile(trace)
		return string(text)
	}
}

// quarantine puts devices out once they are good.
func (w *world) quarantine(serials ...string) {
	w.Helper()
	w.until("the devices are good", func() bool {
		return one[int](w, `select count(*) from weir.devices where health = 'good' and serial = any ($1)`, serials) == len(serials)
	})
	if _, err := w.db.Pool.Exec(context.Background(), `select weir.device_quarantine(x, 'ann', 'it hangs') from unnest($1::text[]) x`, serials); err != nil {
		w.Fatal(err)
	}
}

// off makes a power command end that waits for it.
func (w *world) off(trace string) {
	w.Helper()
	if err := os.WriteFile(trace+".off", nil, 0o600); err != nil {
		w.Fatal(err)
	}
}

// F12: a quarantined device is power-cycled once before its health task, which begins when
// the device is back, at the address that it has then. A new device is not power-cycled.
func TestF12APowerCycleBringsADeviceBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	config, rewrite := w.listed("pc1", 1, `devices: [{serial: A1, target: "10.0.0.1:5555"}]`)
	trace, ran := w.power(`echo $WEIR_PHASE $1 >> $T; echo off; until test -e $T.off; do sleep 0.02; done`, "1m")
	w.run(config)
	w.quarantine("A1")
	const before = "health 10.0.0.1:5555 10.0.0.1:5555\npower A1\n"
	w.until("the power command runs", func() bool { return ran() == before })
	rewrite(`devices: []`)
	w.until("the device is missing", func() bool {
		return one[int](w, `select count(*) from weir.devices where missing_at is not null`) == 1
	})
	w.off(trace)
	rewrite(`devices: [{serial: A1, target: "10.0.0.2:5555"}]`)
	w.until("the device is good", func() bool { return one[string](w, `select health from weir.devices`) == "good" })
	if want := before + "health 10.0.0.2:5555 10.0.0.2:5555\n"; ran() != want {
		t.Errorf("it ran %q", ran())
	}
	if got := one[string](w, `select concat_ws(' ', flaps, checks, (select count(*) from weir.events where kind = 'device' and type = 'power')) from weir.devices`); got != "0 0 1" {
		t.Errorf("flaps, checks and power cycles are %s", got)
	}
	task := one[string](w, `select id::text from weir.tasks where run ? 'power'`)
	if lines := w.read(joblog.Log{Job: blob.NoJob, Task: task, Attempt: 1}); !slices.Equal(lines, []string{"power: off"}) {
		t.Errorf("the log is %q", lines)
	}
}

// A power command that fails or does not end, and a device that does not come back, count as
// a failed health task, which does not begin.
func TestAPowerCycleThatFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	config, rewrite := w.listed("pc1", 4, `devices: [BAD, GONE, LATE, LOST]`)
	trace, ran := w.power(`echo $WEIR_PHASE $1 >> $T; test $1 != BAD || { echo no port >&2; exit 3; }; test $1 != LATE || sleep 100; until test -e $T.off; do sleep 0.02; done; test $1 != LOST`, "4s")
	w.run(config)
	w.quarantine("BAD", "GONE", "LATE", "LOST")
	w.until("the power commands run", func() bool { return strings.Count(ran(), "power") == 4 })
	rewrite(`devices: [BAD, LATE]`)
	w.until("devices are missing", func() bool {
		return one[int](w, `select count(*) from weir.devices where missing_at is not null`) == 2
	})
	w.off(trace)
	w.until("all have ended", func() bool { return one[int](w, `select count(*) from weir.running`) == 0 })
	const failed = "its health task failed, the next one is due in 1h: "
	for serial, want := range map[string]string{
		"BAD":  "the power command failed: exit code 3: no port",
		"GONE": "the device is lost: the power command failed: the device did not come back within 4s",
		"LATE": "the power command failed: timed out after 4s",
		"LOST": "the device is lost: the power command failed: exit code 1",
	} {
		got := one[string](w, `select concat_ws(' ', d.health, d.checks, e.message) from weir.devices d join weir.events e on e.kind = 'device' and e.subject = d.serial
			where d.serial = $1 and e.type = 'check_failed'`, serial)
		if got != "quarantined 1 "+failed+want {
			t.Errorf("%s is %s", serial, got)
		}
	}
	if n := strings.Count(ran(), "health"); n != 4 {
		t.Errorf("a health task ran after a power command that failed: %s", ran())
	}
	if n := one[int](w, `select count(*) from weir.pcs where paused_until is not null`); n != 0 {
		t.Error("the PC is paused")
	}
}
