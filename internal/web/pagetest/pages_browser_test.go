package pagetest_test

import (
	"testing"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/web/webtest"
)

// Pictures of the overview, of jobs and of tasks, and a look at each for what
// sticks out at the side.
func TestBrowserWorkShots(t *testing.T) {
	s := webtest.Start(t)
	b := s.Open(t)
	b.Login(s.User(t, "ada", auth.Maintainer))
	b.Go("/")
	b.WaitText("Three steps")
	b.Shots("overview-fresh")
	b.Go("/jobs")
	b.Shots("jobs-empty")
	b.Go("/tasks")
	b.Shots("tasks-empty")
	st := furnish(t, s)
	job, wide := "/jobs/"+st.job.String(), "/jobs/"+st.wide.String()
	for _, p := range []struct{ name, path string }{
		{"overview", "/"},
		{"jobs", "/jobs"},
		{"jobs-none", "/jobs?state=canceled"},
		{"job", job},
		{"job-gantt", job + "/gantt"},
		{"job-tasks", job + "/tasks"},
		{"job-timeline", job + "/timeline"},
		{"job-params", job + "/params"},
		{"job-wide", wide},
		{"job-wide-gantt", wide + "/gantt"},
		{"job-hostile", "/jobs/" + st.bad.String()},
		{"job-cancel", job + "/cancel"},
		{"tasks", "/tasks"},
		{"tasks-pending", "/tasks?state=pending"},
		{"new-task", "/new-task"},
		{"task-running", "/tasks/" + st.running.String()},
		{"task-needs", "/tasks/" + st.needing.String()},
		{"task-held", "/tasks/" + st.held.String()},
		{"task-time", "/tasks/" + st.timed.String()},
		{"task-pool", "/tasks/" + st.pooled.String()},
		{"task-lane", "/tasks/" + st.laned.String()},
		{"task-ready", "/tasks/" + st.ready.String()},
		{"task-failed", "/tasks/" + st.failed.String()},
		{"task-done", "/tasks/" + st.done.String()},
		{"task-hostile", "/tasks/" + st.hostile.String()},
		{"task-skip", "/tasks/" + st.held.String() + "/skip"},
	} {
		b.Go(p.path)
		b.Shots(p.name)
		if cut := b.Value(`[...document.querySelectorAll(".table")].filter((e) => e.getBoundingClientRect().width > e.parentElement.getBoundingClientRect().width + 1).map((e) => e.caption.textContent).join()`); cut != "" {
			t.Errorf("%s: a column of the table %s is cut off", p.name, cut)
		}
	}
}
