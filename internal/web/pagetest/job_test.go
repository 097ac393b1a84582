package pagetest_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/web/webtest"
)

// Every view of a job shows what it is for, and nothing of it is ever markup.
func TestJob(t *testing.T) {
	s := webtest.Start(t)
	st := furnish(t, s)
	c := s.Login(t, "ada", auth.Viewer)
	job := "/jobs/" + st.job.String()
	c.Get(t, job).Is(t, http.StatusOK).Has(t, "The Lock Keeper", "pic-dag", "thumbnails", "/tasks/"+st.running.String(), "running 64 %", "6 not ended yet").
		Lacks(t, job+"/cancel")
	c.Get(t, job+"/gantt").Is(t, http.StatusOK).Has(t, "pic-gantt", "probe", `aria-current>Gantt`)
	c.Get(t, job+"/tasks").Is(t, http.StatusOK).Has(t, "1080p", "package", "waits for 3 tasks of its job")
	c.Get(t, job+"/tasks?state=running").Is(t, http.StatusOK).Has(t, "probe").Lacks(t, "1080p")
	c.Get(t, job+"/timeline").Is(t, http.StatusOK).Has(t, "claimed", "reading the container", "encoder@pc-07", ">thumbnails</a>")
	c.Get(t, job+"/params").Is(t, http.StatusOK).Has(t, "The Lock Keeper", job+"/params.json")
	c.Get(t, job+"/params.json").Is(t, http.StatusOK).Has(t, `"title": "The Lock Keeper"`)
	for _, tab := range []string{"", "/gantt", "/tasks", "/timeline", "/params"} {
		c.Get(t, "/jobs/"+st.bad.String()+tab).Is(t, http.StatusOK).Lacks(t, "<img src=x", "\x1b")
	}
	c.Get(t, "/jobs/"+st.running.String()).Is(t, http.StatusNotFound)
	c.Get(t, "/jobs/nonsense").Is(t, http.StatusNotFound)
	// A group of equal tasks leads to the list of them, and a failed one to its cause.
	c.Get(t, "/jobs/"+st.wide.String()).Is(t, http.StatusOK).Has(t, "frame.render × 48", "/tasks?service=frame.render", "out of memory on the card", "3 failed")
}

// A job of ten thousand tasks is drawn in part, and the page says so.
func TestJobTenThousand(t *testing.T) {
	s := webtest.Start(t)
	job := weir.Job{Name: "huge"}
	for i := range 10_000 {
		job.Tasks = append(job.Tasks, weir.Task{Service: "x", Key: fmt.Sprintf("t%05d", i)})
	}
	path := "/jobs/" + submitJob(t, s, job).String()
	c := s.Login(t, "ada", auth.Viewer)
	for _, tab := range []string{"", "/gantt"} {
		page := c.Get(t, path+tab).Is(t, http.StatusOK).Has(t, "Drawn from the first 2\u202f000 of 10\u202f000 tasks", path+"/tasks")
		if len(page.Body) > 1<<20 {
			t.Errorf("%s has %d bytes", tab, len(page.Body))
		}
	}
	first := c.Get(t, path+"/tasks").Is(t, http.StatusOK).Has(t, "t00000")
	if n := strings.Count(first.Body, "data-href"); n != 50 {
		t.Errorf("the list has %d tasks", n)
	}
	c.Get(t, hrefOf(t, first.Body, `rel="next"`)).Is(t, http.StatusOK).Has(t, "t00050").Lacks(t, "t00049")
}

// Whoever commands cancels a job; whoever only looks is refused.
func TestJobCancel(t *testing.T) {
	s := webtest.Start(t)
	path := "/jobs/" + submitJob(t, s, film("Low Water")).String()
	viewer, operator := s.Login(t, "eve", auth.Viewer), s.Login(t, "ada", auth.Operator)
	viewer.Get(t, path+"/cancel").Is(t, http.StatusForbidden)
	viewer.Post(t, path+"/cancel", form()).Is(t, http.StatusForbidden)
	viewer.Get(t, path).Has(t, "running")
	operator.Get(t, path).Has(t, `href="`+path+`/cancel"`)
	operator.Get(t, path+"/cancel").Is(t, http.StatusOK).Has(t, "6 tasks have not ended", "Cancel the job")
	to := operator.Post(t, path+"/cancel", form("reason", "wrong film")).Is(t, http.StatusSeeOther).To()
	operator.Get(t, to).Has(t, "6 tasks are canceled.", "canceled").Lacks(t, path+"/cancel")
	operator.Get(t, path+"/timeline").Has(t, "wrong film")
}
