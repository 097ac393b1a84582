package remote_test

import (
	"testing"
	"time"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/engine/bulk"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/work"
	"github.com/weirhq/weir/internal/workflow"
)

// Bulk operations give the same results over a server as on the database.
func TestBulk(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := r.as(auth.Maintainer)
	exec := func(sql string) {
		t.Helper()
		if _, err := r.db.Pool.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	exec(`select weir.submit('render') from generate_series(1, 6)`)
	exec(`select weir.submit_job(name => 'nightly', tasks => '[{"service": "s", "key": "a"}]') from generate_series(1, 2)`)
	f := work.TaskFilter{Service: "render", Since: time.Now().Add(-time.Hour)}
	look, err := work.ChangeTasks.Call(t.Context(), c, work.OrderTasks(f, bulk.Order{Action: bulk.Hold, DryRun: true}))
	if err != nil || look.Matched != 6 || len(look.Sample) != 5 {
		t.Fatalf("%+v, %v", look, err)
	}
	done := 0
	for order := (bulk.Order{Action: bulk.Priority, Priority: 4, Limit: 4}); ; {
		got, err := work.ChangeTasks.Call(t.Context(), c, work.OrderTasks(f, order))
		if err != nil {
			t.Fatal(err)
		}
		done += got.Changed
		if order.After = got.Next; got.Next == "" {
			break
		}
	}
	if done != 6 {
		t.Errorf("%d were changed", done)
	}
	f.Since = time.Now().Add(time.Hour)
	if got, err := work.ChangeTasks.Call(t.Context(), c, work.OrderTasks(f, bulk.Order{Action: bulk.Cancel})); err != nil || got.Matched != 0 {
		t.Errorf("what is to come: %+v, %v", got, err)
	}
	if tasks, err := op.Full(t.Context(), c, work.ListTasks, work.ListingTasks{TaskFilter: f}); err != nil || len(tasks) != 0 {
		t.Errorf("a list of what is to come: %d, %v", len(tasks), err)
	}
	if got, err := work.ChangeJobs.Call(t.Context(), c, work.OrderJobs(work.JobFilter{Name: "night*"}, bulk.Order{Action: bulk.Cancel})); err != nil || got.Changed != 2 {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err = work.ChangeTasks.Call(t.Context(), c, work.OrderTasks(work.TaskFilter{}, bulk.Order{Action: bulk.Cancel})); err == nil {
		t.Fatal("all tasks were meant")
	}
	if p := problem.Explain(err); p.Kind != problem.Invalid {
		t.Errorf("no filter: %v", err)
	}
}

// A workflow is deleted over a server.
func TestDeleteWorkflow(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := r.as(auth.Maintainer)
	const source = "name: pair\nsteps: [{key: a, service: s}]\n"
	if _, err := workflow.Put.Call(t.Context(), c, &workflow.Putting{Body: workflow.PutBody{DefinitionBody: workflow.DefinitionBody{Source: source}}}); err != nil {
		t.Fatal(err)
	}
	in := &workflow.Deleting{Named: workflow.Named{Workflow: "pair"}, Version: 1}
	if gone, err := workflow.Delete.Call(t.Context(), c, in); err != nil || gone.Versions != 1 {
		t.Errorf("%+v, %v", gone, err)
	}
	in.Version = 0
	if _, err := workflow.Delete.Call(t.Context(), c, in); err == nil || problem.Explain(err).Kind != problem.NotFound {
		t.Error(err)
	}
}
