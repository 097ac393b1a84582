package pagetest_test

import (
	"net/http"
	"testing"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/web/webtest"
)

// The list says at a glance why a task is where it is, and each filter narrows it.
func TestTasks(t *testing.T) {
	s := webtest.Start(t)
	c := s.Login(t, "ada", auth.Viewer)
	c.Get(t, "/tasks").Is(t, http.StatusOK).Has(t, "No task yet")
	st := furnish(t, s)
	c.Get(t, "/tasks?state=pending").Is(t, http.StatusOK).Has(t, "held by the editor: watch the trailer first", "waits for room in pool encoders", "waits for its turn in lane site",
		"waits for its time", "waits for 3 tasks of its job", "&lt;img src=x").Lacks(t, "<img src=x", "/cancel", "/hold")
	c.Get(t, "/tasks?state=running").Has(t, "64%", "on encoder@pc-07")
	c.Get(t, "/tasks?state=failed").Has(t, "the mail server said no")
	for _, f := range []struct{ query, has, lacks string }{
		{"gate=hold", st.held.String(), st.pooled.String()},
		{"gate=pool&pool=encoders", st.pooled.String(), st.held.String()},
		{"lane=site", st.laned.String(), st.held.String()},
		{"service=nobody.serves.this", st.ready.String(), st.held.String()},
		{"key=trailer", st.held.String(), st.ready.String()},
		{"job=" + st.job.String(), st.running.String(), st.held.String()},
		{"job=" + st.job.String()[24:], st.running.String(), st.held.String()},
	} {
		c.Get(t, "/tasks?"+f.query).Is(t, http.StatusOK).Has(t, f.has).Lacks(t, f.lacks)
	}
	c.Get(t, "/tasks?service=nobody.serves.this").Has(t, "no live worker serves nobody.serves.this")
	c.Get(t, "/tasks?service=frame.render&state=available").Has(t, "waits for a worker").Lacks(t, "no live worker")
	c.Get(t, "/tasks?service=none").Is(t, http.StatusOK).Has(t, "No task fits")
	c.Get(t, "/tasks?state=nonsense").Is(t, http.StatusUnprocessableEntity)
	c.Get(t, "/tasks?gate=nonsense").Is(t, http.StatusUnprocessableEntity)
	c.Get(t, "/tasks?job=ffffffffffff").Is(t, http.StatusNotFound)
	c.Get(t, "/tasks?after=nonsense").Is(t, http.StatusUnprocessableEntity)
	// The menu of a row has what its state and the reader's role allow.
	held := "/tasks/" + st.held.String()
	s.Login(t, "bob", auth.Operator).Get(t, "/tasks?gate=hold").Has(t, held+"/release?back=", held+"/cancel?back=").Lacks(t, held+"/skip", held+"/hold")
	s.Login(t, "mia", auth.Maintainer).Get(t, "/tasks?gate=hold").Has(t, held+"/skip?back=")
}

func TestNewTask(t *testing.T) {
	s := webtest.Start(t)
	viewer, operator := s.Login(t, "eve", auth.Viewer), s.Login(t, "ada", auth.Operator)
	viewer.Get(t, "/new-task").Is(t, http.StatusForbidden)
	viewer.Post(t, "/new-task", form("service", "x")).Is(t, http.StatusForbidden)
	operator.Get(t, "/new-task").Is(t, http.StatusOK).Has(t, "Service", "Params")
	operator.Post(t, "/new-task", form()).Is(t, http.StatusUnprocessableEntity).Has(t, "Say which service")
	operator.Post(t, "/new-task", form("service", "x", "params", "{not json")).Is(t, http.StatusUnprocessableEntity).Has(t, "This is no JSON", "{not json", `value="x"`)
	operator.Post(t, "/new-task", form("service", "x", "priority", "high")).Is(t, http.StatusUnprocessableEntity).Has(t, "is not a number")
	operator.Post(t, "/new-task", form("service", "x", "priority", "1000")).Is(t, http.StatusUnprocessableEntity)
	values := form("service", "mail", "params", `{"to": "a"}`, "priority", "7", "unique_key", "one", "hold", "ada", "key", "hello")
	first := operator.Post(t, "/new-task", values).Is(t, http.StatusSeeOther).To()
	operator.Get(t, first).Is(t, http.StatusOK).Has(t, "The task is submitted.", "hello", "Held by ada", `&#34;to&#34;`)
	if again := operator.Post(t, "/new-task", values).To(); again != first {
		t.Errorf("the same unique key led to %s and %s", first, again)
	}
}
