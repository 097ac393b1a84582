package remote_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/rollout"
)

// target makes an empty database, which goes with the test.
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

// Through a server databases and rollouts are what they are on the database.
func TestRolloutsAreTheSame(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	client := r.as(auth.Admin)
	far := client.Rollouts()
	ctx := t.Context()
	did := must[rollout.Commanded](t)
	d := must[rollout.Database](t)(far.PutDatabase(ctx, "ignored", rollout.Database{Name: "d1", Engine: "postgres", Environment: "test", Labels: map[string]string{"a": "b=c"}}, r.target("d1")))
	if d.Fault != "" || !strings.HasPrefix(d.By, "a-admin") {
		t.Errorf("registered: %+v", d)
	}
	d.Note = "another"
	must[rollout.Database](t)(far.PutDatabase(ctx, "", d, ""))
	soon := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	p := rollout.Plan{
		Name: "r", Stages: []rollout.Stage{{Name: "test", Approvals: 1, Promote: "manual", OnFailure: "at_most", MaxFailures: 1, Canary: 1, Databases: []string{"d1"}}}, RunAt: &soon, Parallel: 2, Note: "n",
		Files: []rollout.File{{Name: "V1__a.sql", Text: "create table a (id int);"}, {Name: "V2__b.sql", Text: "create index b on a (id);"}},
	}
	made := must[rollout.Rollout](t)(far.Create(ctx, "ignored", p, "once"))
	if again := must[rollout.Rollout](t)(far.Create(ctx, "", p, "once")); again.ID != made.ID {
		t.Errorf("made twice: %s and %s", made.ID, again.ID)
	}
	p.Note, p.Parallel = "edited", 3
	next := must[rollout.Rollout](t)(far.Replace(ctx, "", made.ID, p))
	if next.Replaces != made.ID {
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
	tasks := must[[]rollout.Task](t)(far.Tasks(ctx, next.ID))
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
	compareRollouts(t, r.rolls, far, next)
	compareReads(t, op.Local{Stores: []any{r.rolls}, Who: func(context.Context) auth.Subject { return auth.System("test") }}, client, next)
	did(rollout.Abort.Call(ctx, client, &rollout.Decision{Named: of, Body: &op.DecisionBody{Reason: "called off"}}))
	if _, err := rollout.DropDatabase.Call(ctx, client, &rollout.NamedDatabase{Database: "d1"}); err != nil {
		t.Error(err)
	}
	if _, err := far.Database(ctx, "d1"); problem.Explain(err).Kind != problem.NotFound {
		t.Errorf("it is still there: %v", err)
	}
}

// compareRollouts reads everything both ways.
func compareRollouts(t *testing.T, near *rollout.Store, far app.Rollouts, made rollout.Rollout) {
	t.Helper()
	tasks, err := near.Tasks(t.Context(), made.ID)
	if err != nil {
		t.Fatal(err)
	}
	for name, read := range map[string]func(app.Rollouts) (any, error){
		"databases": func(s app.Rollouts) (any, error) {
			return s.Databases(t.Context(), rollout.DatabaseFilter{Environment: "test", Engine: "postgres", Search: "d", Labels: map[string]string{"a": "b=c"}}, view.Page{})
		},
		"none": func(s app.Rollouts) (any, error) {
			return s.Databases(t.Context(), rollout.DatabaseFilter{Labels: map[string]string{"a": "x"}}, view.Page{})
		},
		"database": func(s app.Rollouts) (any, error) { return s.Database(t.Context(), "d1") },
		"history":  func(s app.Rollouts) (any, error) { return s.DatabaseHistory(t.Context(), "d1", view.Page{Limit: 1}) },
		"rollouts": func(s app.Rollouts) (any, error) {
			return s.Rollouts(t.Context(), rollout.Filter{Database: "d1", Search: "r"}, view.Page{Limit: 1})
		},
		"tasks": func(s app.Rollouts) (any, error) { return s.Tasks(t.Context(), made.ID) },
		"task page": func(s app.Rollouts) (any, error) {
			return s.TaskPage(t.Context(), made.ID, rollout.TaskFilter{Stage: tasks[1].Stage, Database: tasks[1].Database, Status: tasks[1].Status, Key: tasks[1].Key}, view.Page{Limit: 1, After: tasks[0].ID.String()})
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

// compareReads reads with the same operations both ways.
func compareReads(t *testing.T, near, far op.Caller, made rollout.Rollout) {
	t.Helper()
	d1 := &rollout.NamedDatabase{Database: "d1"}
	of := rollout.Named{Rollout: made.Name}
	task := rollout.NamedTask{Rollout: made.Name, Task: "test/d1/2"}
	for name, read := range map[string]func(op.Caller) (any, error){
		"foreign": func(c op.Caller) (any, error) { return rollout.ShowForeign.Call(t.Context(), c, d1) },
		"drift":   func(c op.Caller) (any, error) { return rollout.ShowDrift.Call(t.Context(), c, d1) },
		"rollout": func(c op.Caller) (any, error) { return rollout.Show.Call(t.Context(), c, &of) },
		"change": func(c op.Caller) (any, error) {
			return rollout.ShowChange.Call(t.Context(), c, &rollout.OfChange{Named: of, Change: "2"})
		},
		"task": func(c op.Caller) (any, error) { return rollout.ShowTask.Call(t.Context(), c, &task) },
		"run": func(c op.Caller) (any, error) {
			return rollout.ShowRun.Call(t.Context(), c, &rollout.OfRun{NamedTask: task})
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

// alike compares what a database and a server answered.
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

// An edit whose answer got lost is not sent again by itself: it would make a second
// rollout.
func TestReplaceIsSentOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	far := r.as(auth.Admin).Rollouts()
	sent := 0
	r.intercept(func(w http.ResponseWriter, q *http.Request) bool {
		if q.Method != http.MethodPut {
			return true
		}
		sent++
		w.WriteHeader(http.StatusServiceUnavailable)
		return false
	})
	if _, err := far.Replace(t.Context(), "", weir.ID{}, rollout.Plan{}); problem.Explain(err).Kind != problem.Unreachable || sent != 1 {
		t.Errorf("sent %d times: %v", sent, err)
	}
}
