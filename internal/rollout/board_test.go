package rollout

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/rollout/script"
)

// A board has so many tasks of each stage, what failed first. Each is the same as it
// is when it is read by itself.
func TestBoard(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.register("test", "a", "b", "c")
	r.register("prod", "p")
	x := r.started(Plan{Stages: []Stage{{Name: "test", OnFailure: OnFailureContinue}, {Name: "prod"}}, Changes: []script.Change{ddl(1), ddl(2), ddl(3)}})
	has := r.claims(100)
	r.fail(has["test/c/1"], "broken")
	r.done(has["test/a/1"])
	r.open()
	list, err := r.store.Board(t.Context(), x.ID, 4)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	var ids []weir.ID
	for _, task := range list {
		got = append(got, task.Key+" "+task.Status)
		if one, err := r.store.Task(t.Context(), task.ID); err != nil || !same(one, task) {
			t.Errorf("%+v is by itself %+v, %v", task, one, err)
		}
		ids = append(ids, task.ID)
	}
	want := []string{
		"test/c/1 FAILED", "test/b/1 RUNNING", "test/a/2 AVAILABLE", "test/a/3 PENDING",
		"prod/p/1 NOT_STARTED", "prod/p/2 NOT_STARTED", "prod/p/3 NOT_STARTED",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if again, err := r.store.TasksByID(t.Context(), append(ids, weir.ID{1})); err != nil || !slices.EqualFunc(again, list, same) {
		t.Errorf("by id: %+v, %v", again, err)
	}
	r.done(has["test/b/1"])
}

func same(a, b Task) bool { return reflect.DeepEqual(a, b) }

// A plan that is read back and created again is the same plan, as long as nobody has
// registered more databases.
func TestPlanAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.register("test", "a", "b")
	r.register("prod", "p", "q")
	asked := Plan{
		Name: "again", Note: "a note", Parallel: 2, OutOfOrder: true,
		Stages: []Stage{{Name: "test", Canary: 1}, {Name: "live", Environment: "prod", Approvals: 2, Promote: PromoteManual, OnFailure: OnFailureAtMost, MaxFailures: 2}},
		Files:  []File{{"V1__a.sql", "-- weir: transaction=off lock_timeout=3s\ncreate table a (id int);"}, {"R__views.sql", "create or replace view v as select 1;"}},
	}
	x := r.create(asked)
	again, err := r.store.Plan(t.Context(), x.ID)
	if err != nil || again.Note != "a note" || len(again.Stages[1].Databases) != 0 || again.Changes[0].Transaction || !again.Changes[1].Repeatable {
		t.Fatalf("%+v, %v", again, err)
	}
	if p, err := r.store.Preview(t.Context(), again, PreviewOptions{Offline: true}); err != nil || p.Hash != x.Hash {
		t.Errorf("the hash is %s, was %s, %v", p.Hash, x.Hash, err)
	}
	r.register("prod", "new")
	if again, err = r.store.Plan(t.Context(), x.ID); err != nil || fmt.Sprint(again.Stages[0].Databases, again.Stages[1].Databases) != "[] [p q]" {
		t.Errorf("%+v, %v", again.Stages, err)
	}
	if p, err := r.store.Preview(t.Context(), again, PreviewOptions{Offline: true}); err != nil || p.Hash != x.Hash {
		t.Errorf("with the databases named the hash is %s, was %s, %v", p.Hash, x.Hash, err)
	}
	var p *problem.Problem
	if _, err := r.store.Plan(t.Context(), weir.ID{1}); !errors.As(err, &p) || p.Kind != problem.NotFound {
		t.Errorf("no rollout: %v", err)
	}
	list, err := r.store.Environments(t.Context(), 10)
	if err != nil || fmt.Sprint(list) != "[{prod 3} {test 2}]" {
		t.Errorf("%v, %v", list, err)
	}
}
