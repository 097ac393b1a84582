package pagetest_test

import (
	"testing"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/web/webtest"
)

// A filtered list has a bar that does something to all that match; what it offers
// depends on the state and on who looks.
func TestBulk(t *testing.T) {
	s := webtest.Start(t)
	s.Exec(t, `select weir.submit('render') from generate_series(1, 7)`)
	s.Exec(t, `select weir.submit('mail')`)
	s.Exec(t, `select weir.submit_job(name => 'nightly ' || i, tasks => '[{"service": "s", "key": "a"}, {"service": "s", "key": "b", "needs": ["a"]}]') from generate_series(1, 3) i`)
	viewer, operator, maintainer := s.Login(t, "vic", auth.Viewer), s.Login(t, "ada", auth.Operator), s.Login(t, "mia", auth.Maintainer)
	viewer.Get(t, "/tasks?service=render").Is(t, 200).Lacks(t, "/bulk/", "match")
	operator.Get(t, "/tasks").Is(t, 200).Lacks(t, "/bulk/")
	operator.Get(t, "/tasks?service=none").Is(t, 200).Lacks(t, "/bulk/")
	operator.Get(t, "/tasks?service=render").Is(t, 200).Has(t, "7 match", "/bulk/tasks/cancel?", "/bulk/tasks/retry?").Lacks(t, "/bulk/tasks/skip")
	operator.Get(t, "/tasks?service=mail").Is(t, 200).Has(t, "1 matches")
	operator.Get(t, "/tasks?state=available").Is(t, 200).Has(t, "/bulk/tasks/hold?", "/bulk/tasks/priority?").Lacks(t, "/bulk/tasks/retry", "/bulk/tasks/release")
	operator.Get(t, "/tasks?since=1h").Is(t, 200).Has(t, "14 match")
	operator.Get(t, "/tasks?since=soon").Is(t, 422).Has(t, "is no time")
	maintainer.Get(t, "/tasks?service=render").Is(t, 200).Has(t, "/bulk/tasks/skip?")

	const all = "/bulk/tasks/"
	viewer.Post(t, all+"cancel?service=render", form()).Is(t, 403)
	operator.Get(t, all+"skip?service=render").Is(t, 403)
	operator.Post(t, all+"skip?service=render", form("reason", "no")).Is(t, 403)
	operator.Get(t, all+"delete?service=render").Is(t, 404)
	operator.Get(t, all+"cancel").Is(t, 422).Has(t, "all there are would be meant")
	operator.Post(t, all+"cancel", form()).Is(t, 422)
	operator.Get(t, all+"cancel?service=render").Is(t, 200).Has(t, "Cancel 7 tasks?", "service render", "and 2 more")
	operator.Post(t, all+"priority?service=render", form("priority", "high")).Is(t, 422).Has(t, "is not a number")
	operator.Post(t, all+"priority?service=render", form("priority", "7")).Is(t, 303)
	maintainer.Post(t, all+"skip?service=render", form("reason", "")).Is(t, 422).Has(t, `aria-describedby="about-reason" aria-invalid="true"`)
	to := operator.Post(t, all+"hold?service=render&back=%2Ftasks%3Fservice%3Drender", form("reason", "wait")).Is(t, 303).To()
	if to != "/tasks?service=render" {
		t.Errorf("it led to %s", to)
	}
	operator.Get(t, to).Is(t, 200).Has(t, "7 tasks changed.", "held by")
	operator.Post(t, all+"release?gate=hold", form()).Is(t, 303)
	operator.Post(t, all+"cancel?service=render", form("reason", "late")).Is(t, 303)
	if n := s.One(t, `select count(*)::text from weir.task where service = 'render' and state = 'canceled'`); n != "7" {
		t.Errorf("%s are canceled", n)
	}
	if n := s.One(t, `select message from weir.event where kind = 'bulk' and type = 'cancel'`); n != "7 of 7 tasks with service render: late" {
		t.Error(n)
	}
	maintainer.Get(t, "/timeline?kind=bulk").Is(t, 200).Has(t, "7 of 7 tasks with service render: late")

	// In a job the bar is about its tasks; jobs have one of their own.
	job := s.One(t, `select id::text from weir.jobs order by id limit 1`)
	operator.Get(t, "/jobs/"+job+"/tasks").Is(t, 200).Lacks(t, "/bulk/")
	operator.Get(t, "/jobs/"+job+"/tasks?state=available").Is(t, 200).Has(t, "1 matches", "job="+job)
	operator.Get(t, "/jobs?name=nightly*").Is(t, 200).Has(t, "3 match", "/bulk/jobs/cancel?")
	operator.Get(t, "/bulk/jobs/cancel?name=nightly*").Is(t, 200).Has(t, "Cancel 3 jobs?")
	operator.Post(t, "/bulk/jobs/cancel?name=nightly*", form("reason", "late")).Is(t, 303)
	operator.Get(t, "/jobs?name=nightly*&state=canceled").Is(t, 200).Has(t, "3 match", "/bulk/jobs/retry?").Lacks(t, "/bulk/jobs/cancel?")
}

// The bar can be reached by keyboard, the question names the count, and the list
// follows by itself.
func TestBrowserBulk(t *testing.T) {
	s := webtest.Start(t)
	s.Exec(t, `select weir.submit('render') from generate_series(1, 37)`)
	s.Exec(t, `select weir.submit('mail') from generate_series(1, 3)`)
	b := s.Open(t)
	b.Login(s.User(t, "mia", auth.Maintainer))
	b.Go("/tasks?service=render")
	b.WaitLive()
	b.WaitText("37 match")
	b.Shots("bulk-bar")
	b.Wait("a button that the keyboard reaches", `((a) => { a.focus(); return document.activeElement === a && a.tabIndex === 0; })(document.querySelector('.bulk a[href*="/cancel"]'))`)
	b.Click(`.bulk a[href*="/cancel"]`)
	b.Wait("the question", `document.querySelector("#ask[open] #question")`)
	b.WaitText("Cancel 37 tasks?")
	b.Shots("bulk-question")
	b.Fill("#ask [name=reason]", "not needed")
	b.Click("#ask button[type=submit]")
	b.WaitText("37 tasks changed.")
	b.Wait("the list", `[...document.querySelectorAll("tr[data-href]")].every((r) => r.innerText.includes("canceled"))`)
	b.WaitText("Retry all")
	s.Exec(t, `select weir.submit('render')`)
	b.WaitText("38 match")
}
