package pagetest_test

import (
	"encoding/json"
	"testing"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/web/webtest"
)

// A schedule is made, changed, paused, resumed and deleted.
func TestSchedules(t *testing.T) {
	s := webtest.Start(t)
	c := s.Login(t, "mia", auth.Maintainer)
	c.Get(t, "/schedules").Is(t, 200).Has(t, "No schedule yet", "weir schedule set", `href="/new-schedule"`)
	c.Get(t, "/schedules/none").Is(t, 404)
	task := `{"service": "report", "params": {"big": 12345678901234567890, "tag": "<b>"}, "timeout": "10m", "max_attempts": 5, "labels": {"gpu": "a100"}}`
	to := c.Post(t, "/new-schedule", form("name", "nightly", "spec", "0 3 * * *", "zone", "Europe/Budapest", "missed", "skip", "task", task)).Is(t, 303).To()
	c.Get(t, to).Is(t, 200).Has(t, "at 03:00 each day, Europe/Budapest", "Next runs", "03:00:00 CE", "left out", "it has not run yet", "12345678901234567890", "&lt;b&gt;").Lacks(t, "<b>")
	c.Get(t, "/schedules").Is(t, 200).Has(t, "at 03:00 each day, Europe/Budapest", "never yet", "service=report")
	c.Post(t, "/new-schedule", form("name", "nightly", "spec", "@daily", "task", task)).Is(t, 422).Has(t, "already")

	// The form shows what is kept, in the words of people, and takes it again
	// without a change.
	c.Get(t, to+"/change").Is(t, 200).Has(t, "&#34;timeout&#34;: &#34;10m&#34;", `value="Europe/Budapest"`, `value="skip" selected`)
	was := kept(t, s, "nightly")
	c.Post(t, to+"/change", form("spec", "0 3 * * *", "zone", "Europe/Budapest", "missed", "skip", "task", task)).Is(t, 303)
	if is := kept(t, s, "nightly"); is != was {
		t.Errorf("saved again, it is\n%s\nand was\n%s", is, was)
	}
	c.Post(t, to+"/change", form("spec", "@every 90s", "zone", "UTC", "missed", "all", "task", `{"service": "other"}`)).Is(t, 303)
	c.Get(t, to).Is(t, 200).Has(t, "every 1m30s", "other", "newest 1,000")

	c.Post(t, to+"/pause", form()).Is(t, 303)
	c.Get(t, to).Is(t, 200).Has(t, "The schedule is paused", "none while it is paused", to+"/resume").Lacks(t, to+"/pause")
	// What is paused stays so when it is changed.
	c.Post(t, to+"/change", form("spec", "@hourly", "zone", "UTC", "missed", "all", "task", `{"service": "other"}`)).Is(t, 303)
	if v, err := s.Store.Schedule(t.Context(), "nightly"); err != nil || !v.Paused || v.Spec != "@hourly" {
		t.Errorf("%+v, %v", v, err)
	}
	c.Post(t, to+"/resume", form()).Is(t, 303)
	c.Get(t, to).Is(t, 200).Has(t, "every hour", to+"/pause").Lacks(t, "The schedule is paused")

	c.Get(t, to+"/delete").Is(t, 200).Has(t, "submits nothing any more")
	c.Post(t, to+"/delete", form()).Is(t, 303)
	for _, path := range []string{"/pause", "/resume", "/delete", "/change"} {
		c.Post(t, to+path, form("spec", "@daily", "task", `{"service": "x"}`)).Is(t, 404)
	}
	if got := s.One(t, `select string_agg(distinct type || ' by ' || source, ', ') from weir.events where kind = 'schedule' and subject = 'nightly'`); got != "dropped by mia, paused by mia, resumed by mia, set by mia" {
		t.Errorf("the timeline says: %s", got)
	}
}

// kept is the task of a schedule as it stands in the database.
func kept(t *testing.T, s *webtest.Server, name string) string {
	t.Helper()
	v, err := s.Store.Schedule(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return string(v.Task)
}

// Each refusal stands at its field and says what is wrong with it.
func TestScheduleRefusals(t *testing.T) {
	s := webtest.Start(t)
	c := s.Login(t, "mia", auth.Maintainer)
	for _, x := range []struct{ name, spec, zone, task, field, says string }{
		{"", "@daily", "UTC", `{"service": "x"}`, "name", "1 to 200 characters"},
		{"a", "often", "UTC", `{"service": "x"}`, "spec", "five fields"},
		{"a", "0 0 31 2 *", "UTC", `{"service": "x"}`, "spec", "no time within five years"},
		{"a", "@daily", "Mars/Olympus", `{"service": "x"}`, "zone", "nknown time zone"},
		{"a", "@daily", "UTC", `{"service": "x"`, "task", "not JSON"},
		{"a", "@daily", "UTC", `["x"]`, "task", "an object with fields"},
		{"a", "@daily", "UTC", `null`, "task", "an object with fields"},
		{"a", "@daily", "UTC", `{}`, "task", "say who does the work"},
		{"a", "@daily", "UTC", `{"service": "x", "colour": 1}`, "task", "Colour: a task has no such field"},
		{"a", "@daily", "UTC", `{"service": "x", "timeout": "soon"}`, "task", "is not a duration"},
		{"a", "@daily", "UTC", `{"service": "x", "priority": "high"}`, "task", "Priority: a string does not belong here"},
		{"a", "@daily", "UTC", `{"service": "x", "priority": 1000}`, "task", "Priority"},
		{"a", "@daily", "UTC", `{"service": "x", "pool": "none"}`, "task", "there is no pool"},
	} {
		c.Post(t, "/new-schedule", form("name", x.name, "spec", x.spec, "zone", x.zone, "missed", "one", "task", x.task)).
			Is(t, 422).Has(t, x.says, `aria-describedby="about-`+x.field+`" aria-invalid="true"`)
	}
	if _, err := s.Store.Schedule(t.Context(), "a"); err == nil {
		t.Error("a refused form made a schedule")
	}
}

// A task that somebody wrote by SQL is shown as it is, and can be read again.
func TestScheduleForeignTask(t *testing.T) {
	s := webtest.Start(t)
	c := s.Login(t, "mia", auth.Maintainer)
	s.Exec(t, `select weir.set_schedule('s', '@daily', '{"service": "x", "timeout": "10 minutes"}', now() + interval '1 h')`,
		`select weir.fire_schedule('s', next_at, array[next_at], next_at + interval '1 day') from weir.schedules`)
	c.Get(t, "/schedules/s").Is(t, 200).Has(t, "10 minutes", `href="/tasks/`)
	c.Get(t, "/schedules/s/change").Is(t, 200).Has(t, "10 minutes")
	if !json.Valid([]byte(kept(t, s, "s"))) {
		t.Error("the task is no JSON")
	}
}
