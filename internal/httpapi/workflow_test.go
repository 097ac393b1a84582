package httpapi

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/node/wire"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/work"
	"github.com/weirhq/weir/internal/workflow"
)

const pair = `# two steps
name: pair
params:
  type: object
  properties: {n: {type: integer, default: 1}}
  additionalProperties: false
steps:
  - key: a
    service: render
    run: {argv: ["true"]}
  - key: b
    service: render
    needs: [a]
    run: {argv: ["true"]}
`

// A definition is stored, read, run and run again.
func TestWorkflows(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.user("ada", auth.Maintainer)
	ada := r.login("ada")
	var w workflow.Workflow
	first := ada.want(http.StatusCreated, "PUT", "/workflows", map[string]any{"source": pair, "file": "pair.yaml"})
	if first.into(&w); w.Name != "pair" || w.Version != 1 || !w.Active || w.Source != pair || w.By != "ada" || first.header.Get("ETag") == "" {
		t.Errorf("stored %+v", w)
	}
	ada.want(http.StatusOK, "PUT", "/workflows", map[string]any{"source": pair})
	ada.want(http.StatusConflict, "PUT", "/workflows", map[string]any{"definition": json.RawMessage(`{"name":"pair","version":1,"steps":[{"key":"z","service":"x"}]}`)})
	ada.want(http.StatusCreated, "PUT", "/workflows", map[string]any{"definition": json.RawMessage(`{"name":"pair","steps":[{"key":"z","service":"x"}]}`), "inactive": true})
	for path, want := range map[string]int{"/workflows/pair": 1, "/workflows/pair?version=2": 2} {
		if ada.want(http.StatusOK, "GET", path, nil).into(&w); w.Version != want {
			t.Errorf("%s is version %d", path, w.Version)
		}
	}
	var list, versions op.Page[workflow.Workflow]
	ada.want(http.StatusOK, "GET", "/workflows", nil).into(&list)
	page := ada.want(http.StatusOK, "GET", "/workflows/pair/versions?limit=1", nil)
	if page.into(&versions); len(list.Items) != 1 || len(versions.Items) != 1 || versions.Items[0].Version != 2 || versions.Next != "2" {
		t.Errorf("%+v, %+v", list, versions)
	}
	ada.want(http.StatusNoContent, "PUT", "/workflows/pair/active", map[string]any{"version": 2, "active": true})
	ada.want(http.StatusNoContent, "PUT", "/workflows/pair/active", map[string]any{"version": 2, "active": false})
	ada.want(http.StatusNotFound, "GET", "/workflows/ghost", nil)
	ada.want(http.StatusUnprocessableEntity, "PUT", "/schedules/nightly", map[string]any{"spec": "@daily", "workflow": "pair", "options": map[string]any{"params": map[string]any{"m": 1}}})
	ada.want(http.StatusCreated, "PUT", "/schedules/nightly", map[string]any{"spec": "@daily", "workflow": "pair", "options": map[string]any{"params": map[string]any{"n": 1}}})
	ada.want(http.StatusNoContent, "DELETE", "/schedules/nightly", nil)

	var plan op.Page[workflow.Preview]
	ada.want(http.StatusOK, "POST", "/workflows/pair/plan", map[string]any{"params": map[string]int{"n": 2}}).into(&plan)
	if len(plan.Items) != 2 || plan.Items[0].What != "runs" || len(plan.Items[0].WhyNot) == 0 {
		t.Errorf("planned %+v", plan)
	}
	if p := ada.want(http.StatusUnprocessableEntity, "POST", "/workflows/pair/run", map[string]any{"params": map[string]string{"n": "x"}}).refusal(); !strings.HasPrefix(p.Field, "params") {
		t.Errorf("got %+v", p)
	}
	var one, same, again work.JobMade
	run := ada.want(http.StatusCreated, "POST", "/workflows/pair/run", map[string]any{"params": map[string]int{"n": 2}}, "Idempotency-Key", "k")
	run.into(&one)
	ada.want(http.StatusOK, "POST", "/workflows/pair/run", map[string]any{"params": map[string]int{"n": 2}}, "Idempotency-Key", "k").into(&same)
	if one.ID != same.ID || run.header.Get("Location") != prefix+"/jobs/"+one.ID.String() {
		t.Errorf("ran %s, then %s", one.ID, same.ID)
	}
	var why op.Page[work.Reason]
	ada.want(http.StatusOK, "GET", "/jobs/"+one.ID.String()+"/why", nil).into(&why)
	if len(why.Items) == 0 {
		t.Error("a job that waits says nothing")
	}
	var jobs op.Page[view.Job]
	ada.want(http.StatusOK, "GET", "/jobs?workflow=pair", nil).into(&jobs)
	if len(jobs.Items) != 1 || jobs.Items[0].ID != one.ID {
		t.Errorf("jobs %+v", jobs)
	}
	ada.want(http.StatusOK, "POST", "/jobs/"+one.ID.String()+"/cancel", nil)
	var retried work.RetryJobOutput
	ada.want(http.StatusOK, "POST", "/jobs/"+one.ID.String()+"/retry", nil).into(&retried)
	if retried.Tasks == 0 {
		t.Error("nothing was retried")
	}
	ada.want(http.StatusOK, "POST", "/jobs/"+one.ID.String()+"/cancel", nil)
	ada.want(http.StatusCreated, "POST", "/jobs/"+one.ID.String()+"/rerun", map[string]any{"failed": true}).into(&again)
	ada.want(http.StatusOK, "GET", "/jobs?origin="+one.ID.String(), nil).into(&jobs)
	if len(jobs.Items) != 1 || jobs.Items[0].ID != again.ID {
		t.Errorf("reruns %+v", jobs)
	}
	var dry workflow.Backfilled
	ada.want(http.StatusOK, "POST", "/workflows/pair/backfill", map[string]any{"from": "2026-01-01T00:00:00Z", "to": "2026-01-04T00:00:00Z", "spec": "@daily", "dry_run": true}).into(&dry)
	if len(dry.Times) != 3 || len(dry.Jobs) != 0 {
		t.Errorf("got %+v", dry)
	}
	if got := ada.want(http.StatusOK, "GET", "/schemas/workflow", nil); !json.Valid(got.body) {
		t.Error("the schema is no JSON")
	}
}

// A fault in a definition is reported with its place.
func TestLint(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.user("ada", auth.Maintainer)
	ada := r.login("ada")
	bad := strings.Replace(pair, "needs: [a]", "needs: [c]", 1)
	var out workflow.Linted
	ada.want(http.StatusOK, "POST", "/workflows/lint", map[string]any{"source": bad}).into(&out)
	if out.Good || len(out.Faults) == 0 || out.Faults[0].Line != 13 || !strings.HasPrefix(out.Faults[0].Path, "steps[1].needs") || out.Faults[0].Next == "" {
		t.Errorf("found %+v", out)
	}
	ada.want(http.StatusOK, "POST", "/workflows/lint", map[string]any{"source": pair}).into(&out)
	if !out.Good || out.Name != "pair" {
		t.Errorf("found %+v", out)
	}
	p := ada.want(http.StatusUnprocessableEntity, "PUT", "/workflows", map[string]any{"source": bad, "file": "x.yaml"}).refusal()
	if !strings.HasPrefix(p.Field, "steps[1].needs") || !strings.Contains(p.Detail, "x.yaml:13:") || p.Next == "" {
		t.Errorf("refused with %+v", p)
	}
	if p := ada.want(http.StatusUnprocessableEntity, "PUT", "/workflows", map[string]any{"source": pair, "definition": json.RawMessage(`{"name":"pair","steps":[{"key":"evil","service":"x"}]}`)}).refusal(); p.Field != "source" {
		t.Errorf("a source that says something else: %+v", p)
	}
	for _, body := range []string{`{}`, `{"definition": null}`, `{"definition": 1}`, `{"definition": []}`, `{"source": "\t"}`, `{"source": "a: &a [*a, *a]"}`, `{"definition": {"steps": "x"}}`} {
		if got := ada.call("PUT", "/workflows", body); got.status != http.StatusUnprocessableEntity {
			t.Errorf("%s: %d %s", body, got.status, got.body)
		}
	}
}

// A secret goes in and never comes out.
func TestSecrets(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.user("ada", auth.Maintainer)
	r.user("op", auth.Operator)
	ada := r.login("ada")
	ada.want(http.StatusNoContent, "PUT", "/secrets/api_key", map[string]string{"value": "canary-value", "note": "for tests"})
	got := ada.want(http.StatusOK, "GET", "/secrets", nil)
	if text := string(got.body); strings.Contains(text, "canary-value") || !strings.Contains(text, "api_key") {
		t.Errorf("the list is %s", text)
	}
	if p := ada.want(http.StatusUnprocessableEntity, "PUT", "/secrets/bad%20name", map[string]string{"value": "canary-value"}); strings.Contains(string(p.body), "canary-value") {
		t.Errorf("it is told: %s", p.body)
	}
	ada.want(http.StatusUnprocessableEntity, "PUT", "/secrets/api_key", map[string]any{"value": 7})
	r.login("op").want(http.StatusForbidden, "GET", "/secrets", nil)
	ada.want(http.StatusNoContent, "DELETE", "/secrets/api_key", nil)
	ada.want(http.StatusNotFound, "DELETE", "/secrets/api_key", nil)
	if strings.Contains(r.log.String(), "canary-value") {
		t.Error("the log holds it")
	}
}

// A browser cannot treat the output of a task as a page of the dashboard.
func TestArtifactContent(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.user("vic", auth.Viewer)
	vic, n1 := r.login("vic"), r.registered("n1")
	job := r.submit()
	a := n1.claim(claimOne)
	const page = "<script>alert(1)</script>"
	if got := n1.put(a.Lease, "out/ev%22il%0D.html", page, "Content-Type", "text/html"); got.status != http.StatusUnprocessableEntity {
		t.Errorf("a name with a line break: %d", got.status)
	}
	if got := n1.put(a.Lease, "out/ev%22il.html", page, "Content-Type", "text/html"); got.status != http.StatusNoContent {
		t.Fatalf("upload: %d %s", got.status, got.body)
	}
	var list op.Page[view.Artifact]
	vic.want(http.StatusOK, "GET", "/jobs/"+job.String()+"/artifacts", nil).into(&list)
	if len(list.Items) != 1 || list.Items[0].Name != `out/ev"il.html` {
		t.Fatalf("artifacts %+v", list)
	}
	vic.want(http.StatusOK, "GET", "/tasks/"+a.Task.String()+"/artifacts?kind=log", nil).into(&list)
	path := "/artifacts/1"
	var shown view.Artifact
	vic.want(http.StatusOK, "GET", path, nil).into(&shown)
	got := vic.want(http.StatusOK, "GET", path+"/content", nil)
	h := got.header
	if string(got.body) != page || h.Get("X-Content-Type-Options") != "nosniff" || !strings.Contains(h.Get("Content-Security-Policy"), "sandbox") ||
		!strings.HasPrefix(h.Get("Content-Disposition"), "attachment;") || h.Get("ETag") != `"`+shown.SHA256+`"` {
		t.Errorf("%s with %v", got.body, h)
	}
	if part := vic.want(http.StatusPartialContent, "GET", path+"/content", nil, "Range", "bytes=1-6"); string(part.body) != "script" {
		t.Errorf("a part is %q", part.body)
	}
	vic.want(http.StatusNotModified, "GET", path+"/content", nil, "If-None-Match", h.Get("ETag"))
	vic.want(http.StatusNotFound, "GET", "/artifacts/99/content", nil)
	vic.want(http.StatusUnprocessableEntity, "GET", "/artifacts/x/content", nil)
	vic.want(http.StatusUnprocessableEntity, "GET", path+"/content?trough=true", nil)
	r.anybody().want(http.StatusUnauthorized, "GET", path+"/content", nil)
	n1.want(http.StatusForbidden, "GET", path+"/content", nil)
	if err := r.bucket.Delete(t.Context(), shown.Key); err != nil {
		t.Fatal(err)
	}
	vic.want(http.StatusNotFound, "GET", path+"/content", nil)
}

// A log is read while it grows, from any place on, and the end is marked.
func TestLog(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.user("vic", auth.Viewer)
	vic, n1 := r.token("vic", "*:*"), r.registered("n1")
	r.submit()
	a := n1.claim(claimOne)
	path := "/tasks/" + a.Task.String() + "/log"
	say := func(seq int, text string) {
		t.Helper()
		n1.want(http.StatusNoContent, "POST", "/agent/logs", wire.Log{Lease: a.Lease, Seq: seq, Lines: fmt.Appendf(nil, `{"at":"2026-01-01T00:00:00Z","stream":"stdout","text":%q}`+"\n", text)})
	}
	if got := vic.want(http.StatusOK, "GET", path, nil); len(got.body) != 0 {
		t.Errorf("before anything was said: %s", got.body)
	}
	say(0, "one <b>")
	request, err := http.NewRequestWithContext(t.Context(), "GET", r.url+prefix+path+"?follow=true", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+vic.bearer)
	response, err := vic.http.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	next := func() (l struct {
		LogLine
		End bool
	},
	) {
		t.Helper()
		for lines.Scan() {
			if len(lines.Bytes()) == 0 {
				continue
			}
			if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
				t.Fatal(err)
			}
			return l
		}
		t.Fatalf("the log ended: %v", lines.Err())
		return l
	}
	first := next()
	if first.Text != "one <b>" || first.Stream != "stdout" || first.Place == "" {
		t.Errorf("got %+v", first)
	}
	say(1, "two")
	if got := next(); got.Text != "two" {
		t.Errorf("got %+v", got)
	}
	none(t, n1.want(http.StatusOK, "POST", "/agent/end", wire.Outcomes{Outcomes: []wire.Outcome{{Lease: a.Lease, Verdict: "done"}}}))
	if got := next(); !got.End {
		t.Errorf("got %+v", got)
	}
	for query, want := range map[string]int{"": 2, "?attempt=1": 2, "?attempt=2": 0, "?after=" + first.Place: 1, "?tail=1": 1, "?tail=9": 2} {
		if got := vic.want(http.StatusOK, "GET", path+query, nil); strings.Count(string(got.body), "\n") != want || got.header.Get("Content-Type") != "application/x-ndjson" {
			t.Errorf("%q gives %s", query, got.body)
		}
	}
	events := vic.want(http.StatusOK, "GET", path+"?follow=true", nil, "Accept", "text/event-stream", "Last-Event-ID", first.Place)
	if text := string(events.body); !strings.HasPrefix(text, "id: ") || strings.Count(text, "data: ") != 2 || !strings.Contains(text, "event: end") {
		t.Errorf("as events: %s", text)
	}
	for _, query := range []string{"?after=x", "?attempt=-1", "?tail=10001", "?folow=true"} {
		vic.want(http.StatusUnprocessableEntity, "GET", path+query, nil)
	}
	vic.want(http.StatusNotFound, "GET", "/tasks/"+claimOne+"/log", nil)
}

// Waking and changing nodes takes a maintainer, and the event names the user.
func TestWakeNode(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.user("ada", auth.Maintainer)
	ada := r.login("ada")
	r.registered("n1")
	ada.want(http.StatusNoContent, "PUT", "/nodes/n1/wake", map[string]any{"method": "wol", "mac": "02:00:00:00:00:01", "sleep_after": "10m", "timeout": "90s"})
	var n view.Node
	ada.want(http.StatusOK, "GET", "/nodes/n1", nil).into(&n)
	if n.WakeMethod != "wol" || n.SleepAfter != "00:10:00" || n.Version != "1.0" || len(n.Drivers) != 1 {
		t.Errorf("got %+v", n)
	}
	ada.want(http.StatusUnprocessableEntity, "PUT", "/nodes/n1/wake", map[string]any{"method": "wol", "mac": "moon"})
	ada.want(http.StatusUnprocessableEntity, "PUT", "/nodes/n1/wake", map[string]any{"method": "script", "script": "../../bin/sh"})
	ada.want(http.StatusNotFound, "PUT", "/nodes/ghost/wake", map[string]any{"method": "none"})
	ada.want(http.StatusNoContent, "PUT", "/nodes/n1/wake", map[string]any{"method": "none"})
}

// A run leaves out a step only for a user who may skip a task: not by the options of a
// run, and not by those of a backfill.
func TestRunSkipsForWhoMaySkip(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.user("ada", auth.Maintainer)
	r.user("otto", auth.Operator)
	ada, otto := r.login("ada"), r.login("otto")
	ada.want(http.StatusCreated, "PUT", "/workflows", map[string]any{"source": pair, "file": "pair.yaml"})
	skip := map[string]any{"a": map[string]any{"skip": true}, "b": map[string]any{"skip": true}}
	refused := func(path string, body any) {
		t.Helper()
		if p := otto.want(http.StatusForbidden, "POST", path, body).refusal(); p.Field != "steps.a.skip" {
			t.Errorf("%s: %+v", path, p)
		}
	}
	refused("/workflows/pair/run", map[string]any{"steps": skip})
	refused("/workflows/pair/backfill", map[string]any{
		"from": "2026-01-01T00:00:00Z", "to": "2026-01-03T00:00:00Z", "spec": "@daily", "options": map[string]any{"steps": skip},
	})
	nightly := map[string]any{"spec": "@daily", "workflow": "pair", "options": map[string]any{"steps": skip}}
	narrow := r.token("ada", "*:read", "*:submit", "*:command", "*:manage")
	if p := narrow.want(http.StatusForbidden, "PUT", "/schedules/nightly", nightly).refusal(); !strings.HasSuffix(p.Field, "steps.a.skip") {
		t.Errorf("a schedule: %+v", p)
	}
	ada.want(http.StatusCreated, "PUT", "/schedules/nightly", nightly)
	otto.want(http.StatusCreated, "POST", "/workflows/pair/run", map[string]any{"steps": map[string]any{"a": map[string]any{"priority": 3}}})
	ada.want(http.StatusCreated, "POST", "/workflows/pair/run", map[string]any{"steps": skip})
}
