package pagetest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/web/webtest"
)

func page(id weir.ID) string { return "/tasks/" + id.String() }

// A task that waits says why first: the gate, what stands in the way, since when.
func TestTaskWhy(t *testing.T) {
	s := webtest.Start(t)
	st := furnish(t, s)
	c := s.Login(t, "ada", auth.Viewer)
	for _, w := range []struct {
		id  weir.ID
		has []string
	}{
		{st.held, []string{"Held by the editor: watch the trailer first", "closed"}},
		{st.timed, []string{"Not before", "in 2h"}},
		{st.pooled, []string{"Pool encoders is full: 1 of 1 places are taken", `title="`}},
		{st.laned, []string{"has lane site and is running"}},
		{st.needing, []string{"Waits for 3 of 3: 1080p (pending), 720p (pending), thumbnails (pending)", "it needs this", "needs it"}},
		{st.ready, []string{"No live worker serves nobody.serves.this"}},
	} {
		a := c.Get(t, page(w.id)).Is(t, http.StatusOK).Has(t, append(w.has, "Why it waits")...)
		if strings.Index(a.Body, "Why it waits") > strings.Index(a.Body, "Attempts") {
			t.Errorf("%v: why does not come first", w.has)
		}
	}
	// The blocker is a link.
	reasons, err := s.Client.Why(t.Context(), st.pooled)
	if err != nil || len(reasons) == 0 || reasons[0].Blocker.IsZero() {
		t.Fatalf("%+v, %v", reasons, err)
	}
	c.Get(t, page(st.pooled)).Has(t, `href="`+page(reasons[0].Blocker)+`"`)
}

// The page of a task has everything about it, and nothing of it is ever markup.
func TestTask(t *testing.T) {
	s := webtest.Start(t)
	st := furnish(t, s)
	c := s.Login(t, "ada", auth.Viewer)
	c.Get(t, page(st.running)).Is(t, http.StatusOK).Lacks(t, "Why it waits", page(st.running)+"/cancel", "\x1b").Has(t,
		"64%", "encoder@pc-07", "Deadline", "4bf92f3577b34da6a3ce929d0e0e4736", "reading the container", `<span class="f3">codec</span> is old`, "second line",
		"pic-strip", "attempt 1 of 3", "claimed", "The Lock Keeper", "needs it")
	c.Get(t, page(st.failed)).Is(t, http.StatusOK).Has(t, "550 mailbox unavailable", "at send (mail.go:42)", "제목", "11월 청구서")
	c.Get(t, page(st.done)).Is(t, http.StatusOK).Has(t, "hello, world", "done").Lacks(t, "Why it waits")
	c.Get(t, page(st.hostile)).Is(t, http.StatusOK).Has(t, "&lt;img src=x", `<span class="f1">red</span>`).Lacks(t, "<img src=x", "\x1b", `href="javascript`, "</script>'")
	c.Get(t, page(st.job)).Is(t, http.StatusNotFound)

	// What is served whole is never a page.
	for path, has := range map[string]string{
		page(st.failed) + "/params.json": "청구서", page(st.done) + "/result.json": "hello, world", page(st.running) + "/log": "reading the container",
		page(st.running) + "/events.json": `"claimed"`, page(st.hostile) + "/params.json": "onerror", page(st.held) + "/result.json": "null",
	} {
		a := c.Get(t, path).Is(t, http.StatusOK).Has(t, has)
		if kind := a.Header.Get("Content-Type"); strings.Contains(kind, "html") || !strings.Contains(a.Header.Get("Content-Security-Policy"), "sandbox") {
			t.Errorf("%s is served as %s", path, kind)
		}
	}
	s.Nobody(t).Get(t, page(st.failed)+"/params.json").Is(t, http.StatusSeeOther)
}

// Each action is there when the state allows it and the role may, and is refused
// else.
func TestTaskActions(t *testing.T) {
	s := webtest.Start(t)
	st := furnish(t, s)
	clients := map[auth.Role]*webtest.Client{}
	for _, role := range auth.Roles() {
		clients[role] = s.Login(t, "u-"+string(role), role)
	}
	all := []string{"cancel", "retry", "skip", "hold", "release", "priority"}
	for _, w := range []struct {
		id         weir.ID
		operator   string
		maintainer string
	}{
		{st.held, "release priority cancel", "skip"},
		{st.pooled, "hold priority cancel", "skip"},
		{st.ready, "hold priority cancel", "skip"},
		{st.running, "cancel", ""},
		{st.failed, "retry", "skip"},
		{st.done, "", ""},
	} {
		for role, c := range clients {
			want := map[string]bool{}
			if role != auth.Viewer {
				for _, verb := range strings.Fields(w.operator) {
					want[verb] = true
				}
			}
			if role == auth.Maintainer || role == auth.Admin {
				for _, verb := range strings.Fields(w.maintainer) {
					want[verb] = true
				}
			}
			body := c.Get(t, page(w.id)).Is(t, http.StatusOK).Body
			for _, verb := range all {
				if has := strings.Contains(body, page(w.id)+"/"+verb+`"`); has != want[verb] {
					t.Errorf("%s sees %s of %s: %t", role, verb, w.operator, has)
				}
			}
		}
	}
	for _, verb := range all {
		clients[auth.Viewer].Post(t, page(st.held)+"/"+verb, form("reason", "x", "priority", "1")).Is(t, http.StatusForbidden)
	}
	clients[auth.Operator].Post(t, page(st.held)+"/skip", form("reason", "x")).Is(t, http.StatusForbidden)
	if task, err := s.Store.Task(t.Context(), st.held); err != nil || task.State != "pending" || task.Priority != 0 || task.Hold == "" {
		t.Errorf("a refused action did something: %+v, %v", task, err)
	}
}

// The life of a task under a person's hand.
func TestTaskCommands(t *testing.T) {
	s := webtest.Start(t)
	c := s.Login(t, "mia", auth.Maintainer)
	task := page(submit(t, s, weir.Task{Service: "x", Key: "patient"}))
	do := func(verb, say string, fields ...string) {
		t.Helper()
		to := c.Post(t, task+"/"+verb, form(fields...)).Is(t, http.StatusSeeOther).To()
		c.Get(t, to).Is(t, http.StatusOK).Has(t, say)
	}
	c.Get(t, task+"/hold").Has(t, "Hold patient?", "until somebody releases it")
	do("hold", "The task is held", "reason", "wait for ada")
	c.Get(t, task).Has(t, "Held by mia: wait for ada")
	do("release", "The task is released")
	c.Post(t, task+"/release", form()).Is(t, http.StatusConflict)
	c.Get(t, task+"/priority").Has(t, `value="0"`)
	c.Post(t, task+"/priority", form("priority", "much")).Is(t, http.StatusUnprocessableEntity).Has(t, `value="much"`, "is not a number")
	c.Post(t, task+"/priority", form("priority", "500")).Is(t, http.StatusUnprocessableEntity).Has(t, "is not from -100 to 100")
	do("priority", "The priority is 42 now.", "priority", "42")
	c.Get(t, task+"/cancel").Has(t, "Cancel patient?", "never starts")
	do("cancel", "The task is canceled.", "reason", "not needed")
	c.Get(t, task).Has(t, "not needed").Lacks(t, task+"/cancel")
	c.Post(t, task+"/hold", form()).Is(t, http.StatusConflict)
	do("retry", "The task runs again")
	c.Post(t, task+"/skip", form()).Is(t, http.StatusUnprocessableEntity).Has(t, "It is missing", "Why it need not run")
	do("skip", "The task is skipped", "reason", "done by hand")
	c.Get(t, task).Has(t, "done by hand", "skipped")

	// An action leads back to the list it began on, and never elsewhere.
	other := page(submit(t, s, weir.Task{Service: "x"}))
	if to := c.Post(t, other+"/cancel?back=%2Ftasks%3Fstate%3Dcanceled", form()).To(); to != "/tasks?state=canceled" {
		t.Errorf("it leads to %s", to)
	}
	c.Get(t, other+"/hold?back=https%3A%2F%2Fevil.example").Is(t, http.StatusOK).Lacks(t, `href="https://evil`)
	if to := c.Post(t, other+"/retry?back=https%3A%2F%2Fevil.example", form()).To(); to != "/" {
		t.Errorf("it leads to %s", to)
	}
	c.Get(t, "/tasks/"+strings.Repeat("0", 8)+"/cancel").Is(t, http.StatusNotFound)
}
