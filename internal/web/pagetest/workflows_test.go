package pagetest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/webtest"
)

// media is a workflow with everything that its page shows.
const media = `name: media
description: From a raw file to a video.
params:
  source: {type: string, required: true, description: where the raw file lies}
  width: {type: integer, default: 1920, minimum: 16}
  ratio: {type: number, default: 1.5}
  preset: {type: string, enum: [fast, slow], default: fast}
  draft: {type: boolean}
  langs: {type: array, items: {type: string}, default: [en]}
  extra: {type: object}
max_running: 4
schedules:
  - {name: nightly, spec: "0 2 * * *", params: {source: s3://raw/today}, overlap: skip}
steps:
  - key: ingest
    service: ingest
  - key: audio
    needs: [ingest]
    run: [ffmpeg, -i, "{{ .params.source }}"]
  - key: render
    needs: [ingest]
    map: {over: params.langs}
    service: render
  - key: check
    needs: [audio, render]
    approval: the editor on duty
    service: check
  - key: publish
    needs: [check]
    workflow: publish
`

// The list and the pages of a workflow say what it is.
func TestWorkflows(t *testing.T) {
	s := webtest.Start(t)
	viewer, keeper := s.Login(t, "vic", auth.Viewer), s.Login(t, "mia", auth.Maintainer)
	viewer.Get(t, "/workflows").Is(t, 200).Has(t, "No workflow yet", "weir workflow apply").Lacks(t, "/new-workflow")
	keeper.Get(t, "/workflows").Is(t, 200).Has(t, `href="/new-workflow"`)
	s.Put(t, media)
	viewer.Get(t, "/workflows").Is(t, 200).Has(t, `href="/workflows/media"`, "never ran")
	page := viewer.Get(t, "/workflows/media").Is(t, 200).Has(t, "From a raw file", "pic-dag", `id="step-audio"`, "ffmpeg -i", "approval: the editor on duty", `href="/workflows/publish"`,
		"version 1", "at most 4 at once", "/schedules/workflow%2Fmedia%2Fnightly", "the new one is left out").Lacks(t, "/workflows/media/run", "new-workflow?from")
	if n := strings.Count(page.Body, `href="#step-`); n < 5 {
		t.Errorf("the graph has %d links to steps", n)
	}
	keeper.Get(t, "/workflows/media").Has(t, `href="/workflows/media/run"`, "/new-workflow?from=media", "/new-schedule?workflow=media")
	viewer.Get(t, "/workflows/media/source").Is(t, 200).Has(t, `class="line">name: media`, "Copy the source")
	if raw := viewer.Get(t, "/workflows/media/source.txt").Is(t, 200); raw.Body != media || raw.Header.Get("Content-Type") != "text/plain; charset=utf-8" {
		t.Errorf("the source is %q (%s)", raw.Body, raw.Header.Get("Content-Type"))
	}
	viewer.Get(t, "/workflows/media/jobs").Is(t, 200).Has(t, "It never ran")
	viewer.Get(t, "/schedules/workflow%2Fmedia%2Fnightly").Is(t, 200).Has(t, "s3://raw/today", "Next runs", "/workflows/media")
	viewer.Get(t, "/schedules").Is(t, 200).Has(t, "/workflows/media")
	viewer.Get(t, "/search?q=media").Is(t, 303)
	viewer.Get(t, "/workflows/none").Is(t, 404)
	viewer.Get(t, "/workflows/media?version=7").Is(t, 404)
	viewer.Get(t, "/workflows/media?version=x").Is(t, 404)
	for _, path := range []string{"/new-workflow", "/workflows/media/run"} {
		viewer.Get(t, path).Is(t, 403)
		viewer.Post(t, path, form()).Is(t, 403)
	}
	viewer.Post(t, "/workflows/media/deactivate?version=1", form()).Is(t, 403)
}

// Versions are activated and deactivated, and each has its page.
func TestWorkflowVersions(t *testing.T) {
	s := webtest.Start(t)
	c := s.Login(t, "mia", auth.Maintainer)
	s.Put(t, "name: two\nsteps: [{key: a, service: a}]")
	s.Put(t, "name: two\nsteps: [{key: a, service: a}, {key: b, service: b, needs: [a]}]")
	c.Get(t, "/workflows/two").Is(t, 200).Has(t, "version 2", "step-b")
	c.Get(t, "/workflows/two?version=1").Is(t, 200).Has(t, "version 1", "/workflows/two/run?version=1").Lacks(t, "step-b")
	c.Get(t, "/workflows/two/versions").Is(t, 200).Has(t, "active, runs take it", "/workflows/two/deactivate?version=2")
	to := c.Post(t, "/workflows/two/deactivate?version=2", form()).Is(t, 303).To()
	c.Get(t, to).Is(t, 200).Has(t, "Version 2 is not active", "/workflows/two/activate?version=2")
	c.Get(t, "/workflows/two").Is(t, 200).Has(t, "version 1")
	c.Post(t, "/workflows/two/deactivate?version=1", form()).Is(t, 303)
	c.Get(t, "/workflows/two").Is(t, 200).Has(t, "version 2", "not active").Lacks(t, `href="/workflows/two/run`)
	c.Post(t, "/workflows/two/activate?version=2", form()).Is(t, 303)
	c.Get(t, "/workflows/two").Is(t, 200).Has(t, `href="/workflows/two/run`)
	c.Post(t, "/workflows/two/activate?version=9", form()).Is(t, 404)
	if got := s.One(t, `select string_agg(type || ' by ' || source, ', ' order by seq) from weir.events where kind = 'workflow' and source = 'mia'`); got != "deactivated by mia, deactivated by mia, activated by mia" {
		t.Errorf("the timeline says: %s", got)
	}
}

// A definition is applied by the form: what is wrong is said with its place and
// what to do, and what was written comes back.
func TestWorkflowApply(t *testing.T) {
	s := webtest.Start(t)
	c := s.Login(t, "mia", auth.Maintainer)
	c.Get(t, "/new-workflow").Is(t, 200).Has(t, "name: hello", `rows="24"`)
	bad := "name: a<b>\nsteps:\n  - key: x\n    service: x\n    needs: [nobody]\n"
	c.Post(t, "/new-workflow", form("source", bad)).Is(t, 422).Has(t, "Line 1, column", "name: a&lt;b&gt;", `aria-invalid="true"`).Lacks(t, "<b>")
	bad = "name: ab\r\nsteps:\r\n  - key: x\r\n    service: x\r\n    needs: [nobody]\r\n"
	c.Post(t, "/new-workflow", form("source", bad)).Is(t, 422).Has(t, "Line 5, column 13", "nobody", "needs: [nobody]", "1 thing is wrong")
	c.Post(t, "/new-workflow", form("source", "")).Is(t, 422)
	c.Post(t, "/new-workflow", form("source", "steps: [")).Is(t, 422).Has(t, "This is not YAML")
	good := "name: ab\nsteps:\n  - key: x\n    service: x\n"
	to := c.Post(t, "/new-workflow", form("source", strings.ReplaceAll(good, "\n", "\r\n"))).Is(t, 303).To()
	if to != "/workflows/ab" {
		t.Fatalf("it leads to %s", to)
	}
	c.Get(t, to).Is(t, 200).Has(t, "Version 1 of ab is stored.", "by mia")
	if raw := c.Get(t, to+"/source.txt"); raw.Body != good {
		t.Errorf("the source is %q", raw.Body)
	}
	c.Get(t, "/new-workflow?from=ab").Is(t, 200).Has(t, "New version of ab", "name: ab")
	to = c.Post(t, "/new-workflow?from=ab", form("source", good)).Is(t, 303).To()
	c.Get(t, to).Has(t, "Version 1 of ab says the same already.")
	c.Post(t, "/new-workflow?from=ab", form("source", strings.Replace(good, "ab", "other", 1))).Is(t, 422).Has(t, "the page of")
	c.Post(t, "/new-workflow", form("source", strings.Replace(good, "key: x", "key: y", 1)+"version: 1\n")).Is(t, 409)
	c.Get(t, "/new-workflow?from=none").Is(t, 404)
}

// A server without the parts says what to set, and breaks nothing.
func TestWithoutStores(t *testing.T) {
	s := webtest.Start(t, func(c *site.Config) { c.Workflows, c.Secrets, c.Bucket = nil, nil, nil })
	c := s.Login(t, "ada", auth.Admin)
	st := furnish(t, s)
	c.Get(t, "/workflows").Is(t, 200).Has(t, "keeps no workflows")
	c.Get(t, "/secrets").Is(t, 200).Has(t, "secret_key_file")
	c.Get(t, "/jobs/"+st.job.String()+"/artifacts").Is(t, 200).Has(t, "has no bucket", "--bucket")
	for _, path := range []string{"/workflows/x", "/new-workflow", "/workflows/x/run", "/new-secret", "/jobs/" + st.job.String() + "/rerun", "/artifacts/1/content", "/tasks/" + st.done.String() + "/output"} {
		c.Get(t, path).Is(t, http.StatusNotFound)
	}
}
