package pagetest_test

import (
	"testing"
	"time"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/web/webtest"
	"github.com/weirhq/weir/internal/workflow"
)

// movie is a workflow that workers of the SDK serve, with an approval.
const movie = `name: movie
params:
  title: {type: string, required: true, description: what it is called}
  width: {type: integer, default: 1920, minimum: 16}
steps:
  - {key: probe, service: probe}
  - {key: encode, service: encode, needs: [probe], params: {file: "{{ .needs.probe.result.made }}"}}
  - {key: publish, service: publish, needs: [encode], approval: the editor on duty}
`

// A workflow is written into the form, mended, applied, run with params that are
// refused at first, followed to its end, approved on the way, and run again from
// a step: all without leaving the browser, and its pages follow by themselves.
func TestBrowserWorkflow(t *testing.T) {
	s := webtest.Start(t)
	s.Lead(t)
	b := s.Open(t)
	b.Login(s.User(t, "mia", auth.Maintainer))
	b.Go("/workflows")
	b.WaitText("No workflow yet")
	b.Shots("workflows-empty")
	b.ClickText("New workflow")
	b.Wait("the form", `document.querySelector("#field-source")`)
	b.Shots("new-workflow")
	write := func(text string) {
		t.Helper()
		b.Wait("the text", `(document.querySelector("#field-source").value = `+"`"+text+"`"+`)`)
		b.ClickText("Apply")
	}
	write("name: movie\nsteps:\n  - {key: probe, service: probe, needs: [nobody]}\n")
	b.WaitText("Line 3, column")
	b.WaitText("1 thing is wrong with it")
	b.Shots("new-workflow-refused")
	write(movie)
	b.WaitText("Version 1 of movie is stored.")
	b.Wait("the graph", `document.querySelectorAll(".pic-dag a").length >= 3`)
	b.Shots("workflow-applied")

	b.WaitLive()
	b.ClickText("Run")
	b.Wait("the form in place", `document.querySelector('#ask[open] [name="params.title"]')`)
	b.Fill(`#ask [name="params.title"]`, "Spring Tide")
	b.Fill(`#ask [name="params.width"]`, "3")
	b.ClickText("Run the workflow")
	b.WaitText("3 is less than 16")
	b.Wait("the field that is wrong, with what was filled in", `document.querySelector('[name="params.width"]').ariaInvalid === "true" && document.querySelector('[name="params.title"]').value === "Spring Tide"`)
	b.Shots("run-refused")
	b.Fill(`[name="params.width"]`, "640")
	b.ClickText("Run the workflow")
	b.Wait("the page of the job", `location.pathname.startsWith("/jobs/")`)
	b.WaitLive()
	b.Wait("a mark", `(window.mark = true)`)
	gate := make(chan struct{})
	close(gate)
	work(t, s, gate)
	b.WaitText("Waits for a person")
	b.WaitText("the editor on duty")
	b.Shots("job-held")
	if !b.Is(`window.mark`) {
		t.Error("the page was loaded again")
	}
	b.ClickText("Approve")
	b.Wait("the question", `document.querySelector("#ask[open] [name=reason]")`)
	b.Fill(`#ask [name=reason]`, "looks fine")
	b.ClickText("Let it go on")
	b.WaitText("The task is released")
	b.Wait("the end of the job", `document.querySelector(".page-head h1").innerText.includes("done")`)
	b.WaitText("3/3")

	first := b.Value(`location.pathname`)
	b.ClickText("Run again")
	b.Wait("the question", `document.querySelector("#ask[open] [name=from]")`)
	b.Wait("the choice", `(document.querySelector("#ask [name=what]").value = "from", document.querySelector("#ask [name=from]").value = "publish")`)
	b.ClickText("Run it again")
	b.Wait("the page of the new job", `location.pathname.startsWith("/jobs/") && location.pathname !== `+"`"+first+"`")
	b.WaitText("repeats, from publish on,")
	b.WaitText("Waits for a person")
	b.Go("/workflows/movie/jobs")
	b.Wait("both jobs", `document.querySelectorAll("tr[data-href]").length === 2`)
	b.Shots("workflow-jobs")
}

// What a step prints is seen as it is printed, and what it leaves can be looked
// at and kept.
func TestBrowserOutput(t *testing.T) {
	s := webtest.Start(t)
	s.Put(t, chain)
	job := run(t, s, "chain", nil)
	d := newDesk(t, s, "pc-1")
	b := s.Open(t)
	b.Login(s.User(t, "vic", auth.Viewer))
	b.Go(page(taskOf(t, s, job, "first")))
	b.WaitLive()
	b.WaitText("no attempt has begun")
	b.Wait("a mark", `(window.mark = true)`)
	a := d.take()
	d.print(a, "stdout", "\x1b[32mgreen\x1b[0m beginnings", "<b>bold</b>")
	b.WaitText("green beginnings")
	d.print(a, "stderr", "and then a warning")
	b.WaitText("and then a warning")
	b.WaitText("<b>bold</b>")
	d.leave(a, "picture.png", "image/png", pixels(t))
	d.leave(a, "report.txt", "text/plain", []byte("all is well"))
	b.WaitText("picture.png")
	d.end(a, node.Done, `{}`)
	b.Wait("the end", `document.querySelector(".page-head h1").innerText.includes("done")`)
	if !b.Is(`window.mark`) {
		t.Error("the page was loaded again")
	}
	b.Shots("task-output")
	b.Go("/jobs/" + job.String() + "/artifacts")
	b.WaitText("report.txt")
	b.Shots("job-artifacts")
	b.ClickText("picture.png")
	b.Wait("the picture", `document.querySelector("img.preview")?.naturalWidth === 40`)
	b.Shots("artifact-picture")
	b.Go("/jobs/" + job.String() + "/artifacts")
	b.ClickText("report.txt")
	b.WaitText("all is well")
	b.Wait("what is kept", `(fetch(document.querySelector('.actions a').href).then(async (r) => { window.kept = r.headers.get("Content-Disposition") + " " + await r.text(); }), true)`)
	b.Wait("the content", `window.kept === "attachment; filename=report.txt all is well"`)
	// A viewer has no way to change anything.
	for _, path := range []string{"/workflows", "/workflows/chain", "/workflows/chain/versions", "/jobs/" + job.String(), page(taskOf(t, s, job, "second"))} {
		b.Go(path)
		b.WaitText("chain")
		if found := b.Value(`[...document.querySelectorAll("main form[method=post], main a[data-confirm], main .actions a")].map((e) => e.outerHTML).join()`); found != "" {
			t.Errorf("%s has buttons for a viewer: %s", path, found)
		}
	}
}

// Pictures of the pages of workflows, secrets and nodes, and a look at each for
// what sticks out at the side.
func TestBrowserFlowShots(t *testing.T) {
	s := webtest.Start(t)
	b := s.Open(t)
	b.Login(s.User(t, "mia", auth.Maintainer))
	b.Go("/secrets")
	b.WaitText("No secret yet")
	b.Shots("secrets-empty")
	s.Put(t, media)
	s.Put(t, chain)
	s.Put(t, "name: media\nsteps: [{key: only, service: only}]")
	if err := s.Flows.SetActive(t.Context(), "mia", "media", 2, false); err != nil {
		t.Fatal(err)
	}
	if err := s.Vault.Put(t.Context(), "mia", "deploy_token", "x", "for the site"); err != nil {
		t.Fatal(err)
	}
	newDesk(t, s, "pc-with-a-name-that-is-rather-long.example.org")
	later, err := s.Flows.Run(t.Context(), workflow.RunRequest{Workflow: "chain", At: time.Now().Add(time.Hour), By: "mia"})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []struct{ name, path string }{
		{"workflows", "/workflows"},
		{"workflow", "/workflows/media"},
		{"workflow-versions", "/workflows/media/versions"},
		{"workflow-source", "/workflows/media/source"},
		{"run", "/workflows/media/run"},
		{"job-queued", "/jobs/" + later.String()},
		{"job-artifacts-empty", "/jobs/" + later.String() + "/artifacts"},
		{"secrets", "/secrets"},
		{"new-secret", "/new-secret"},
		{"secret-delete", "/secrets/deploy_token/delete"},
		{"schedules-workflow", "/schedules"},
		{"schedule-workflow", "/schedules/workflow%2Fmedia%2Fnightly"},
		{"new-schedule-workflow", "/new-schedule?workflow=media"},
		{"nodes-agent", "/nodes"},
		{"node-agent", "/nodes/pc-with-a-name-that-is-rather-long.example.org"},
		{"node-waking", "/nodes/pc-with-a-name-that-is-rather-long.example.org/waking"},
		{"node-change", "/nodes/pc-with-a-name-that-is-rather-long.example.org/change"},
	} {
		b.Go(p.path)
		b.Shots(p.name)
		if cut := b.Value(`[...document.querySelectorAll(".table")].filter((e) => e.getBoundingClientRect().width > e.parentElement.getBoundingClientRect().width + 1).map((e) => e.caption.textContent).join()`); cut != "" {
			t.Errorf("%s: a column of the table %s is cut off", p.name, cut)
		}
	}
}
