package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/rollout"
	"github.com/weirhq/weir/internal/rollout/target"
)

// target creates an empty database in the test's cluster, which is dropped with the test,
// and returns its address.
func (r *rig) target(name string) string {
	r.t.Helper()
	u, err := url.Parse(r.db.URL)
	if err != nil {
		r.t.Fatal(err)
	}
	own := strings.Replace(strings.TrimPrefix(u.Path, "/"), "weir_test_", "weir_target_", 1) + "_" + name
	r.exec(`create database ` + pgx.Identifier{own}.Sanitize())
	r.t.Cleanup(func() {
		if _, err := r.db.Pool.Exec(context.Background(), `drop database if exists `+pgx.Identifier{own}.Sanitize()+` with (force)`); err != nil {
			r.t.Error(err)
		}
	})
	u.Path = "/" + own
	return u.String()
}

// executes runs an executor until the test ends.
func (r *rig) executes() {
	r.t.Helper()
	w := weir.NewWorker(r.sdk, weir.WorkerConfig{PollFloor: time.Second})
	rollout.Handle(w, rollout.ExecutorConfig{Store: r.api.config.Operations.(op.Local).Stores[1].(*rollout.Store)})
	ctx, end := context.WithCancel(context.Background())
	var run sync.WaitGroup
	run.Go(func() {
		if err := w.Run(ctx); err != nil {
			r.t.Error(err)
		}
	})
	r.t.Cleanup(func() { end(); run.Wait() })
}

// becomes waits until a rollout has a state. It opens gates meanwhile, as a leader does.
func (a *as) becomes(id weir.ID, state string) rollout.Rollout {
	a.rig.t.Helper()
	var last rollout.Rollout
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		a.rig.exec(`select weir.tend(sweep => true)`)
		a.want(http.StatusOK, "GET", "/rollouts/"+id.String(), nil).into(&last)
		if last.State == state {
			return last
		}
		loop.Wait(a.rig.t.Context(), 20*time.Millisecond, nil)
	}
	a.rig.t.Fatalf("the rollout is %s (%s), wanted %s", last.State, last.Waits, state)
	return last
}

func (a *as) says(status int, path string, body any) rollout.Answer {
	a.rig.t.Helper()
	var out rollout.Answer
	a.want(status, "POST", path, body).into(&out)
	if out.Text == "" {
		a.rig.t.Errorf("%s says nothing", path)
	}
	return out
}

func plan(name string, stages ...any) map[string]any {
	return map[string]any{"name": name, "stages": stages, "files": []any{
		map[string]string{"name": "V001__orders.sql", "text": "create table orders (id bigint primary key, customer bigint);"},
		map[string]string{"name": "V002__index.sql", "text": "create index orders_customer on orders (customer);"},
	}}
}

// A rollout over HTTP, from the first database to the last run; no answer contains an
// address.
func TestRolloutOverHTTP(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.executes()
	r.user("boss", auth.Admin)
	r.user("ada", auth.Maintainer)
	boss, ada, program := r.login("boss"), r.login("ada"), r.token("boss", "*:*")
	seen := r.registers(boss)

	var preview rollout.Preview
	boss.want(http.StatusOK, "POST", "/rollouts/preview", plan("orders", map[string]any{"name": "test"}, map[string]any{"name": "prod", "approvals": 2, "promote": "manual"})).into(&preview)
	if len(preview.Stages) != 2 || len(preview.Stages[1].Tasks) != 4 || len(preview.Changes) != 2 || len(preview.Changes[1].Warnings) == 0 || preview.Changes[1].Warnings[0].Instead == "" {
		t.Errorf("the preview is %+v", preview)
	}
	body := plan("orders", map[string]any{"name": "test"}, map[string]any{"name": "prod", "approvals": 2, "promote": "manual"})
	var first, again rollout.Rollout
	made := boss.want(http.StatusCreated, "POST", "/rollouts", body, "Idempotency-Key", "once")
	made.into(&first)
	boss.want(http.StatusOK, "POST", "/rollouts", body, "Idempotency-Key", "once").into(&again)
	at := "/rollouts/" + first.ID.String()
	if first.ID != again.ID || made.header.Get("Location") != prefix+at || first.State != "not_started" || first.Hash != preview.Hash {
		t.Errorf("made %+v, then %+v at %s", first, again, made.header.Get("Location"))
	}
	if a := boss.says(http.StatusOK, at+"/start", nil); !a.Changed {
		t.Errorf("start: %+v", a)
	}
	if a := boss.says(http.StatusOK, at+"/start", nil); a.Changed {
		t.Errorf("started twice: %+v", a)
	}
	boss.becomes(first.ID, "waiting")
	// One person counts once, also through a token.
	if a := boss.says(http.StatusOK, at+"/stages/prod/approve", map[string]string{"note": "seen"}); !a.Changed {
		t.Errorf("approve: %+v", a)
	}
	if a := program.says(http.StatusOK, at+"/stages/prod/approve", nil); a.Changed {
		t.Errorf("approved twice by one person: %+v", a)
	}
	if a := program.says(http.StatusOK, at+"/stages/prod/revoke", nil); !a.Changed {
		t.Errorf("revoke: %+v", a)
	}
	boss.says(http.StatusOK, at+"/stages/prod/approve", nil)
	ada.says(http.StatusOK, at+"/stages/prod/approve", nil)
	ada.says(http.StatusOK, at+"/stages/prod/promote", nil)
	done := boss.becomes(first.ID, "done")
	if done.Counts.Done != 6 || len(done.Stages[1].Approved) != 2 {
		t.Errorf("it ended as %+v", done)
	}
	r.reads(boss, at)
	for _, address := range seen {
		u, _ := url.Parse(address)
		if strings.Contains(r.log.String(), u.User.String()+"@") {
			t.Error("the log has an address")
		}
	}
}

// registers registers three databases and checks that addresses go in and never out.
func (r *rig) registers(boss *as) (addresses []string) {
	t := r.t
	for name, environment := range map[string]string{"t1": "test", "p1": "prod", "p2": "prod"} {
		address := r.target(name)
		addresses = append(addresses, address)
		body := map[string]any{"engine": "postgres", "environment": environment, "dsn": address, "labels": map[string]string{"name": name}}
		var d rollout.Database
		got := boss.want(http.StatusCreated, "PUT", "/databases/"+name, body)
		got.into(&d)
		if d.Identity == "" || d.Fault != "" || strings.Contains(string(got.body), "://") {
			t.Errorf("registered: %s", got.body)
		}
		boss.want(http.StatusPreconditionRequired, "PUT", "/databases/"+name, body)
		boss.want(http.StatusOK, "PUT", "/databases/"+name, body, "If-Match", got.header.Get("ETag"))
		boss.want(http.StatusPreconditionFailed, "PUT", "/databases/"+name, body, "If-Match", `"old"`)
		// Without an address the stored one stays.
		delete(body, "dsn")
		body["note"] = "second"
		boss.want(http.StatusOK, "PUT", "/databases/"+name, body, "If-Match", "*")
		boss.want(http.StatusOK, "POST", "/databases/"+name+"/check", nil).into(&d)
		if d.Note != "second" || d.Fault != "" {
			t.Errorf("changed: %+v", d)
		}
	}
	var list op.Page[rollout.Database]
	got := boss.want(http.StatusOK, "GET", "/databases?environment=prod&limit=1", nil)
	got.into(&list)
	if len(list.Items) != 1 || list.Items[0].Name != "p1" || list.Next != "p1" || strings.Contains(string(got.body), "://") {
		t.Errorf("the first page is %s", got.body)
	}
	boss.want(http.StatusOK, "GET", "/databases?environment=prod&after=p1", nil).into(&list)
	if len(list.Items) != 1 || list.Items[0].Name != "p2" {
		t.Errorf("the second page is %+v", list)
	}
	boss.want(http.StatusOK, "GET", "/databases?label=name%3Dt1&engine=postgres&search=t", nil).into(&list)
	if len(list.Items) != 1 || list.Items[0].Name != "t1" {
		t.Errorf("by label: %+v", list)
	}
	return addresses
}

// reads reads the data of a finished rollout, and compares it with the document.
func (r *rig) reads(boss *as, at string) {
	t := r.t
	var tasks op.Page[rollout.Task]
	boss.want(http.StatusOK, "GET", at+"/tasks?stage=prod&database=p2&status=DONE", nil).into(&tasks)
	if len(tasks.Items) != 2 || tasks.Items[1].Key != "prod/p2/2" || tasks.Next != "" {
		t.Fatalf("tasks: %+v", tasks)
	}
	var first, rest op.Page[rollout.Task]
	boss.want(http.StatusOK, "GET", at+"/tasks?database=p2&limit=1", nil).into(&first)
	boss.want(http.StatusOK, "GET", at+"/tasks?database=p2&after="+first.Next, nil).into(&rest)
	if len(first.Items) != 1 || first.Items[0].ID != tasks.Items[0].ID || len(rest.Items) != 1 || rest.Items[0].ID != tasks.Items[1].ID {
		t.Fatalf("pages: %+v and %+v", first, rest)
	}
	boss.want(http.StatusUnprocessableEntity, "GET", at+"/tasks?after="+weir.ID{1}.String(), nil)
	var run rollout.RunReport
	boss.want(http.StatusOK, "GET", at+"/tasks/"+url.PathEscape("prod/p2/2")+"/runs/0", nil).into(&run)
	if run.Attempt != 1 || len(run.Log) == 0 || run.Log[0].Statement == nil || run.Log[0].Statement.Tag != "CREATE INDEX" {
		t.Errorf("the run: %+v", run)
	}
	boss.want(http.StatusNotFound, "GET", at+"/tasks/"+url.PathEscape("prod/p2/2")+"/runs/7", nil)
	boss.want(http.StatusNotFound, "GET", at+"/tasks/"+url.PathEscape("prod/p9/2"), nil)
	var change rollout.ChangeState
	boss.want(http.StatusOK, "GET", at+"/changes/2", nil).into(&change)
	if !strings.HasPrefix(change.SQL, "create index") {
		t.Errorf("the change: %+v", change)
	}
	var history op.Page[target.Entry]
	boss.want(http.StatusOK, "GET", "/databases/p2/history?limit=1", nil).into(&history)
	if len(history.Items) != 1 || history.Items[0].Version != "2" || history.Next != "1" {
		t.Errorf("history: %+v", history)
	}
	boss.want(http.StatusOK, "GET", "/databases/p2/history?limit=1&after=1", nil).into(&history)
	if len(history.Items) != 1 || history.Items[0].Version != "1" {
		t.Errorf("history: %+v", history)
	}
	var drift rollout.DriftReport
	boss.want(http.StatusOK, "GET", "/databases/p2/drift", nil).into(&drift)
	if drift.Drifted || drift.Base == nil {
		t.Errorf("drift: %+v", drift)
	}
	boss.want(http.StatusOK, "POST", "/databases/p2/drift/accept", nil)
	boss.want(http.StatusNotFound, "POST", "/databases/p2/import", nil)
	var foreign rollout.ForeignOutput
	boss.want(http.StatusOK, "GET", "/databases/p2/foreign", nil).into(&foreign)
	if foreign.Found {
		t.Errorf("foreign: %+v", foreign)
	}
	doc := r.api.huma.OpenAPI()
	for path, route := range map[string]string{
		"/databases": "/databases", "/databases/p1": "/databases/{database}", "/databases/p1/history": "/databases/{database}/history", "/rollouts": "/rollouts", at: "/rollouts/{rollout}",
		at + "/tasks": "/rollouts/{rollout}/tasks", at + "/changes/1": "/rollouts/{rollout}/changes/{change}",
		at + "/tasks/" + tasks.Items[0].ID.String() + "/runs/1": "/rollouts/{rollout}/tasks/{task}/runs/{attempt}",
	} {
		schema := operationAt(doc, &Route{Method: get, Path: route}).Responses["200"].Content["application/json"].Schema
		var value any
		if err := json.Unmarshal(boss.want(http.StatusOK, "GET", path, nil).body, &value); err != nil {
			t.Fatal(err)
		}
		for _, problem := range misfits(doc.Components.Schemas, schema, value) {
			t.Errorf("%s: %v", path, problem)
		}
	}
	boss.want(http.StatusNoContent, "DELETE", "/databases/p2", nil)
	boss.want(http.StatusNotFound, "GET", "/databases/p2", nil)
}

// A failed change is retried, skipped or aborted, each by a user who may.
func TestRolloutCommands(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.executes()
	for name, role := range map[string]auth.Role{"vera": auth.Viewer, "otto": auth.Operator, "mia": auth.Maintainer} {
		r.user(name, role)
	}
	vera, otto, mia := r.login("vera"), r.login("otto"), r.login("mia")
	mia.want(http.StatusCreated, "PUT", "/databases/d1", map[string]any{"engine": "postgres", "environment": "test", "dsn": r.target("d1")})
	bad := map[string]any{"name": "bad", "stages": []any{map[string]any{"name": "test"}}, "files": []any{
		map[string]string{"name": "V1__a.sql", "text": "alter table nowhere add column x int;"}, map[string]string{"name": "V2__b.sql", "text": "create table b (id int);"},
	}}
	var made, other rollout.Rollout
	vera.want(http.StatusForbidden, "POST", "/rollouts", bad)
	otto.want(http.StatusCreated, "POST", "/rollouts", bad).into(&made)
	bad["note"], bad["name"] = "edited", "worse"
	otto.want(http.StatusCreated, "PUT", "/rollouts/"+made.ID.String(), bad).into(&other)
	if other.ID == made.ID || other.Replaces != made.ID || other.Revision != made.Revision+1 {
		t.Errorf("replaced by %+v", other)
	}
	at := "/rollouts/" + other.ID.String()
	vera.want(http.StatusForbidden, "POST", at+"/start", nil)
	otto.want(http.StatusConflict, "POST", at+"/pause", nil)
	otto.says(http.StatusOK, at+"/start", nil)
	failed := otto.becomes(other.ID, "failed")
	if failed.Counts.Failed != 1 {
		t.Errorf("it is %+v", failed)
	}
	first := at + "/tasks/" + url.PathEscape("test/d1/1")
	otto.says(http.StatusOK, first+"/retry", nil)
	otto.becomes(other.ID, "failed")
	otto.want(http.StatusForbidden, "POST", first+"/skip", map[string]string{"reason": "no"})
	if p := mia.want(http.StatusUnprocessableEntity, "POST", first+"/skip", nil).refusal(); p.Field != "reason" {
		t.Errorf("skip without a reason: %+v", p)
	}
	if p := mia.want(http.StatusConflict, "POST", first+"/resolve", map[string]any{"applied": true, "reason": "seen"}).refusal(); p.Next == "" {
		t.Errorf("resolve of a failure: %+v", p)
	}
	if p := mia.want(http.StatusUnprocessableEntity, "POST", first+"/resolve", map[string]any{"applied": true}).refusal(); p.Field != "reason" {
		t.Errorf("resolve without a reason: %+v", p)
	}
	// A task of another rollout is not found.
	var tasks op.Page[rollout.Task]
	vera.want(http.StatusOK, "GET", at+"/tasks", nil).into(&tasks)
	mia.want(http.StatusNotFound, "POST", "/rollouts/"+made.ID.String()+"/tasks/"+tasks.Items[0].ID.String()+"/retry", nil)
	mia.says(http.StatusOK, first+"/skip", map[string]string{"reason": "done by hand"})
	otto.becomes(other.ID, "done")
	otto.want(http.StatusForbidden, "POST", at+"/abort", nil)
	if p := mia.want(http.StatusConflict, "POST", at+"/abort", nil).refusal(); p.Next == "" {
		t.Errorf("abort of what is done: %+v", p)
	}
	mia.want(http.StatusForbidden, "PUT", "/users/vera/role", map[string]string{"role": "admin"})
}

// A refusal names the field of the request.
func TestRolloutRefusals(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.user("boss", auth.Admin)
	boss := r.login("boss")
	file := []any{map[string]string{"name": "V1__a.sql", "text": "select 1"}}
	for name, c := range map[string]struct {
		method, path string
		body         any
		field        string
	}{
		"no name":        {"POST", "/rollouts", map[string]any{"name": "", "stages": []any{map[string]any{"name": "x"}}, "files": file}, "name"},
		"no stage":       {"POST", "/rollouts", map[string]any{"name": "x", "stages": []any{}, "files": file}, "stages"},
		"no files":       {"POST", "/rollouts/preview", map[string]any{"name": "x", "stages": []any{map[string]any{"name": "x"}}}, "files"},
		"no database":    {"POST", "/rollouts/preview", map[string]any{"name": "x", "stages": []any{map[string]any{"name": "x"}}, "files": file}, "stages"},
		"promote":        {"POST", "/rollouts", map[string]any{"name": "x", "stages": []any{map[string]any{"name": "x", "promote": "maybe"}}, "files": file}, "stages[0].promote"},
		"unknown field":  {"POST", "/rollouts", map[string]any{"name": "x", "stages": []any{map[string]any{"name": "x", "aprovals": 1}}, "files": file}, "stages[0].aprovals"},
		"state":          {"GET", "/rollouts?state=odd", nil, "state"},
		"status":         {"GET", "/rollouts/01890a5d-ac96-774b-bcce-b302099a8057/tasks?status=odd", nil, "status"},
		"engine":         {"PUT", "/databases/d", map[string]any{"engine": "oracle", "environment": "x", "dsn": "x"}, "engine"},
		"environment":    {"PUT", "/databases/d", map[string]any{"engine": "postgres", "environment": "", "dsn": "postgres://u@h/n"}, "environment"},
		"bad dsn":        {"PUT", "/databases/d", map[string]any{"engine": "postgres", "environment": "x", "dsn": "postgres://h/n"}, "dsn"},
		"no dsn":         {"PUT", "/databases/d", map[string]any{"engine": "postgres", "environment": "x"}, "dsn"},
		"label":          {"GET", "/databases?label=x", nil, "label"},
		"history's page": {"GET", "/databases/d/history?after=x", nil, "after"},
	} {
		t.Run(name, func(t *testing.T) {
			got := boss.call(c.method, c.path, c.body)
			if p := got.refusal(); got.status != http.StatusUnprocessableEntity || p.Field != c.field {
				t.Errorf("field %q, not %q: %+v", p.Field, c.field, p)
			}
		})
	}
	// A bad address is refused, and not repeated.
	got := boss.call("PUT", "/databases/d", map[string]any{"engine": "postgres", "environment": "x", "dsn": "postgres://u:hunter2@[bad"})
	if p := got.refusal(); got.status != http.StatusUnprocessableEntity || p.Field != "dsn" || strings.Contains(string(got.body), "hunter2") || strings.Contains(r.log.String(), "hunter2") {
		t.Errorf("a bad address: %d %s", got.status, got.body)
	}
	// A caller that names a secret must have the right to use secrets.
	narrow := r.token("boss", "database:manage")
	narrow.want(http.StatusForbidden, "PUT", "/databases/d", map[string]any{"engine": "postgres", "environment": "x", "secret": "DEPLOY_KEY"})
	// The document marks the address as write-only.
	schemas := r.api.huma.OpenAPI().Components.Schemas.Map()
	if dsn := schemas["RolloutDatabaseBody"].Properties["dsn"]; dsn == nil || !dsn.WriteOnly || schemas["RolloutDatabase"].Properties["dsn"] != nil {
		t.Errorf("the document: %+v", dsn)
	}
	// A server without rollouts answers so.
	bare := newRig(t, func(c *Config) { c.Operations = op.Local{} })
	bare.user("boss", auth.Admin)
	bare.login("boss").want(http.StatusNotFound, "GET", "/rollouts", nil)
}

// A waiting rollout can be paused, canceled and aborted.
func TestRolloutPause(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.user("mia", auth.Maintainer)
	mia := r.login("mia")
	mia.want(http.StatusCreated, "PUT", "/databases/d1", map[string]any{"engine": "postgres", "environment": "test", "dsn": r.target("d1")})
	later := plan("later", map[string]any{"name": "test"})
	later["run_at"] = time.Now().Add(time.Hour)
	var made rollout.Rollout
	mia.want(http.StatusCreated, "POST", "/rollouts", later).into(&made)
	at := "/rollouts/" + made.ID.String()
	mia.says(http.StatusOK, at+"/start", nil)
	mia.says(http.StatusOK, at+"/pause", map[string]string{"reason": "the shop is busy"})
	if p := mia.becomes(made.ID, "paused"); p.PauseNote != "the shop is busy" || p.PausedBy != "mia" {
		t.Errorf("paused: %+v", p)
	}
	mia.says(http.StatusOK, at+"/resume", nil)
	mia.says(http.StatusOK, at+"/tasks/"+url.PathEscape("test/d1/2")+"/cancel", map[string]string{"reason": "not now"})
	var tasks op.Page[rollout.Task]
	mia.want(http.StatusOK, "GET", at+"/tasks?status=CANCELED", nil).into(&tasks)
	if len(tasks.Items) != 1 || tasks.Items[0].Version != "2" {
		t.Errorf("canceled: %+v", tasks)
	}
	mia.want(http.StatusConflict, "DELETE", "/databases/d1", nil)
	mia.says(http.StatusOK, at+"/abort", map[string]string{"reason": "called off"})
	if p := mia.becomes(made.ID, "canceled"); p.AbortNote != "called off" {
		t.Errorf("aborted: %+v", p)
	}
}
