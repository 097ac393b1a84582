package pagetest_test

import (
	"testing"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/web/webtest"
)

// A job runs on a real worker, and its page follows to the end without a reload:
// the boxes of the graph change their colours.
func TestBrowserJobRuns(t *testing.T) {
	s := webtest.Start(t)
	gate := make(chan struct{})
	b := s.Open(t)
	b.Login(s.User(t, "ada", auth.Viewer))
	id := submitJob(t, s, film("Spring Tide"))
	b.Go("/jobs/" + id.String())
	b.WaitLive()
	b.Wait("a mark", `(window.mark = true)`)
	b.Wait("boxes that wait", `document.querySelectorAll(".pic-dag .pic-pending").length >= 5 && !document.querySelector(".pic-dag .pic-done")`)
	work(t, s, gate)
	b.Wait("a box that runs", `document.querySelector(".pic-dag .pic-running")`)
	b.Shot("job-runs")
	gate <- struct{}{} // probe
	b.Wait("a box that is done", `document.querySelector(".pic-dag .pic-done")`)
	b.Wait("three that run", `document.querySelectorAll(".pic-dag a.pic-running, .pic-dag a .pic-running").length >= 3 || document.querySelectorAll(".pic-dag .pic-running").length >= 3`)
	close(gate)
	b.Wait("the end of the job", `document.querySelector(".page-head h1").innerText.includes("done")`)
	b.Wait("a graph that is done", `!document.querySelector(".pic-dag .pic-running, .pic-dag .pic-pending, .pic-dag .pic-available")`)
	b.WaitText("6/6")
	if !b.Is(`window.mark`) {
		t.Error("the page was loaded again")
	}
	b.Shots("job-done")
	b.ClickText("Gantt")
	b.Wait("the Gantt chart", `document.querySelector(".pic-gantt")`)
	b.Shots("job-done-gantt")
	b.Go("/jobs/" + id.String())
	b.Click(".pic-dag a")
	b.Wait("the page of a task", `location.pathname.startsWith("/tasks/")`)
	b.WaitText("Attempts")
}

// The overview moves while tasks run, and shows the first task without a reload.
func TestBrowserOverviewMoves(t *testing.T) {
	s := webtest.Start(t)
	gate := make(chan struct{})
	b := s.Open(t)
	b.Login(s.User(t, "ada", auth.Viewer))
	b.Go("/")
	b.WaitText("Three steps")
	b.WaitLive()
	b.Wait("a mark", `(window.mark = true)`)
	submit(t, s, weir.Task{Service: "probe", Key: "the first task"})
	b.WaitGone("Three steps")
	b.WaitText("No worker is alive")
	work(t, s, gate)
	b.WaitText("50%")
	b.WaitGone("No worker is alive")
	close(gate)
	b.WaitText("Nothing runs")
	if !b.Is(`window.mark`) {
		t.Error("the page was loaded again")
	}
}
