package remote_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/rollout"
)

// target creates an empty database, which is dropped with the test.
func (r *rig) target(name string) string {
	r.t.Helper()
	u, err := url.Parse(r.db.URL)
	if err != nil {
		r.t.Fatal(err)
	}
	own := strings.Replace(strings.TrimPrefix(u.Path, "/"), "weir_test_", "weir_target_", 1) + "_" + name
	if _, err := r.db.Pool.Exec(r.t.Context(), `create database `+pgx.Identifier{own}.Sanitize()); err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() {
		if _, err := r.db.Pool.Exec(context.Background(), `drop database if exists `+pgx.Identifier{own}.Sanitize()+` with (force)`); err != nil {
			r.t.Error(err)
		}
	})
	u.Path = "/" + own
	return u.String()
}

func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// Databases and rollouts give the same results over a server as on the database.
func TestRolloutsAreTheSame(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	client := r.as(auth.Admin)
	ctx := t.Context()
	did, made, put := must[rollout.Commanded](t), must[rollout.Made](t), must[rollout.Database](t)
	put1 := &rollout.Putting{
		NamedDatabase: rollout.NamedDatabase{Database: "d1"},
		Body:          rollout.DatabaseBody{Engine: "postgres", Environment: "test", Labels: map[string]string{"a": "b=c"}, DSN: r.target("d1")},
	}
	d := put(rollout.PutDatabase.Call(ctx, client, put1))
	if d.Fault != "" || !strings.HasPrefix(d.By, "a-admin") {
		t.Errorf("registered: %+v", d)
	}
	put1.Body.Note, put1.Body.DSN = "another", ""
	if _, err := rollout.PutDatabase.Call(ctx, client, put1); problem.Explain(err).Field != "If-Match" {
		t.Errorf("written over unseen: %v", err)
	}
	put1.IfMatch = d.Tag()
	put(rollout.PutDatabase.Call(ctx, client, put1))
	if _, err := rollout.PutDatabase.Call(ctx, client, put1); problem.Explain(err).Kind != problem.Conflict {
		t.Errorf("written over another: %v", err)
	}
	soon := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	p := rollout.Plan{
		Name: "r", Stages: []rollout.Stage{{Name: "test", Approvals: 1, Promote: "manual", OnFailure: "at_most", MaxFailures: 1, Canary: 1, Databases: []string{"d1"}}}, RunAt: &soon, Parallel: 2, Note: "n",
		Files: []rollout.File{{Name: "V1__a.sql", Text: "create table a (id int);"}, {Name: "V2__b.sql", Text: "create index b on a (id);"}},
	}
	creating := &rollout.Creating{Keyed: op.Keyed{IdempotencyKey: "once"}}
	creating.Body.Plan = p
	first := made(rollout.Create.Call(ctx, client, creating))
	if again := made(rollout.Create.Call(ctx, client, creating)); again.ID != first.ID || !again.Existed || first.Existed {
		t.Errorf("made twice: %+v and %+v", first, again)
	}
	p.Note, p.Parallel = "edited", 3
	next := made(rollout.Replace.Call(ctx, client, &rollout.Replacing{Named: rollout.Named{Rollout: first.ID.String()}, Body: p}))
	if next.Replaces != first.ID {
		t.Errorf("replaced: %+v", next)
	}
	of := rollout.Named{Rollout: next.ID.String()}
	stage := rollout.NamedStage{Named: of, Stage: "test"}
	consent := rollout.Consent{NamedStage: stage, Body: &rollout.ConsentBody{Note: "seen"}}
	did(rollout.Approve.Call(ctx, client, &consent))
	did(rollout.Revoke.Call(ctx, client, &stage))
	did(rollout.Approve.Call(ctx, client, &consent))
	did(rollout.Start.Call(ctx, client, &of))
	did(rollout.Pause.Call(ctx, client, &rollout.Pausing{Named: of, Body: &rollout.PauseBody{Reason: "wait"}}))
	did(rollout.Resume.Call(ctx, client, &of))
	tasks := must[[]rollout.Task](t)(op.Each(ctx, client, rollout.ListTasks, rollout.ListingTasks{Named: of}))
	second := rollout.NamedTask{Rollout: "-", Task: tasks[1].ID.String()}
	did(rollout.Cancel.Call(ctx, client, &rollout.TaskDecision{NamedTask: second, Body: &op.DecisionBody{Reason: "no"}}))
	did(rollout.Retry.Call(ctx, client, &second))
	if skipped := did(rollout.Skip.Call(ctx, client, &rollout.Skipping{NamedTask: second, Body: &rollout.SkipBody{Reason: "no need"}})); skipped.ID != tasks[1].ID || !skipped.Changed {
		t.Errorf("skipped: %+v", skipped)
	}
	unknown := rollout.Resolution{NamedTask: rollout.NamedTask{Rollout: "r", Task: tasks[0].Key}}
	unknown.Body.Applied, unknown.Body.Reason = true, "seen"
	_, resolve := rollout.Resolve.Call(ctx, client, &unknown)
	_, promote := rollout.Promote.Call(ctx, client, &stage)
	_, drop := rollout.DropDatabase.Call(ctx, client, &rollout.NamedDatabase{Database: "d1"})
	for name, err := range map[string]error{"resolve": resolve, "promote": promote, "drop": drop} {
		if p := problem.Explain(err); err == nil || p.Kind != problem.Conflict || p.Next == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	near := op.Local{Stores: []any{r.rolls}, Who: func(context.Context) auth.Subject { return auth.System("test") }}
	compareReads(t, near, client, next.Rollout, tasks)
	did(rollout.Abort.Call(ctx, client, &rollout.Decision{Named: of, Body: &op.DecisionBody{Reason: "called off"}}))
	if _, err := rollout.DropDatabase.Call(ctx, client, &rollout.NamedDatabase{Database: "d1"}); err != nil {
		t.Error(err)
	}
	if _, err := rollout.ShowDatabase.Call(ctx, client, &rollout.NamedDatabase{Database: "d1"}); problem.Explain(err).Kind != problem.NotFound {
		t.Errorf("it is still there: %v", err)
	}
}

// compareReads reads with the same operations both ways.
func compareReads(t *testing.T, near, far op.Caller, made rollout.Rollout, tasks []rollout.Task) {
	t.Helper()
	d1 := &rollout.NamedDatabase{Database: "d1"}
	of := rollout.Named{Rollout: made.Name}
	task := rollout.NamedTask{Rollout: made.Name, Task: "test/d1/2"}
	ctx := t.Context()
	databases := func(c op.Caller, f rollout.DatabaseFilter) (any, error) {
		return rollout.ListDatabases.Call(ctx, c, &rollout.ListingDatabases{DatabaseFilter: f})
	}
	for name, read := range map[string]func(op.Caller) (any, error){
		"databases": func(c op.Caller) (any, error) {
			return databases(c, rollout.DatabaseFilter{Environment: "test", Engine: "postgres", Search: "d", Labels: []string{"a=b=c"}})
		},
		"none":     func(c op.Caller) (any, error) { return databases(c, rollout.DatabaseFilter{Labels: []string{"a=x"}}) },
		"database": func(c op.Caller) (any, error) { return rollout.ShowDatabase.Call(ctx, c, d1) },
		"history": func(c op.Caller) (any, error) {
			return rollout.ListHistory.Call(ctx, c, &rollout.ListingHistory{NamedDatabase: *d1, Paged: op.Paged{Limit: 1}})
		},
		"rollouts": func(c op.Caller) (any, error) {
			return rollout.List.Call(ctx, c, &rollout.Listing{Paged: op.Paged{Limit: 1}, Filter: rollout.Filter{Database: "d1", Search: "r"}})
		},
		"tasks": func(c op.Caller) (any, error) {
			return rollout.ListTasks.Call(ctx, c, &rollout.ListingTasks{
				Named: of, Paged: op.Paged{Limit: 1, After: tasks[0].ID.String()},
				TaskFilter: rollout.TaskFilter{Stage: tasks[1].Stage, Database: tasks[1].Database, Status: tasks[1].Status, Key: tasks[1].Key},
			})
		},
		"foreign": func(c op.Caller) (any, error) { return rollout.ShowForeign.Call(ctx, c, d1) },
		"drift":   func(c op.Caller) (any, error) { return rollout.ShowDrift.Call(ctx, c, d1) },
		"rollout": func(c op.Caller) (any, error) { return rollout.Show.Call(ctx, c, &of) },
		"change": func(c op.Caller) (any, error) {
			return rollout.ShowChange.Call(ctx, c, &rollout.OfChange{Named: of, Change: "2"})
		},
		"task": func(c op.Caller) (any, error) { return rollout.ShowTask.Call(ctx, c, &task) },
		"run": func(c op.Caller) (any, error) {
			return rollout.ShowRun.Call(ctx, c, &rollout.OfRun{NamedTask: task})
		},
	} {
		a, err := read(near)
		if err != nil {
			t.Errorf("%s on the database: %v", name, err)
			continue
		}
		b, err := read(far)
		alike(t, name, a, b, err)
	}
}

// alike compares the answers of a database and a server.
func alike(t *testing.T, name string, near, far any, err error) {
	t.Helper()
	if err != nil {
		t.Errorf("%s through the server: %v", name, err)
		return
	}
	if x, y := plain(t, near), plain(t, far); x != y && !(x == "null" && y == "[]") {
		t.Errorf("%s differs: %s\nand %s", name, x, y)
	}
}

// An edit whose answer was lost is not retried by itself, because it would create a
// second rollout.
func TestReplaceIsSentOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	client := r.as(auth.Admin)
	sent := 0
	r.intercept(func(w http.ResponseWriter, q *http.Request) bool {
		if q.Method != http.MethodPut {
			return true
		}
		sent++
		w.WriteHeader(http.StatusServiceUnavailable)
		return false
	})
	if _, err := rollout.Replace.Call(t.Context(), client, &rollout.Replacing{Named: rollout.Named{Rollout: "x"}}); problem.Explain(err).Kind != problem.Unreachable || sent != 1 {
		t.Errorf("sent %d times: %v", sent, err)
	}
}
