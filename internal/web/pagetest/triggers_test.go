package pagetest_test

import (
	"testing"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/web/webtest"
)

// A trigger is made, changed, paused, resumed and deleted, and its page, that of both
// workflows and those of the runs say what starts what.
func TestTriggers(t *testing.T) {
	s := webtest.Start(t)
	c := s.Login(t, "mia", auth.Maintainer)
	c.Get(t, "/triggers").Is(t, 200).Has(t, "No trigger yet", "weir trigger set", `href="/new-trigger"`)
	c.Get(t, "/triggers/none").Is(t, 404)
	for _, name := range []string{"build", "deploy"} {
		s.Exec(t, `select weir.put_workflow('`+name+`', '{"name": "`+name+`", "steps": [{"key": "x", "service": "s"}]}')`)
	}
	c.Get(t, "/workflows/build").Is(t, 200).Has(t, "No trigger runs it", `href="/new-trigger?workflow=build"`)
	body := []string{"name", "ship", "workflow", "deploy", "after", "build", "on", "done", "when", `params.tag == "<b>"`, "params", `{"v": "{{ .params.tag }}"}`}
	to := c.Post(t, "/new-trigger", form(body...)).Is(t, 303).To()
	c.Get(t, to).Is(t, 200).Has(t, "is done", "&lt;b&gt;", "{{ .params.tag }}", "Nothing has fired it yet").Lacks(t, "<b>")
	c.Post(t, "/new-trigger", form(body...)).Is(t, 422).Has(t, "already")
	c.Post(t, "/new-trigger", form("name", "back", "workflow", "build", "after", "deploy", "on", "done")).Is(t, 422).Has(t, "deploy → build → deploy")
	c.Post(t, to+"/change", form("workflow", "deploy", "after", "build", "on", "always", "when", "params.")).Is(t, 422)
	c.Post(t, to+"/change", form("workflow", "deploy", "after", "build", "on", "always")).Is(t, 303)
	c.Get(t, to).Is(t, 200).Has(t, "has ended, however")
	for _, page := range []string{"/triggers", "/workflows/build", "/workflows/deploy"} {
		c.Get(t, page).Is(t, 200).Has(t, `href="`+to+`"`, `href="/workflows/build"`, `href="/workflows/deploy"`)
	}
	c.Post(t, to+"/pause", form()).Is(t, 303)
	c.Get(t, to).Is(t, 200).Has(t, "The trigger is paused", to+"/resume").Lacks(t, to+"/pause")
	run := s.One(t, `select weir.open_job('build', kind => 'workflow', definition => (select id from weir.workflows where name = 'build'))::text`)
	s.Exec(t, `select weir.cancel_job('`+run+`', 'mia', 'no')`)
	c.Get(t, "/jobs/"+run).Is(t, 200).Has(t, "What its end started", `href="`+to+`"`, "the trigger is paused")
	c.Get(t, to).Is(t, 200).Has(t, `href="/jobs/`+run, "the trigger is paused")
	made := s.One(t, `select weir.open_job('deploy', kind => 'workflow', definition => (select id from weir.workflows where name = 'deploy'),
		options => jsonb_build_object('started_by', jsonb_build_object('trigger', 'ship', 'source', '`+run+`')))::text`)
	c.Get(t, "/jobs/"+made).Is(t, 200).Has(t, "by trigger", `href="`+to+`"`, "after job", `href="/jobs/`+run)
	c.Post(t, "/new-webhook", form("name", "push", "workflow", "build", "params", `{"ref": "{{ .body.ref }}"}`)).Is(t, 200).Has(t, "whk_", "POST /api/v1/hooks/push", "it is shown once")
	c.Get(t, "/triggers/push").Is(t, 200).Has(t, "POST /api/v1/hooks/push", "{{ .body.ref }}", "/triggers/push/rotate").Lacks(t, "whk_")
	c.Post(t, "/triggers/push/change", form("workflow", "deploy")).Is(t, 303)
	c.Post(t, "/triggers/push/rotate", form()).Is(t, 200).Has(t, "whk_")
	c.Get(t, "/triggers/push").Is(t, 200).Has(t, "The secret before is accepted until").Lacks(t, "whk_")
	c.Post(t, to+"/resume", form()).Is(t, 303)
	c.Get(t, to+"/delete").Is(t, 200).Has(t, "Runs that it has started stay")
	c.Post(t, to+"/delete", form()).Is(t, 303)
	c.Get(t, to).Is(t, 404)
	if got := s.One(t, `select string_agg(distinct type || ' by ' || source, ', ') from weir.events where kind = 'trigger' and subject = 'ship'`); got != "dropped by mia, paused by mia, resumed by mia, set by mia" {
		t.Errorf("the timeline says: %s", got)
	}
}
