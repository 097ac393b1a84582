package pagetest_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/rollout"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/webtest"
)

func onBoard(x rollout.Rollout) string { return "/rollouts/" + x.ID.String() }

func runOf(t rollout.Task) string {
	return "/rollouts/" + t.Rollout.String() + "/tasks/" + t.ID.String()
}

// card is how a card of a status begins.
func card(t rollout.Task, status string) string {
	return fmt.Sprintf(`data-key="%s" data-status="%s"`, t.ID, status)
}

// Without rollouts the pages say what to do; without a store they say so.
func TestRolloutsEmpty(t *testing.T) {
	h := newHarbour(t)
	c := h.Login(t, "vic", auth.Viewer)
	c.Get(t, "/rollouts").Is(t, 200).Has(t, "No rollout yet", "weir rollout create migrations", `href="/rollouts" aria-current`).Lacks(t, "New ")
	c.Get(t, "/databases").Is(t, 200).Has(t, "No database yet", "weir database add orders-test").Lacks(t, "/new-database")
	c.Get(t, "/rollouts/0").Is(t, http.StatusNotFound)
	c.Get(t, "/rollouts/01890000-0000-7000-8000-000000000000").Is(t, http.StatusNotFound)
	c.Get(t, "/databases/none").Is(t, http.StatusNotFound)
	c.Get(t, "/rollouts?state=nonsense").Is(t, http.StatusUnprocessableEntity)
	c.Get(t, "/rollouts?search=x").Is(t, 200).Has(t, "Nothing matches")

	s := webtest.Start(t, func(c *site.Config) { c.Rollouts = nil })
	c = s.Login(t, "mia", auth.Maintainer)
	c.Get(t, "/rollouts").Is(t, 200).Has(t, "This server keeps no rollouts")
	c.Get(t, "/databases").Is(t, 200).Has(t, "This server keeps no rollouts").Lacks(t, "/new-database")
	c.Get(t, "/new-database").Is(t, http.StatusNotFound)
}

// Each status of a task has its card and its page, with the buttons that fit.
func TestRolloutStatuses(t *testing.T) {
	h := newHarbour(t)
	h.paper("test", "a", "b", "c", "d", "e", "f")
	h.paper("prod", "p")
	x := h.create(rollout.Plan{
		Stages: []rollout.Stage{{Name: "test", OnFailure: rollout.OnFailureContinue, Canary: 0}, {Name: "prod", Approvals: 1}},
		Files:  []rollout.File{file("V1__orders.sql", "create table orders (id int);"), file("V2__index.sql", "create index on orders (id);")},
	})
	mia, vic := h.Login(t, "mia", auth.Maintainer), h.Login(t, "vic", auth.Viewer)
	key := func(name, version string) string { return "test/" + name + "/" + version }

	first := h.task(x, key("a", "1"))
	page := mia.Get(t, onBoard(x)).Is(t, 200).Has(t, card(first, "NOT_STARTED"), `data-state="not_started"`, "/start", "/abort", shortOf(x.Hash), "Not started")
	page.Lacks(t, "/pause", "/resume", "run-cause", "/promote")
	page.Has(t, "warning", "Writes to the table wait until the index is built", "CONCURRENTLY")
	vic.Get(t, onBoard(x)).Is(t, 200).Lacks(t, "/start", "/abort", "/approve")
	mia.Get(t, runOf(first)).Is(t, 200).Has(t, "It has not run yet", "create table orders", "/skip").Lacks(t, "/retry", "/cancel", "/resolve")

	h.must(h.Rollouts.Start(t.Context(), "ann", x.ID))
	mia.Get(t, onBoard(x)).Is(t, 200).Has(t, card(first, "AVAILABLE"), "is-available", "/pause", card(h.task(x, key("a", "2")), "PENDING"), "Blocked by", runOf(first)).Lacks(t, onBoard(x)+"/start", "/resume")
	mia.Get(t, runOf(first)).Is(t, 200).Has(t, "/cancel", "/skip").Lacks(t, "/retry", "run-cause")
	mia.Get(t, runOf(h.task(x, key("a", "2")))).Is(t, 200).Has(t, "run-cause", "Blocked by", "a · 1 orders")

	// Canceled, skipped, unknown, and what fits each.
	mia.Post(t, runOf(first)+"/cancel", form("reason", "not <b>now</b>")).Is(t, 303)
	mia.Get(t, runOf(first)).Is(t, 200).Has(t, `data-status="CANCELED"`, "/retry", "/skip").Lacks(t, "/cancel\"", "<b>now")
	mia.Post(t, runOf(first)+"/retry", form()).Is(t, 303)
	h.status(x, key("a", "1"), rollout.Available)
	second := h.task(x, key("b", "1"))
	mia.Post(t, runOf(second)+"/skip", form("reason", " ")).Is(t, 422).Has(t, "It is missing")
	mia.Post(t, runOf(second)+"/skip", form("reason", "done by hand")).Is(t, 303)
	mia.Get(t, runOf(second)).Is(t, 200).Has(t, `data-status="SKIPPED"`, "done by hand").Lacks(t, "/retry", "/skip\"")
	lost := h.lose(x, key("c", "1"))
	mia.Get(t, runOf(lost)).Is(t, 200).Has(t, `data-status="UNKNOWN"`, "Nobody knows whether it was applied", "/resolve").Lacks(t, "/retry")
	mia.Post(t, runOf(lost)+"/resolve", form("reason", "looked")).Is(t, 422).Has(t, "It is missing")
	mia.Post(t, runOf(lost)+"/resolve", form("applied", "false", "reason", "looked: no table")).Is(t, 303)
	mia.Get(t, runOf(lost)).Is(t, 200).Has(t, `data-status="FAILED"`, "/retry", "/skip", "looked: no table")
	mia.Get(t, onBoard(x)).Is(t, 200).Has(t, card(lost, "FAILED"))
	vic.Post(t, runOf(lost)+"/retry", form()).Is(t, http.StatusForbidden)
	mia.Get(t, "/rollouts/"+first.ID.String()+"/tasks/"+first.ID.String()).Is(t, http.StatusNotFound)
	mia.Get(t, runOf(lost)+"?attempt=9").Is(t, http.StatusNotFound)
	mia.Get(t, runOf(lost)+"?attempt=x").Is(t, http.StatusNotFound)

	// Lists.
	mia.Get(t, onBoard(x)+"/tasks?status=SKIPPED").Is(t, 200).Has(t, second.ID.String()).Lacks(t, lost.ID.String())
	mia.Get(t, onBoard(x)+"/tasks?database=p&stage=prod").Is(t, 200).Has(t, "prod").Lacks(t, second.ID.String())
	mia.Get(t, onBoard(x)+"/plan").Is(t, 200).Has(t, x.Hash, "create table orders", "V2__index.sql", "Safer")
	if sql := mia.Get(t, onBoard(x)+"/changes/1/sql").Is(t, 200); sql.Body != "create table orders (id int);" {
		t.Errorf("the change is %q", sql.Body)
	}
	mia.Get(t, "/rollouts").Is(t, 200).Has(t, "orders", "stage-bar", `data-state="`)
	mia.Get(t, "/rollouts?database=p").Is(t, 200).Has(t, x.ID.String())
	mia.Get(t, "/rollouts?database=q").Is(t, 200).Lacks(t, x.ID.String())
	mia.Get(t, "/databases").Is(t, 200).Has(t, "never reached")
	mia.Get(t, "/jobs/"+x.ID.String()).Is(t, 200).Has(t, onBoard(x), "the board of this rollout")

	// The end.
	mia.Post(t, onBoard(x)+"/pause", form("reason", "lunch")).Is(t, 303)
	mia.Get(t, onBoard(x)).Is(t, 200).Has(t, `data-state="paused"`, "lunch", "/resume").Lacks(t, onBoard(x)+"/pause")
	mia.Post(t, onBoard(x)+"/resume", form()).Is(t, 303)
	mia.Post(t, onBoard(x)+"/abort", form("reason", "")).Is(t, 422)
	mia.Get(t, onBoard(x)+"/abort").Is(t, 200).Has(t, "cannot be taken back")
	mia.Post(t, onBoard(x)+"/abort", form("reason", "wrong plan")).Is(t, 303)
	mia.Get(t, onBoard(x)).Is(t, 200).Has(t, `data-state="canceled"`, "wrong plan", "Aborted by").Lacks(t, onBoard(x)+"/abort", "/approve")
}

func shortOf(hash string) string { return hash[:12] }

// A stage that wants approvals shows who said yes and how many are missing. One
// person counts once, and may take it back until the stage begins.
func TestRolloutApprovals(t *testing.T) {
	h := newHarbour(t)
	h.paper("test", "a")
	x := h.create(rollout.Plan{
		Stages: []rollout.Stage{{Name: "test", Approvals: 2, Promote: rollout.PromoteManual}},
		Files:  []rollout.File{file("V1__drop.sql", "drop table orders;")},
	})
	h.must(h.Rollouts.Start(t.Context(), "ann", x.ID))
	mia, max, olga := h.Login(t, "mia", auth.Maintainer), h.Login(t, "max", auth.Maintainer), h.Login(t, "olga", auth.Operator)
	stage := onBoard(x) + "/stages/test"
	mia.Get(t, onBoard(x)).Is(t, 200).Has(t, "Approvals: 0 of 2", "2 more needed", stage+"/approve", `data-state="waiting"`, "run-cause").Lacks(t, stage+"/revoke", stage+"/promote")
	olga.Get(t, onBoard(x)).Is(t, 200).Lacks(t, stage+"/approve")
	olga.Post(t, stage+"/approve", form()).Is(t, http.StatusForbidden)
	mia.Get(t, stage+"/approve").Is(t, 200).Has(t, shortOf(x.Hash), "What is dropped is gone")
	mia.Get(t, onBoard(x)+"/stages/none/approve").Is(t, http.StatusNotFound)
	mia.Post(t, stage+"/approve", form("note", "read <i>it</i>")).Is(t, 303)
	mia.Get(t, onBoard(x)).Is(t, 200).Has(t, "Approvals: 1 of 2", "1 more needed", "mia", "read &lt;i&gt;", stage+"/revoke").Lacks(t, stage+"/approve", stage+"/promote", "<i>it")
	mia.Post(t, stage+"/revoke", form()).Is(t, 303)
	mia.Get(t, onBoard(x)).Is(t, 200).Has(t, "Approvals: 0 of 2", stage+"/approve")
	mia.Post(t, stage+"/approve", form()).Is(t, 303)
	max.Post(t, stage+"/approve", form()).Is(t, 303)
	full, err := h.Rollouts.Rollout(t.Context(), x.ID)
	if err != nil || len(full.Stages[0].Approved) != 2 || full.Stages[0].Approved[0].By != "mia" {
		t.Fatalf("%+v, %v", full.Stages, err)
	}
	status := h.task(x, "test/a/1").Status
	if full.Stages[0].State == rollout.StateWaiting {
		olga.Get(t, onBoard(x)).Is(t, 200).Has(t, stage+"/promote")
		olga.Post(t, stage+"/promote", form()).Is(t, 303)
		status = h.task(x, "test/a/1").Status
	}
	if status != rollout.Available {
		t.Errorf("the task is %s", status)
	}
	mia.Get(t, onBoard(x)).Is(t, 200).Has(t, `data-status="AVAILABLE"`).Lacks(t, stage+"/approve", stage+"/revoke", stage+"/promote")
}

// What people wrote into names, notes and files is text.
func TestRolloutHostile(t *testing.T) {
	h := newHarbour(t)
	h.paper("test", "a")
	x := h.create(rollout.Plan{
		Name: "r" + evil, Note: evil, Stages: []rollout.Stage{{Name: "test"}},
		Files: []rollout.File{file("V1__x.sql", "-- "+evil+"\nselect '"+strings.ReplaceAll(evil, "'", "''")+"';")},
	})
	h.must(h.Rollouts.Start(t.Context(), "ann", x.ID))
	c := h.Login(t, "mia", auth.Maintainer)
	c.Post(t, onBoard(x)+"/pause", form("reason", evil)).Is(t, 303)
	task := h.task(x, "test/a/1")
	c.Post(t, runOf(task)+"/skip", form("reason", evil)).Is(t, 303)
	for _, path := range []string{"/rollouts", onBoard(x), onBoard(x) + "/plan", onBoard(x) + "/tasks", runOf(task), onBoard(x) + "/abort", onBoard(x) + "/stages/test/promote", "/databases/a"} {
		if page := c.Get(t, path).Is(t, 200).Lacks(t, "<script>alert", "<img src=x"); !strings.Contains(page.Body, "alert(1)") {
			t.Errorf("%s does not show it", path)
		}
	}
}

// A board has a bounded number of cards: of a large stage those that matter most, and
// counts that lead to the rest.
func TestRolloutMany(t *testing.T) {
	h := newHarbour(t)
	var names []string
	for i := range 100 {
		names = append(names, fmt.Sprintf("db%03d", i))
	}
	h.paper("test", names...)
	h.paper("prod", "p1", "p2")
	var files []rollout.File
	for i := range 20 {
		files = append(files, file(fmt.Sprintf("V%d__x.sql", i+1), fmt.Sprintf("create table x%d (id int);", i+1)))
	}
	x := h.create(rollout.Plan{Stages: []rollout.Stage{{Name: "test", Canary: 2, OnFailure: rollout.OnFailureContinue}, {Name: "prod"}}, Files: files})
	c := h.Login(t, "vic", auth.Viewer)
	rest := func(stage, status string) string {
		return fmt.Sprintf(`href="%s/tasks?stage=%s&amp;status=%s">`, onBoard(x), stage, status)
	}
	page := c.Get(t, onBoard(x)).Is(t, 200).Has(t, "1940 more tasks", rest("test", "NOT_STARTED"), "canary: 2 first").Lacks(t, rest("prod", "NOT_STARTED"))
	if n := strings.Count(page.Body, `class="run-card`); n != 60+40 {
		t.Errorf("the board has %d cards", n)
	}

	// What failed comes first, wherever the plan has it.
	h.must(h.Rollouts.Start(t.Context(), "ann", x.ID))
	lost := h.lose(x, "test/db001/1")
	h.must(h.Rollouts.Resolve(t.Context(), "ann", lost.ID, false, "looked"))
	h.status(x, "test/db001/1", rollout.Failed)
	first, _, _ := strings.Cut(strings.SplitN(c.Get(t, onBoard(x)).Is(t, 200).Body, `<article class="`, 2)[1], ">")
	if want := card(lost, rollout.Failed); !strings.Contains(first, want) {
		t.Errorf("the first card is %s, want %s", first, want)
	}

	c.Get(t, onBoard(x)+"/tasks?stage=prod&status=NOT_STARTED").Is(t, 200).Has(t, "p1", "p2").Lacks(t, "db000", "rel=\"next\"")
	list := c.Get(t, onBoard(x)+"/tasks?stage=test").Is(t, 200).Has(t, "db000", "db002", "rel=\"next\"").Lacks(t, "db003")
	next := between(t, list.Body, `href="`, `" rel="next"`)
	c.Get(t, strings.ReplaceAll(next, "&amp;", "&")).Is(t, 200).Has(t, "db002", "db004").Lacks(t, ">db000<")
}

// between is the shortest text that ends with after and begins behind before.
func between(t *testing.T, text, before, after string) string {
	t.Helper()
	head, _, ok := strings.Cut(text, after)
	if !ok {
		t.Fatalf("no %s", after)
	}
	return head[strings.LastIndex(head, before)+len(before):]
}

// The language is that of the browser, until a person chooses another.
func TestRolloutLanguage(t *testing.T) {
	h := newHarbour(t)
	h.paper("test", "a")
	x := h.create(rollout.Plan{Stages: []rollout.Stage{{Name: "test"}}, Files: []rollout.File{file("V1__x.sql", "create table x (id int);")}})
	h.must(h.Rollouts.Start(t.Context(), "ann", x.ID))
	c := h.Login(t, "vic", auth.Viewer)
	c.Get(t, onBoard(x)).Is(t, 200).Has(t, "Available", `lang="en"`).Lacks(t, "실행 가능")
	if to := c.Post(t, "/language", form("language", "ko", "back", onBoard(x))).Is(t, 303).To(); to != onBoard(x) {
		t.Errorf("it leads to %s", to)
	}
	c.Get(t, onBoard(x)).Is(t, 200).Has(t, "실행 가능", `<html lang="ko">`, "타임라인").Lacks(t, ">Available")
	c.Get(t, "/databases").Is(t, 200).Has(t, "환경")
	c.Post(t, "/language", form("language", "xx", "back", "https://evil.example")).Is(t, 303)
	c.Get(t, onBoard(x)).Is(t, 200).Has(t, "실행 가능")
	if to := c.Post(t, "/language", form("language", "en", "back", "//evil.example")).Is(t, 303).To(); to != "/" {
		t.Errorf("it leads to %s", to)
	}
	c.Get(t, onBoard(x)).Is(t, 200).Lacks(t, "실행 가능")
}
