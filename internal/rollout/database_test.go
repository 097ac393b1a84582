package rollout

import (
	"errors"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/rollout/script"
)

// A database that cannot be reached is registered with its fault, and neither that
// nor a refusal has the password.
func TestUnreachableDatabase(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	const password = "hunter2secret"
	d, err := r.store.PutDatabase(t.Context(), "ann", Database{Name: "gone-1", Engine: "postgres", Environment: "test"}, "postgres://u:"+password+"@127.0.0.1:1/x?connect_timeout=2")
	if err != nil || d.Fault == "" || d.Identity != "" {
		t.Fatalf("%+v %v", d, err)
	}
	if _, err := r.store.PutDatabase(t.Context(), "ann", Database{Name: "bad", Engine: "postgres", Environment: "test"}, "postgres://u:"+password+"@127.0.0.1:port/x"); err == nil || strings.Contains(err.Error(), password) {
		t.Fatal(err)
	}
	if _, err := r.store.PutDatabase(t.Context(), "ann", Database{Name: "bad", Engine: "oracle", Environment: "test"}, "x"); err == nil {
		t.Fatal("an engine that nobody knows")
	}
	r.noLeak("postgres://u:" + password + "@x")
	x := r.started(Plan{Stages: []Stage{{Name: "test"}}, Changes: []script.Change{ddl(1)}})
	r.executes(1)
	r.until("a failure", func() bool { return r.task(x.ID, "test/gone-1/1").Status == Failed })
	if got := r.task(x.ID, "test/gone-1/1"); got.Code != "unreachable" || strings.Contains(got.Error, password) {
		t.Fatalf("%+v", got)
	}
	r.noLeak("postgres://u:" + password + "@x")
}

func TestDatabases(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.target("a-b", "test")
	r.target("a_b", "prod")
	if secretFor("a-b") == secretFor("a_b") {
		t.Fatal("two databases share a secret")
	}
	d, err := r.store.Database(t.Context(), "a-b")
	if err != nil {
		t.Fatal(err)
	}
	// What is not given again stays in the vault.
	d.Labels, d.Secret = map[string]string{"zone": "eu"}, ""
	if d, err = r.store.PutDatabase(t.Context(), "ann", d, ""); err != nil || d.Fault != "" || d.Labels["zone"] != "eu" {
		t.Fatalf("%+v %v", d, err)
	}
	for n, f := range map[int]DatabaseFilter{0: {Environment: "x"}, 1: {Labels: []string{"zone=eu"}}, 2: {Engine: "postgres", Search: "A"}} {
		list, err := r.store.Databases(t.Context(), f, view.Page{})
		if err != nil || len(list) != n {
			t.Errorf("%+v: %d, %v", f, len(list), err)
		}
	}
	list, err := r.store.Databases(t.Context(), DatabaseFilter{}, view.Page{Limit: 1, After: "a-b"})
	if err != nil || len(list) != 1 || list[0].Name != "a_b" {
		t.Fatal(list, err)
	}
	x := r.create(Plan{Stages: []Stage{{Name: "eu", Labels: map[string]string{"zone": "eu"}}}, Changes: []script.Change{ddl(1)}})
	var p *problem.Problem
	if err := r.store.DropDatabase(t.Context(), "ann", "a-b"); err == nil || problem.Explain(err).Kind != problem.Conflict {
		t.Fatal(err)
	}
	r.must(r.store.Abort(t.Context(), "ann", x.ID, ""))
	if err := r.store.DropDatabase(t.Context(), "ann", "a-b"); err != nil {
		t.Fatal(err)
	}
	if _, err := r.store.Database(t.Context(), "a-b"); !errors.As(err, &p) || p.Kind != problem.NotFound {
		t.Fatal(err)
	}
	if _, err := r.vault.Open(t.Context(), []string{secretFor("a-b")}); err == nil {
		t.Fatal("its address is still in the vault")
	}
	if all, err := r.store.Rollouts(t.Context(), Filter{Database: "a-b", State: StateCanceled, Search: "ROLL"}, view.Page{}); err != nil || len(all) != 1 || all[0].Counts.Canceled != 1 {
		t.Fatalf("%+v %v", all, err)
	}
}

func TestImport(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	address := r.target("one", "test")
	r.in(address, `create table goose_db_version (id serial primary key, version_id bigint not null, is_applied boolean not null, tstamp timestamp default now())`)
	r.in(address, `insert into goose_db_version (version_id, is_applied) values (0, true), (1, true), (2, true)`)
	f, err := r.store.Foreign(t.Context(), "one")
	if err != nil || f == nil || f.Tool != "goose" {
		t.Fatalf("%+v %v", f, err)
	}
	n, err := r.store.ImportHistory(t.Context(), "ann", "one")
	if err != nil || n != 2 {
		t.Fatal(n, err)
	}
	d, err := r.store.Database(t.Context(), "one")
	if err != nil || d.Version != "2" {
		t.Fatalf("%+v %v", d, err)
	}
	r.executes(1)
	x := r.started(Plan{Stages: []Stage{{Name: "test"}}, Changes: []script.Change{ddl(2), ddl(3)}})
	r.tended(x.ID, StateDone)
	if got := r.in(address, `select concat(to_regclass('t2'), to_regclass('t3'))`); got != "t3" {
		t.Fatalf("what was imported was run again: %s", got)
	}
}

// Plans that nobody could carry out are refused with the field and the way out.
func TestBadPlans(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.register("test", "a")
	good := func() Plan { return Plan{Name: "p", Stages: []Stage{{Name: "test"}}, Changes: []script.Change{ddl(1)}} }
	for name, spoil := range map[string]func(p *Plan){
		"no name":                func(p *Plan) { p.Name = "" },
		"no stage":               func(p *Plan) { p.Stages = nil },
		"no change":              func(p *Plan) { p.Changes = nil },
		"stage name":             func(p *Plan) { p.Stages[0].Name = "a/b" },
		"two stages of one name": func(p *Plan) { p.Stages = append(p.Stages, p.Stages[0]) },
		"no such environment":    func(p *Plan) { p.Stages[0].Environment = "nowhere" },
		"no such database":       func(p *Plan) { p.Stages[0].Databases = []string{"nowhere"} },
		"database twice":         func(p *Plan) { p.Stages = append(p.Stages, Stage{Name: "more", Databases: []string{"a"}}) },
		"two of one version":     func(p *Plan) { p.Changes = append(p.Changes, ddl(1)) },
		"bad policy":             func(p *Plan) { p.Stages[0].OnFailure = "shrug" },
		"at most none":           func(p *Plan) { p.Stages[0].OnFailure = OnFailureAtMost },
		"failures without":       func(p *Plan) { p.Stages[0].MaxFailures = 1 },
		"bad promotion":          func(p *Plan) { p.Stages[0].Promote = "never" },
		"negative":               func(p *Plan) { p.Parallel = -1 },
		"bad SQL":                func(p *Plan) { p.Changes[0].SQL = "creat table x;" },
		"bad file":               func(p *Plan) { p.Files = []File{{"V9__x.sql", "select 'oops"}} },
		"bad version":            func(p *Plan) { p.Changes[0].Version = "one" },
	} {
		p := good()
		spoil(&p)
		_, err := r.store.Create(t.Context(), "ann", p, "")
		if err == nil {
			t.Errorf("%s: it was taken", name)
			continue
		}
		if got := problem.Explain(err); got.Kind != problem.Invalid || got.What == "" {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := r.store.Preview(t.Context(), p, PreviewOptions{Offline: true}); err == nil {
			t.Errorf("%s: a preview takes it", name)
		}
	}
}
