package rollout

import (
	"testing"

	"github.com/weirhq/weir/internal/mariatest"
	"github.com/weirhq/weir/internal/rollout/script"
)

// The same on MariaDB, where every DDL is a step of its own.
func TestExecutorOnMariaDB(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	db := mariatest.New(t)
	d, err := r.store.PutDatabase(t.Context(), "ann", Database{Name: "shop", Engine: "mysql", Environment: "test"}, db.DSN)
	if err != nil || d.Fault != "" {
		t.Fatalf("%+v %v", d, err)
	}
	r.executes(1)
	x := r.started(Plan{Stages: []Stage{{Name: "test"}}, Changes: []script.Change{
		change("1", script.DDL, "create table a (id int);\ncreate table b (id int);\n"), change("2", script.Data, "insert into a values (1), (2);\n"),
	}})
	r.tended(x.ID, StateDone)
	list, err := r.tasks(x)
	if err != nil || len(list) != 2 {
		t.Fatal(list, err)
	}
	run, err := r.store.Run(t.Context(), list[1].ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	rows := int64(0)
	for _, l := range run.Log {
		if l.Statement != nil {
			rows += l.Statement.Rows
		}
	}
	if rows != 2 {
		t.Fatalf("log: %+v", run.Log)
	}
	if d, err = r.store.CheckDatabase(t.Context(), "shop"); err != nil || d.Version != "2" || d.Fault != "" {
		t.Fatalf("%+v %v", d, err)
	}
	if report, err := r.store.Drift(t.Context(), "shop"); err != nil || report.Drifted {
		t.Fatalf("%+v %v", report, err)
	}
	// A change that breaks half way is FAILED, and says so.
	y := r.started(Plan{Stages: []Stage{{Name: "test"}}, Changes: []script.Change{change("3", script.DDL, "create table c (id int);\ncreate table a (id int);\n")}})
	r.tended(y.ID, StateFailed)
	if got := r.task(y.ID, "test/shop/3"); got.Status != Failed {
		t.Fatalf("%+v", got)
	}
}
