package fleet

import (
	"testing"
	"time"
)

// A window is divided among work, idle time and what kept the device out.
func TestUsageOfAWindow(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	at := func(h float64) time.Time { return day.Add(time.Duration(h * float64(time.Hour))) }
	to := func(h float64) *time.Time { return new(at(h)) }
	spans := []DeviceSpan{
		{State: "reserved", From: at(20)}, // lasts, and the run at its beginning goes on
		{State: StateFree, From: at(10), To: to(20)},
		{State: "offline", From: at(8), To: to(10)},
		{State: StateFree, From: at(-5), To: to(8)}, // began before the window
	}
	runs := []DeviceRun{
		{State: "done", From: at(19), To: to(21)},
		{State: "retrying", From: at(12), To: to(13)},
		{State: "done", From: at(12.5), To: to(14)}, // overlaps: a late report
		{State: "failed", From: at(-3), To: to(-1)}, // ended before the window
		{State: "done", From: at(-1), To: to(1)},
	}
	u := usage(spans, runs, at(0), at(24))
	hour := int64(3600)
	if u.Working != 5*hour || u.Idle != 14*hour || u.Out["offline"] != 2*hour || u.Out["reserved"] != 3*hour || u.Total() != 24*hour {
		t.Errorf("%+v", u)
	}
	if u.Runs != 4 || u.Failed != 1 {
		t.Errorf("%+v", u)
	}
	if u := usage(nil, nil, at(0), at(24)); u.Total() != 0 || u.Out == nil {
		t.Errorf("%+v", u)
	}
}

// What a device went through is recorded as it happens, and read with its runs.
func TestDeviceHistory(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("d", 2)...)
	id := r.submit("job", func(s *Spec) { s.Attempts = 2; s.Target = Target{Devices: []string{"d01"}} })
	first := r.claim("PC-01", 1)
	r.wait(30 * time.Second)
	r.fail(first...)
	r.wait(time.Minute)
	again := r.claim("PC-01", 1)
	r.want("it is tried again", len(again), 1)
	r.wait(20 * time.Second)
	r.reserve("d01", "ann", 10*time.Minute)
	r.done(again...)
	r.wait(11 * time.Minute)
	r.wait(time.Minute)
	r.exec(`select weir.device_maintain('d01', 'ann', 'battery', at => $1)`, r.now)
	h, err := r.store.DeviceHistory(t.Context(), "d01", 50)
	if err != nil {
		t.Fatal(err)
	}
	var states []string
	for i, s := range h.States {
		states = append(states, s.State)
		if s.PC != "PC-01" || (s.To == nil) != (i == 0) || i > 0 && !s.To.Equal(h.States[i-1].From) {
			t.Errorf("%d: %+v", i, s)
		}
	}
	want := []string{"maintenance", StateFree, StateReserved, StateFree}
	if len(states) != len(want) {
		t.Fatalf("%v", states)
	}
	for i := range want {
		r.want("state", states[i], want[i])
	}
	if len(h.Runs) != 2 || h.Runs[0].State != "done" || h.Runs[0].Attempt != 2 || h.Runs[1].State != "retrying" || h.Runs[1].Attempt != 1 ||
		h.Runs[0].Job != id || h.Runs[0].JobName != "job" || h.Runs[1].Cause == "" || h.Runs[1].To.Sub(h.Runs[1].From) != 30*time.Second {
		t.Errorf("%+v", h.Runs)
	}
	u := usage(h.States, h.Runs, r.now.Add(-time.Hour), r.now)
	if u.Runs != 2 || u.Failed != 1 || u.Working != int64(h.Runs[0].To.Sub(h.Runs[0].From)/time.Second)+30 {
		t.Errorf("%+v", u)
	}
	pc, err := r.store.PCUsage(t.Context(), "PC-01")
	if err != nil || len(pc.Devices) != 2 || len(pc.Windows) != 2 || pc.Windows[0].Window != "24h" {
		t.Errorf("%+v %v", pc, err)
	}
	_, err = r.store.DeviceUsage(t.Context(), "none")
	if err == nil {
		t.Error("a device that is not there has a usage")
	}
}

// The spans of a device that never rests are bounded, and old ones go.
func TestDeviceSpansAreBounded(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("d", 1)...)
	r.exec(`insert into weir.device_spans (device, since, until, state)
		select d.id, d.registered_at - (3000 - i) * interval '1 s', d.registered_at - (2999 - i) * interval '1 s', 'offline'
		from weir.devices d, generate_series(1, 2999) i`)
	if _, err := r.db.Pool.Exec(t.Context(), `insert into weir.device_spans (device, since, state)
		select d.id, now() + interval '1 h', 'free' from weir.devices d`); err == nil {
		t.Error("a device is in two states at a time")
	}
	r.exec(`update weir.devices set online = false, online_at = clock_timestamp() + interval '1 s'`)
	r.want("spans", r.count(`select count(*) from weir.device_spans`), 2000)
	r.exec(`update weir.device_spans set until = until - interval '40 days', since = since - interval '40 days' where until < now() - interval '10 s'`)
	old := r.count(`select count(*) from weir.device_spans where until < now() - interval '31 days'`)
	if old < 1000 {
		t.Fatalf("%d are old", old)
	}
	r.exec(`select weir.fleet_tidy()`)
	r.want("old ones", r.count(`select count(*) from weir.device_spans where until < now() - interval '31 days'`), 0)
}
