package pagetest_test

import (
	"testing"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/web/webtest"
)

// A node says what its agent is, and can be changed, set to be woken, and woken.
func TestNodeWaking(t *testing.T) {
	s := webtest.Start(t)
	newDesk(t, s, "pc-1")
	viewer, c := s.Login(t, "vic", auth.Viewer), s.Login(t, "mia", auth.Maintainer)
	viewer.Get(t, "/nodes/pc-1").Is(t, 200).Has(t, "1.2.3", "docker", "Weir does not wake it").Lacks(t, "/nodes/pc-1/change", "/nodes/pc-1/waking")
	viewer.Get(t, "/nodes").Is(t, 200).Has(t, "1.2.3")
	for _, path := range []string{"/nodes/pc-1/change", "/nodes/pc-1/waking", "/nodes/pc-1/wake"} {
		viewer.Post(t, path, form()).Is(t, 403)
	}
	c.Get(t, "/nodes/pc-1/change").Is(t, 200).Has(t, "exec=4")
	c.Post(t, "/nodes/pc-1/change", form("labels", "gpu", "capacity", "")).Is(t, 422).Has(t, "has no value", `aria-describedby="about-labels" aria-invalid="true"`)
	c.Post(t, "/nodes/pc-1/change", form("labels", "", "capacity", "exec=many")).Is(t, 422).Has(t, "no number of slots")
	c.Post(t, "/nodes/pc-1/change", form("labels", "gpu=a100\r\nzone = eu\r\n", "capacity", "exec=2\r\n")).Is(t, 303)
	c.Get(t, "/nodes/pc-1").Is(t, 200).Has(t, "gpu=a100", "zone=eu")
	c.Get(t, "/nodes/none/change").Is(t, 404)
	c.Post(t, "/nodes/none/change", form("labels", "a=b")).Is(t, 404)

	waking := "/nodes/pc-1/waking"
	c.Get(t, waking).Is(t, 200).Has(t, "magic packet", `name="mac"`)
	for _, x := range []struct{ field, value string }{{"mac", "no"}, {"timeout", "soon"}, {"sleep_after", "never"}} {
		sent := form("method", "wol", "mac", "52:54:00:12:34:56")
		sent.Set(x.field, x.value)
		c.Post(t, waking, sent).Is(t, 422).Has(t, `aria-describedby="about-`+x.field+`" aria-invalid="true"`)
	}
	c.Post(t, waking, form("method", "http", "url", "https://power.example.org/on")).Is(t, 422)
	c.Post(t, waking, form("method", "script", "script", "../../bin/sh")).Is(t, 422)
	c.Post(t, waking, form("method", "wol", "mac", "52:54:00:12:34:56", "timeout", "90s", "sleep_after", "30m")).Is(t, 303)
	c.Get(t, "/nodes/pc-1").Is(t, 200).Has(t, "by magic packet", "sleeps after 00:30:00").Lacks(t, "/nodes/pc-1/wake\"")
	// The form takes again what it shows.
	c.Get(t, waking).Is(t, 200).Has(t, `value="00:30:00"`, `value="wol" selected`, `value="52:54:00:12:34:56"`, `value="1m30s"`)
	c.Post(t, waking, form("method", "wol", "mac", "52:54:00:12:34:56", "sleep_after", "00:30:00")).Is(t, 303)
	s.Exec(t, `update weir.nodes set seen_at = now() - interval '1 hour', wake_state = 'asleep', wake_at = now() - interval '50 min' where name = 'pc-1'`)
	c.Get(t, "/nodes/pc-1").Is(t, 200).Has(t, "asleep", "The node sleeps", "/nodes/pc-1/wake\"")
	viewer.Get(t, "/nodes").Is(t, 200).Has(t, "asleep")
	c.Post(t, "/nodes/none/wake", form()).Is(t, 404)
	// What is behind the question mark of an address is not shown, and stays.
	s.Exec(t, `select weir.set_wake('pc-1', 'http', '{"url": "https://power.example.org/on?token=hush"}')`)
	c.Get(t, waking).Is(t, 200).Has(t, `value="https://power.example.org/on?***"`).Lacks(t, "hush")
	c.Get(t, "/nodes/pc-1").Is(t, 200).Lacks(t, "hush")
	c.Get(t, "/nodes/none/waking").Is(t, 404)
	s.Exec(t, `select weir.set_wake('pc-1', 'script', '{"script": "power-on", "args": ["rack-2", "slot-1"]}')`)
	c.Get(t, waking).Is(t, 200).Has(t, `value="power-on"`, `value="rack-2 slot-1"`)
	c.Post(t, waking, form("method", "")).Is(t, 303)
	c.Get(t, "/nodes/pc-1").Is(t, 200).Has(t, "Weir does not wake it")
}

// A schedule of a workflow is made, changed and refused by the form.
func TestScheduleOfWorkflow(t *testing.T) {
	s := webtest.Start(t)
	s.Put(t, media)
	c := s.Login(t, "mia", auth.Maintainer)
	c.Get(t, "/new-schedule?workflow=media").Is(t, 200).Has(t, `value="media"`, `name="overlap"`, "Put off by up to").Lacks(t, `name="task"`)
	good := func(pairs ...string) map[string][]string {
		sent := form("name", "hourly", "spec", "@hourly", "zone", "UTC", "missed", "one", "workflow", "media", "params", `{"source": "x"}`, "overlap", "queue_one", "catch_up", "6h", "jitter", "1m")
		for i := 0; i+1 < len(pairs); i += 2 {
			sent.Set(pairs[i], pairs[i+1])
		}
		return sent
	}
	for _, x := range []struct{ field, value, says string }{
		{"workflow", "none", "No active workflow"},
		{"workflow", "", "which workflow runs"},
		{"params", `[]`, "no JSON object"},
		{"params", `{}`, "source"},
		{"params", `{"source": "x", "width": "wide"}`, "expected integer"},
		{"catch_up", "long", "no time"},
		{"jitter", "some", "no time"},
		{"overlap", "perhaps", "overlap"},
		{"spec", "often", "five fields"},
	} {
		c.Post(t, "/new-schedule?workflow=media", good(x.field, x.value)).Is(t, 422).Has(t, x.says, `aria-describedby="about-`+x.field+`" aria-invalid="true"`)
	}
	to := c.Post(t, "/new-schedule?workflow=media", good()).Is(t, 303).To()
	c.Get(t, to).Is(t, 200).Has(t, "one waits for its turn", "not older than 06:00:00", "00:01:00", `href="/workflows/media"`, "/jobs?schedule=hourly", "Next runs")
	c.Get(t, to+"/change").Is(t, 200).Has(t, `value="6h"`, `value="1m"`, `value="queue_one" selected`, "&#34;source&#34;: &#34;x&#34;")
	s.Exec(t, `update weir.schedules set options = options || '{"labels": {"zone": "eu"}}' where name = 'hourly'`)
	c.Post(t, to+"/change", good("overlap", "skip", "params", `{"source": "y"}`, "jitter", "")).Is(t, 303)
	if got := s.One(t, `select overlap || ' ' || options::text || ' ' || coalesce(jitter::text, 'none') from weir.schedules where name = 'hourly'`); got != `skip {"labels": {"zone": "eu"}, "params": {"source": "y"}} none` {
		t.Errorf("the schedule is %s", got)
	}
	// One for once is over when it has run.
	c.Post(t, to+"/change", good("spec", "@at 2030-01-01T00:00:00Z")).Is(t, 303)
	s.Exec(t, `update weir.schedules set next_at = 'infinity', last_at = now() where name = 'hourly'`)
	c.Get(t, to).Is(t, 200).Has(t, "none: it is over", "No run ahead")
	c.Get(t, "/schedules").Is(t, 200).Has(t, "it is over")
}
