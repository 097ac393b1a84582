package httpapi

import (
	"net/http"
	"testing"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/work"
	"github.com/weirhq/weir/internal/workflow"
)

// One call changes all tasks of a filter; a caller that may change one may change many.
func TestBulkTasks(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.user("vic", auth.Viewer)
	r.user("ada", auth.Operator)
	r.user("mia", auth.Maintainer)
	ada, mia := r.login("ada"), r.login("mia")
	r.exec(`select weir.submit('render') from generate_series(1, 7)`)
	r.exec(`select weir.submit('mail')`)
	body := func(action string, filter map[string]any, more ...any) map[string]any {
		b := map[string]any{"action": action, "filter": filter}
		for i := 0; i+1 < len(more); i += 2 {
			b[more[i].(string)] = more[i+1]
		}
		return b
	}
	render := map[string]any{"service": "render"}
	r.login("vic").want(http.StatusForbidden, "POST", "/tasks/bulk", body("cancel", render))
	ada.want(http.StatusForbidden, "POST", "/tasks/bulk", body("skip", render, "reason", "by hand"))
	for name, b := range map[string]map[string]any{
		"filter":   body("cancel", map[string]any{}),
		"state":    body("cancel", map[string]any{"state": "odd"}),
		"action":   body("delete", render),
		"priority": body("priority", render),
		"limit":    body("cancel", render, "limit", 1001),
		"unknown":  body("cancel", map[string]any{"servise": "render"}),
	} {
		if got := ada.want(http.StatusUnprocessableEntity, "POST", "/tasks/bulk", b).refusal(); got.Detail == "" {
			t.Errorf("%s: %+v", name, got)
		}
	}
	ada.want(http.StatusUnprocessableEntity, "POST", "/tasks/bulk", map[string]any{"action": "cancel"})
	mia.want(http.StatusUnprocessableEntity, "POST", "/tasks/bulk", body("skip", render))

	var out work.BulkOutput
	if ada.want(http.StatusOK, "POST", "/tasks/bulk", body("cancel", render, "dry_run", true)).into(&out); out.Matched != 7 || out.Changed != 0 || len(out.Sample) != 5 || out.More {
		t.Errorf("a look: %+v", out)
	}
	out = work.BulkOutput{}
	if ada.want(http.StatusOK, "POST", "/tasks/bulk", body("priority", render, "priority", 5, "limit", 4)).into(&out); out.Changed != 4 || !out.More || out.Next == "" {
		t.Errorf("the first four: %+v", out)
	}
	next := out.Next
	out = work.BulkOutput{}
	if ada.want(http.StatusOK, "POST", "/tasks/bulk", body("priority", render, "priority", 5, "after", next)).into(&out); out.Changed != 3 || out.More {
		t.Errorf("the rest: %+v", out)
	}
	out = work.BulkOutput{}
	if mia.want(http.StatusOK, "POST", "/tasks/bulk", body("skip", render, "reason", "by hand", "limit", 2)).into(&out); out.Changed != 2 {
		t.Errorf("skip: %+v", out)
	}
	out = work.BulkOutput{}
	if ada.want(http.StatusOK, "POST", "/tasks/bulk", body("cancel", render)).into(&out); out.Changed != 5 || len(out.Refused) != 2 || out.Refused[0].Why == "" {
		t.Errorf("cancel: %+v", out)
	}
	var events op.Page[struct{ Source, Message string }]
	if ada.want(http.StatusOK, "GET", "/timeline?kind=bulk&type=skip", nil).into(&events); len(events.Items) != 1 || events.Items[0].Source != "mia" || events.Items[0].Message != "2 of 2 tasks with service render: by hand" {
		t.Errorf("events %+v", events)
	}
}

// One call changes all jobs of a filter.
func TestBulkJobs(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.user("ada", auth.Operator)
	ada := r.login("ada")
	r.exec(`select weir.submit_job(name => 'nightly ' || i, tasks => '[{"service": "s", "key": "a"}]') from generate_series(1, 3) i`)
	nightly := map[string]any{"name": "nightly*"}
	var out work.BulkOutput
	if ada.want(http.StatusOK, "POST", "/jobs/bulk", map[string]any{"action": "cancel", "filter": nightly, "reason": "late"}).into(&out); out.Changed != 3 {
		t.Errorf("cancel: %+v", out)
	}
	out = work.BulkOutput{}
	if ada.want(http.StatusOK, "POST", "/jobs/bulk", map[string]any{"action": "retry", "filter": nightly}).into(&out); out.Changed != 3 {
		t.Errorf("retry: %+v", out)
	}
	ada.want(http.StatusUnprocessableEntity, "POST", "/jobs/bulk", map[string]any{"action": "skip", "filter": nightly})
	ada.want(http.StatusUnprocessableEntity, "POST", "/jobs/bulk", map[string]any{"action": "cancel", "filter": map[string]any{}})
	ada.want(http.StatusNotFound, "POST", "/jobs/bulk", map[string]any{"action": "cancel", "filter": map[string]any{"origin": "ffffffffffff"}})
}

// A workflow is deleted, one version or all.
func TestDropWorkflow(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.user("ada", auth.Operator)
	r.user("mia", auth.Maintainer)
	ada, mia := r.login("ada"), r.login("mia")
	mia.want(http.StatusCreated, "PUT", "/workflows", map[string]any{"source": pair})
	mia.want(http.StatusCreated, "PUT", "/workflows", map[string]any{"source": pair + "  - {key: c, service: render}\n"})
	ada.want(http.StatusForbidden, "DELETE", "/workflows/pair", nil)
	mia.want(http.StatusNotFound, "DELETE", "/workflows/none", nil)
	mia.want(http.StatusConflict, "DELETE", "/workflows/pair?version=2", nil)
	var out workflow.Deleted
	if mia.want(http.StatusOK, "DELETE", "/workflows/pair?version=1", nil).into(&out); out.Versions != 1 {
		t.Errorf("one version: %+v", out)
	}
	if mia.want(http.StatusOK, "DELETE", "/workflows/pair", nil).into(&out); out.Versions != 1 {
		t.Errorf("the rest: %+v", out)
	}
	mia.want(http.StatusNotFound, "GET", "/workflows/pair", nil)
}
