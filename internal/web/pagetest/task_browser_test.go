package pagetest_test

import (
	"testing"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/web/webtest"
)

// Why a task waits is the first thing on its page, the blocker is a click away,
// and the page follows when the reason is gone.
func TestBrowserWhy(t *testing.T) {
	s := webtest.Start(t)
	b := s.Open(t)
	b.Login(s.User(t, "ada", auth.Operator))
	first := submit(t, s, weir.Task{Service: "publish", Key: "v1", Lane: "site", Exclusive: true})
	second := submit(t, s, weir.Task{Service: "publish", Key: "v2", Lane: "site", Exclusive: true})
	b.Go(page(second))
	b.WaitLive()
	b.WaitText("has lane site and is available")
	b.Click("#live-why .id a")
	b.Wait("the page of the blocker", `location.pathname === "`+page(first)+`"`)
	b.WaitText("No live worker serves publish")

	// Cancel it, by the dialog.
	b.WaitLive()
	b.ClickText("Cancel")
	b.Wait("the question", `document.querySelector("#ask").open`)
	b.WaitText("never starts")
	b.Shots("task-cancel-dialog")
	b.Fill("#ask [name=reason]", "superseded")
	b.ClickText("Cancel the task")
	b.WaitText("The task is canceled.")
	b.WaitText("superseded")
	b.Go(page(second))
	b.WaitText("No live worker serves publish")
}

// The buttons of a task follow its state: what is held elsewhere can be released
// here, without a reload.
func TestBrowserTaskFollows(t *testing.T) {
	s := webtest.Start(t)
	b := s.Open(t)
	b.Login(s.User(t, "ada", auth.Operator))
	id := submit(t, s, weir.Task{Service: "x"})
	b.Go(page(id))
	b.WaitLive()
	b.WaitText("Hold")
	if err := s.Client.Hold(t.Context(), id, weir.Decision{By: "bob", Reason: "the disk is full"}); err != nil {
		t.Fatal(err)
	}
	b.WaitText("Held by bob: the disk is full")
	b.ClickText("Release")
	b.ClickText("Let it go on")
	b.WaitText("The task is released")
	b.WaitText("No live worker serves x")
}

// Filters are the address: the back button takes them back. A menu acts on its
// row and returns to the list.
func TestBrowserTaskList(t *testing.T) {
	s := webtest.Start(t)
	b := s.Open(t)
	b.Login(s.User(t, "ada", auth.Operator))
	furnish(t, s)
	b.Go("/tasks")
	b.Wait("a choice", `(document.querySelector("select[name=gate]").value = "hold", document.querySelector("select[name=gate]").dispatchEvent(new Event("change", { bubbles: true })), true)`)
	b.Wait("the filter in the address", `location.search === "?gate=hold"`)
	b.WaitText("watch the trailer first")
	b.WaitGone("frame-0")
	b.Wait("the way back", `(history.back(), true)`)
	b.Wait("no filter", `location.search === "" && document.body.innerText.includes("frame-0")`)
	b.Go("/tasks?gate=hold&key=trailer")
	b.WaitLive()
	b.Click(".table [popovertarget]")
	b.Wait("the menu at its button", `(() => {
		const menu = document.querySelector(".row-menu:popover-open")?.getBoundingClientRect();
		const button = document.querySelector(".table [popovertarget]").getBoundingClientRect();
		return menu && Math.abs(menu.right - button.right) < 8 && Math.abs(menu.top - button.bottom) < 12;
	})()`)
	b.Shot("tasks-menu")
	b.ClickText("Release")
	b.ClickText("Let it go on")
	b.Wait("the list", `location.search === "?gate=hold&key=trailer"`)
	b.WaitText("The task is released")
	b.WaitText("No task fits")
}

// The keyboard alone: search, jump, move over rows, open one.
func TestBrowserWorkKeys(t *testing.T) {
	s := webtest.Start(t)
	b := s.Open(t)
	b.Login(s.User(t, "ada", auth.Viewer))
	first := submitJob(t, s, film("Low Water"))
	submitJob(t, s, film("Upstream"))
	b.Go("/")
	b.Keys("gj")
	b.Wait("the list of jobs", `location.pathname === "/jobs" && document.querySelectorAll("tr[data-href]").length === 2 && document.querySelector("#link-state").dataset.state === "live"`)
	b.Keys("j")
	b.Wait("the first row", `document.activeElement.innerText === "Upstream"`)
	b.Keys("j")
	b.Wait("the second row", `document.activeElement.innerText === "Low Water"`)
	b.Keys("k")
	b.Keys("j")
	b.Keys("\r")
	b.Wait("the page of the job", `location.pathname === "/jobs/`+first.String()+`"`)
	b.WaitLive()
	b.Keys("gt")
	b.Wait("the list of tasks", `location.pathname === "/tasks"`)
	b.WaitLive()
	b.Keys("/")
	b.Wait("the search field", `document.activeElement.id === "search"`)
	b.Keys("thumbnails\r")
	// The list that the search began on has no query: keys that are typed before
	// the answer is there are lost with the page.
	b.Wait("what was found", `location.pathname === "/search" || location.search !== ""`)
	b.WaitText("thumbnails")
	b.Wait("the end of typing", `(document.activeElement.blur(), document.documentElement.dataset.script !== undefined && document.readyState === "complete")`)
	b.Keys("go")
	b.Wait("the overview", `location.pathname === "/"`)
}
