package wake

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"
)

const renderer = `{"name": "media", "labels": {"zone": "eu"}, "steps": [{"key": "cut", "service": "editor"}, {"key": "render", "service": "renderer", "labels": {"gpu": "true"}, "needs": ["cut"]}]}`

// park registers four sleeping nodes: one can render, one has no GPU, one is in another
// zone, and one could render but cannot be woken.
func (r *rig) park() {
	r.Helper()
	r.sleeper("gpu-1", `{"gpu": "true", "zone": "eu"}`, `{"renderer": 2}`)
	r.sleeper("cpu-1", `{"zone": "eu"}`, `{"renderer": 2, "audio": 4}`)
	r.sleeper("gpu-us", `{"gpu": "true", "zone": "us"}`, `{"renderer": 2}`)
	r.sleeper("gpu-old", `{"gpu": "true", "zone": "eu"}`, `{"renderer": 2}`)
	for _, node := range []string{"gpu-1", "cpu-1", "gpu-us"} {
		r.exec(`select weir.set_wake($1, 'wol', '{"mac": "52:54:00:12:34:56", "timeout": 60}')`, node)
	}
	// A node is awake for the other steps, and would render without a GPU.
	r.exec(`select weir.register_node('desk', '{"zone": "eu"}', '{"editor": 1}')`)
	r.worker("desk-1", "desk", "editor", "renderer")
}

// TestAheadOfTime checks that work due in five minutes wakes the one node that it needs,
// whatever kind of work is due.
func TestAheadOfTime(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sql   string // $1 is when it is due, $2 the workflow
		early bool   // the work is known ahead of its time
	}{
		"a job":                     {`select weir.open_job('media', due => $1, definition => $2)`, true},
		"a schedule of a workflow":  {`select weir.set_schedule('nightly', '@every 1h', null, $1, workflow => 'media', at => null) where $2::uuid is not null`, true},
		"a schedule of tasks":       {`select weir.set_schedule('nightly', '@every 1h', '{"service": "renderer", "labels": {"gpu": "true", "zone": "eu"}}', $1) where $2::uuid is not null`, true},
		"a task with a time":        {`select weir.submit_many('[{"service": "renderer", "labels": {"gpu": "true", "node": "gpu-1"}, "run_at": "` + "%s" + `"}]') where $1::timestamptz is not null and $2::uuid is not null`, true},
		"a task that may start now": {`select weir.submit('renderer', labels => '{"gpu": "true", "zone": "eu"}') where $1::timestamptz is not null and $2::uuid is not null`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t)
			r.park()
			workflow := r.workflow(renderer)
			r.wantPlan("nothing is due", 0)
			due := time.Now().Add(10 * time.Minute)
			sql := c.sql
			if strings.Contains(sql, "%s") {
				sql = fmt.Sprintf(sql, due.UTC().Format(time.RFC3339))
			}
			r.exec(sql, due, workflow)
			r.exec(`update weir.nodes set seen_at = seen_at + interval '6 min' where name = 'desk'`)
			r.exec(`update weir.workers set seen_at = seen_at + interval '6 min'`)
			if c.early {
				r.wantPlan("ten minutes before", 0)
			}
			r.wantPlan("four minutes before", 6*time.Minute, "gpu-1")
			r.wantPlan("it is being woken", 6*time.Minute+time.Second)
			for _, other := range []string{"cpu-1", "gpu-us"} {
				r.wantEvents(other, "wake_set")
			}
			if said := r.events("gpu-1")[1]; !strings.HasPrefix(said, "waking: ") || !strings.Contains(said, " needs renderer ") {
				t.Errorf("the event says %q", said)
			}
		})
	}
}

// TestNobodyIsWokenInVain checks that nodes stay asleep if a node that is awake can do
// the work, or if they could not do it.
func TestNobodyIsWokenInVain(t *testing.T) {
	t.Parallel()
	r := start(t)
	r.park()
	r.exec(`select weir.submit('renderer', labels => '{"gpu": "true", "zone": "eu"}')`)
	r.exec(`select weir.register_worker('loner', '{renderer}', labels => '{"gpu": "true", "zone": "eu"}')`)
	r.wantPlan("a worker without a node is there", 0)
	r.exec(`select weir.stop_worker('loner')`)
	r.exec(`select weir.set_node_mode('gpu-1', 'paused', 'new fan')`)
	r.wantPlan("the node is paused", 0)
	r.exec(`select weir.set_node_mode('gpu-1', 'active')`)
	r.exec(`select weir.register_node('gpu-1', '{"gpu": "true", "zone": "eu"}', '{"renderer": 0}')`)
	r.exec(`update weir.nodes set seen_at = seen_at - interval '10 min' where name = 'gpu-1'`)
	r.wantPlan("the node has no slots", 0)
	r.exec(`update weir.nodes set capacity = '{"renderer": 2}' where name = 'gpu-1'`)
	r.worker("old-1", "gpu-old", "renderer")
	r.wantPlan("another node is awake", 0)
	r.exec(`select weir.set_node_mode('gpu-old', 'draining')`)
	r.wantPlan("the other node is draining", 0, "gpu-1")
}

// TestBackOff checks that a node is tried again after longer and longer times, that
// another node gets a chance in the meantime, and that the backoff is reset when the node
// wakes.
func TestBackOff(t *testing.T) {
	t.Parallel()
	r := start(t)
	r.sleeper("a", `{}`, `{"renderer": 1}`)
	r.sleeper("b", `{}`, `{"renderer": 1}`)
	r.exec(`select weir.set_wake('a', 'wol', '{"mac": "52:54:00:12:34:56", "timeout": 60}')`)
	r.exec(`select weir.submit('renderer')`)
	r.wantPlan("the first try", 0, "a")
	r.wantPlan("it has time", 50*time.Second)
	clock := 61 * time.Second
	for try, wait := range []time.Duration{30 * time.Second, time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute, 16 * time.Minute, 30 * time.Minute, 30 * time.Minute} {
		r.wantPlan("it did not come", clock)
		if got := one[string](r, `select wake_state || ' ' || wake_note from weir.nodes where name = 'a'`); got != "asleep not seen within 1m" {
			t.Fatalf("try %d: %s", try+1, got)
		}
		r.wantPlan("too early for another try", clock+wait-2*time.Second)
		r.wantPlan(fmt.Sprintf("try %d", try+2), clock+wait, "a")
		clock += wait + 61*time.Second
	}
	r.exec(`select weir.set_wake('b', 'wol', '{"mac": "52:54:00:12:34:57"}')`)
	r.wantPlan("the one that was not tried", clock, "b")
	r.wantEvents("b", "wake_set", "waking")
	r.exec(`update weir.nodes set seen_at = clock_timestamp() + $1::interval where name = 'b'`, clock+time.Second)
	r.exec(`select weir.register_worker('b-1', '{renderer}', 'b')`)
	r.wantPlan("it came", clock+2*time.Second)
	r.wantEvents("b", "wake_set", "waking", "awake")
	if got := one[int](r, `select wake_tries from weir.nodes where name = 'b'`); got != 0 {
		t.Errorf("%d tries are still counted", got)
	}
}

// TestWhy checks that why names the sleeping node that a task waits for.
func TestWhy(t *testing.T) {
	t.Parallel()
	r := start(t)
	r.sleeper("gpu-1", `{"gpu": "true"}`, `{"renderer": 2}`)
	task := one[string](r, `select weir.submit('renderer', labels => '{"gpu": "true"}')::text`)
	why := func(later time.Duration, want string) {
		t.Helper()
		if got := one[string](r, `select reason from weir.why($1, clock_timestamp() + $2) where gate = 'worker' and not open`, task, later); !strings.Contains(got, want) {
			t.Errorf("why says %q, want %q", got, want)
		}
	}
	why(0, "no live worker serves renderer with labels gpu=true: node gpu-1 could, but was not seen for 10m")
	r.exec(`select weir.set_wake('gpu-1', 'script', '{"script": "wake.sh", "timeout": 60}')`)
	why(0, "node gpu-1 could and sleeps; it is about to be woken")
	r.wantPlan("a task waits", 0, "gpu-1")
	r.exec(`update weir.nodes set wake_at = date_trunc('second', wake_at)`)
	why(40*time.Second, "waiting for node gpu-1 to wake, 4")
	for i := range 3 {
		if i > 0 {
			r.exec(`select weir.note_wake('gpu-1', 'waking')`)
		}
		r.exec(`select weir.note_wake('gpu-1', 'failed', 'script wake.sh: exit status 3')`)
	}
	why(0, "node gpu-1 could, but does not wake: tried 3 times, last error: script wake.sh: exit status 3; next try in 1m 59s")
	r.worker("w", "gpu-1", "renderer")
	if got := one[string](r, `select reason from weir.why($1) where gate = 'worker' and open`, task); !strings.Contains(got, "1 live worker") {
		t.Errorf("why says %q of a node that is awake", got)
	}
}

// TestSleep checks that a node gets the order to sleep when it has been idle for long
// enough, nothing is due, and there is no waiting work that only it could do.
func TestSleep(t *testing.T) {
	t.Parallel()
	r := start(t)
	r.exec(`select weir.register_node('gpu-1', '{"gpu": "true", "zone": "eu"}', '{"renderer": 2}')`)
	r.worker("w", "gpu-1", "renderer")
	node := one[int](r, `select id from weir.nodes`)
	sleepy := func(later time.Duration) bool {
		t.Helper()
		r.exec(`update weir.nodes set seen_at = clock_timestamp() + $1::interval`, later)
		r.exec(`update weir.workers set seen_at = clock_timestamp() + $1::interval`, later)
		return one[bool](r, `select weir._sleep_if_idle($1, clock_timestamp() + $2)`, node, later)
	}
	want := func(what string, later time.Duration, sleeps bool) {
		t.Helper()
		if got := sleepy(later); got != sleeps {
			t.Errorf("%s: sleeps %v, want %v", what, got, sleeps)
		}
	}
	want("nobody told it to", 100*time.Minute, false)
	r.exec(`select weir.set_wake('gpu-1', 'wol', '{"mac": "52:54:00:12:34:56"}', sleep_after => '10 min')`)
	want("it is new", 0, false)
	want("not yet", 9*time.Minute, false)
	task := one[string](r, `select weir.submit('renderer')::text`)
	token := one[string](r, `select token::text from weir.claim('w', '{renderer}', lease => '2 hours')`)
	want("it works", 20*time.Minute, false)
	r.exec(`select weir.finish($1, 1, $2)`, task, token)
	want("it worked a moment ago", 29*time.Minute, false)
	r.exec(`select weir.finish(task, attempt, token) from weir.submit('renderer'), weir.claim('w', '{renderer}')`)
	want("it did something between two heartbeats", 31*time.Minute, false)
	want("that counts", 40*time.Minute, false)
	workflow := r.workflow(renderer)
	job := one[string](r, `select weir.open_job('media', due => clock_timestamp() + interval '46 min', definition => $1)::text`, workflow)
	want("a job is due in four minutes", 42*time.Minute, false)
	r.exec(`select weir.register_node('gpu-2', '{"gpu": "true", "zone": "eu"}', '{"renderer": 2}'), weir.register_worker('w2', '{renderer}', 'gpu-2')`)
	want("another does that as well", 43*time.Minute, true)
	want("every heartbeat hears it", 43*time.Minute+30*time.Second, true)
	if got := r.events("gpu-1"); got[len(got)-1] != "asleep: nothing to do for 12m" {
		t.Errorf("the events are %v", got)
	}
	r.wantPlan("it sleeps, and another is awake", 43*time.Minute+40*time.Second)
	r.exec(`update weir.nodes set seen_at = seen_at - interval '20 min' where name = 'gpu-2'`)
	r.wantPlan("it is needed after all", 43*time.Minute+45*time.Second, "gpu-1")
	r.exec(`select weir.cancel_job($1)`, job)
	want("it is awake again, and has time", 44*time.Minute, false)
	r.wantPlan("it is seen", 44*time.Minute)
	r.wantEvents("gpu-1", "wake_set", "asleep", "waking", "awake")
}

// TestParameters checks that the database refuses bad parameters too.
func TestParameters(t *testing.T) {
	t.Parallel()
	r := start(t)
	r.sleeper("n", `{}`, `{}`)
	for _, args := range []string{
		`'n', 'telnet'`, `'n', 'wol'`, `'n', 'wol', '{"mac": "x"}'`, `'n', 'wol', '{"mac": "52:54:00:12:34:56", "url": "http://x"}'`, `'n', 'wol', '[]'`, `'n', 'wol', null`, `'n', 'http', '{"url": "file:///etc"}'`,
		`'n', 'wol', '{"mac": "52:54:00:12:34:56", "timeout": "1 min"}'`, `'n', 'wol', '{"mac": "52:54:00:12:34:56", "timeout": 1e9}'`, `'n', 'wol', '{"mac": "52:54:00:12:34:56", "broadcast": 9}'`,
		`'n', 'script', '{"script": "a", "args": "b"}'`, `'n', 'script', '{"script": "a", "args": ["-x"]}'`, `'n', 'script', '{"script": "a", "args": [{}]}'`, `'n', 'script', '{"script": "a", "args": ["a\nb"]}'`,
		`'n', 'script', '{"script": "a"}', '1 s'`, `'n', null, '{}', '1 h'`, `'n', null, '{"mac": "52:54:00:12:34:56"}'`,
	} {
		if _, err := r.Pool.Exec(context.Background(), `select weir.set_wake(`+args+`)`); err == nil || !strings.Contains(err.Error(), "WR422") {
			t.Errorf("set_wake(%s): %v", args, err)
		}
	}
	w := New(r.Pool, Config{})
	if err := w.SetWake(t.Context(), "ann", "nobody", Method{}); err == nil || !strings.Contains(err.Error(), "WR404") {
		t.Errorf("a node that is not there: %v", err)
	}
	if err := w.Wake(t.Context(), "ann", "n"); err == nil || !strings.Contains(err.Error(), "WR409") {
		t.Errorf("a node that nobody can wake: %v", err)
	}
	for _, m := range []Method{{Kind: "telnet"}, {Kind: WOL, MAC: "52:54:00:12:34:56", URL: "http://x"}, {MAC: "52:54:00:12:34:56"}, {SleepAfter: time.Hour}, {Kind: WOL, MAC: "52:54:00:12:34:56", Timeout: Seconds(time.Second)}} {
		if err := w.SetWake(t.Context(), "ann", "n", m); err == nil {
			t.Errorf("%+v passes", m)
		}
	}
	r.wantEvents("n")
}

// FuzzMethod reads wake parameters that may have been written into the row by hand: it
// must not panic, and an accepted script or address is an allowed one.
func FuzzMethod(f *testing.F) {
	f.Add("wol", []byte(`{"mac": "52:54:00:12:34:56", "broadcast": "255.255.255.255:9", "timeout": 60}`))
	f.Add("http", []byte(`{"url": "http://10.0.0.5/x"}`))
	f.Add("script", []byte(`{"script": "../x", "args": ["-a"]}`))
	f.Add("", []byte(`null`))
	w := New(nil, Config{URLs: []string{"http://10.0.0.5/"}})
	f.Fuzz(func(t *testing.T, kind string, params []byte) {
		m, err := decode(kind, params)
		if err != nil || w.Check(m) != nil {
			return
		}
		switch m.Kind {
		case "":
		case WOL:
			if to, err := w.target(m); err != nil || m.Broadcast != "" && to.Port() != 7 && to.Port() != 9 {
				t.Errorf("%s goes to %v (%v)", params, to, err)
			}
		case HTTP:
			if !strings.HasPrefix(strings.ToLower(m.URL), "http://10.0.0.5") {
				t.Errorf("%q passes", m.URL)
			}
		default:
			t.Errorf("%s %s passes", kind, params)
		}
	})
}

// TestLeader runs the leader's loop: a job scheduled ahead wakes only its node, by a real
// packet.
func TestLeader(t *testing.T) {
	t.Parallel()
	r := start(t)
	r.park()
	address, next := hear(t)
	r.exec(`select weir.set_wake('gpu-1', 'wol', '{"mac": "52:54:00:00:00:01"}')`)
	r.exec(`select weir.open_job('media', due => clock_timestamp() + interval '4 min', definition => $1)`, r.workflow(renderer))
	r.lead(New(r.Pool, Config{Broadcast: address}))
	if mac := parsePacket(t, next()); mac != "52:54:00:00:00:01" {
		t.Errorf("woken is %s", mac)
	}
	r.until("the try is noted", func() bool {
		return one[int](r, `select count(*)::int from weir.events where kind = 'node' and type = 'wake_called'`) > 0
	})
	r.worker("gpu-1-1", "gpu-1", "renderer")
	r.until("it is awake", func() bool {
		r.exec(`update weir.nodes set seen_at = clock_timestamp() where name = 'gpu-1'`)
		return one[int](r, `select count(*)::int from weir.events where kind = 'node' and type = 'awake' and subject = 'gpu-1'`) > 0
	})
	r.wantEvents("gpu-us", "wake_set")
	r.wantEvents("cpu-1", "wake_set")
}

// TestTheNodeThatCan checks that the node that a task is bound to is woken and named, and
// no other, although others did work of that service too.
func TestTheNodeThatCan(t *testing.T) {
	t.Parallel()
	r := start(t)
	for _, name := range []string{"edge", "here", "over-there"} {
		r.exec(`select weir.register_node($1, '{}', '{"exec": 4}'), weir.register_worker('agent@' || $1, '{exec}', $1)`, name)
	}
	r.exec(`with w as (update weir.workers set seen_at = clock_timestamp() - interval '10 min') update weir.nodes set seen_at = clock_timestamp() - interval '10 min'`)
	task := one[string](r, `select weir.submit('exec', labels => '{"node": "here"}')::text`)
	why := func() string {
		return one[string](r, `select string_agg(reason, '; ') from weir.why($1) where not open`, task)
	}
	if got := why(); !strings.Contains(got, "node here could") || strings.Contains(got, "edge") {
		t.Errorf("why: %s", got)
	}
	for _, name := range []string{"edge", "here", "over-there"} {
		r.exec(`select weir.set_wake($1, 'wol', '{"mac": "52:54:00:12:34:56", "timeout": 60}')`, name)
	}
	r.wantPlan("it is due", 0, "here")
	if got := why(); !strings.Contains(got, "waiting for node here to wake") {
		t.Errorf("why: %s", got)
	}
	// Work that no node could do wakes no node, and why names none.
	task = one[string](r, `select weir.submit('exec', labels => '{"z": "1"}')::text`)
	r.wantPlan("nobody could", 0)
	if got := why(); got != "no live worker serves exec with labels z=1" {
		t.Errorf("why: %s", got)
	}
}
