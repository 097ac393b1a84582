package pagetest_test

import (
	"net/http"
	"testing"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/web/webtest"
)

// A server that has just begun says what to do first, and only that.
func TestOverviewFresh(t *testing.T) {
	s := webtest.Start(t)
	s.Login(t, "ada", auth.Viewer).Get(t, "/").Is(t, http.StatusOK).
		Has(t, "Three steps", "weir task submit hello", "weir.NewWorker", "weir.claim", "weir events --follow").Lacks(t, "What runs", "New task")
}

// The overview tells what runs, what waits at which gate, and what failed.
func TestOverview(t *testing.T) {
	s := webtest.Start(t)
	st := furnish(t, s)
	s.Login(t, "ada", auth.Operator).Get(t, "/").Is(t, http.StatusOK).Lacks(t, "Three steps", "<img src=x").Has(t,
		"probe", "64%", "out of memory on the card", "the mail server said no", "The Lock Keeper",
		`/tasks?gate=pool&amp;pool=encoders`, `/tasks?gate=lane&amp;lane=site`, `/tasks?gate=needs`, `/tasks?gate=hold`, `/tasks?gate=time`,
		"/tasks/"+st.pooled.String(), // the example of its gate
		"/tasks/"+st.failed.String()+"/retry?back=%2F",
		"leads, epoch 7", "The check loops does not hold", "/health/doctor", "on 1 node")
	// Those who may not retry see no button for it.
	s.Login(t, "eve", auth.Viewer).Get(t, "/").Is(t, http.StatusOK).Has(t, "the mail server said no").Lacks(t, "/retry", "New task")
}

// Work that nobody can take is said first.
func TestOverviewWithoutWorkers(t *testing.T) {
	s := webtest.Start(t)
	s.Exec(t, `select weir.submit('lonely')`)
	s.Login(t, "ada", auth.Viewer).Get(t, "/").Is(t, http.StatusOK).Has(t, "No worker is alive", "1 task is ready")
}
