package rollout

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/rollout/script"
)

// rounds is how often a race is run: each is short.
const rounds = 12

// nowhere is an address at which nobody answers, with a mark.
func nowhere(engine string, mark int) string {
	if engine == "mysql" {
		return fmt.Sprintf("mysql://u:p@127.0.0.1:1/db%d", mark)
	}
	return fmt.Sprintf("postgres://u:p@127.0.0.1:1/db%d?connect_timeout=5", mark)
}

// together runs all of them at once.
func together(all ...func()) {
	var run sync.WaitGroup
	begin := make(chan struct{})
	for _, one := range all {
		run.Go(func() { <-begin; one() })
	}
	close(begin)
	run.Wait()
}

// kept is the address that the vault has for a database; empty: none.
func (r *rig) kept(name string) string {
	r.Helper()
	var n int
	r.scan(&n, `select count(*) from weir.secrets where name = $1`, secretFor(name))
	if n == 0 {
		return ""
	}
	values, err := r.vault.Open(r.Context(), []string{secretFor(name)})
	if err != nil {
		r.Fatal(err)
	}
	return values[secretFor(name)]
}

// Of puts at the same time one is the last, and the row and the address are both its.
func TestPutsAtOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for range rounds / 2 {
		var puts []func()
		for mark := range 6 {
			puts = append(puts, func() {
				d := Database{Name: "one", Engine: "postgres", Environment: "test", Labels: map[string]string{"mark": fmt.Sprint(mark)}}
				if _, err := r.store.PutDatabase(t.Context(), "ann", d, nowhere("postgres", mark)); err != nil {
					t.Error(err)
				}
			})
		}
		together(puts...)
		d, err := r.store.Database(t.Context(), "one")
		if err != nil {
			t.Fatal(err)
		}
		if got := r.kept("one"); !strings.Contains(got, "/db"+d.Labels["mark"]+"?") {
			t.Fatalf("the row is of put %s, the address is %s", d.Labels["mark"], got)
		}
	}
}

// Two engines under one new name: one of them is refused and leaves nothing.
func TestPutsOfTwoEngines(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for i := range rounds {
		name := fmt.Sprintf("d%d", i)
		var refused sync.Map
		put := func(engine string) func() {
			return func() {
				_, err := r.store.PutDatabase(t.Context(), "ann", Database{Name: name, Engine: engine, Environment: "test"}, nowhere(engine, i))
				if err != nil {
					refused.Store(engine, err)
				}
			}
		}
		together(put("postgres"), put("mysql"))
		d, err := r.store.Database(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if _, bad := refused.Load(d.Engine); bad || !strings.HasPrefix(r.kept(name), d.Engine+"://") {
			t.Fatalf("database %s, address %s", d.Engine, r.kept(name))
		}
		n := 0
		refused.Range(func(_, err any) bool {
			if p := problem.Explain(err.(error)); p.Kind != problem.Invalid {
				t.Error(err)
			}
			n++
			return true
		})
		if n != 1 {
			t.Fatalf("%d were refused", n)
		}
	}
}

// A database that is dropped while it is put is there with its address, or gone
// with it.
func TestPutWhileItIsDropped(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	put := func() {
		// Dropped before it was looked at, it is not found; that is fine.
		_, err := r.store.PutDatabase(t.Context(), "ann", Database{Name: "one", Engine: "postgres", Environment: "test"}, nowhere("postgres", 1))
		if err != nil && problem.Explain(err).Kind != problem.NotFound {
			t.Error(err)
		}
	}
	drop := func() {
		if err := r.store.DropDatabase(t.Context(), "bob", "one"); err != nil && problem.Explain(err).Kind != problem.NotFound {
			t.Error(err)
		}
	}
	for range rounds {
		together(put, drop, put, drop)
		var rows int
		r.scan(&rows, `select count(*) from weir.databases where name = 'one'`)
		if address := r.kept("one"); (rows == 1) != (address != "") {
			t.Fatalf("%d rows, and the address is %q", rows, address)
		}
	}
}

// Two databases that share a secret, dropped at once: it goes with the last one.
func TestSharedSecretGoes(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for range rounds {
		if err := r.vault.Put(t.Context(), "ann", secretFor("shared"), nowhere("postgres", 1), ""); err != nil {
			t.Fatal(err)
		}
		r.exec(`select weir.rollout_put_database(n, 'postgres', 'test', $1) from unnest(array['a', 'b']) n`, secretFor("shared"))
		drop := func(name string) func() {
			return func() {
				if err := r.store.DropDatabase(t.Context(), "bob", name); err != nil {
					t.Error(err)
				}
			}
		}
		together(drop("a"), drop("b"))
		if left := r.kept("shared"); left != "" {
			t.Fatal("the secret is left")
		}
	}
}

// A rollout that is made while its database is dropped: one of the two is refused.
func TestCreateWhileADatabaseIsDropped(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	both := map[bool]int{}
	for range rounds * 2 {
		r.register("test", "one", "two")
		var made Rollout
		var create, drop error
		together(
			func() {
				made, create = r.store.Create(t.Context(), "ann", Plan{Name: "x", Stages: []Stage{{Name: "all", Databases: []string{"one", "two"}}}, Changes: []script.Change{ddl(1)}}, "")
			},
			func() { drop = r.store.DropDatabase(t.Context(), "bob", "one") },
		)
		both[create == nil]++
		if (create == nil) == (drop == nil) {
			t.Fatalf("create: %v, drop: %v", create, drop)
		}
		if create != nil {
			if p := problem.Explain(create); p.Kind != problem.Invalid && p.Kind != problem.Conflict {
				t.Fatal(create)
			}
			continue
		}
		if p := problem.Explain(drop); p.Kind != problem.Conflict {
			t.Fatal(drop)
		}
		r.must(r.store.Abort(t.Context(), "ann", made.ID, ""))
	}
	t.Logf("%d were made, %d refused", both[true], both[false])
}

// What is refused leaves neither a row nor an address.
func TestRefusedPutLeavesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	_, err := r.store.PutDatabase(t.Context(), "ann", Database{Name: "one", Engine: "postgres", Environment: "test", Secret: "not a name"}, nowhere("postgres", 1))
	if err == nil || problem.Explain(err).Kind != problem.Invalid {
		t.Fatal(err)
	}
	var n int
	r.scan(&n, `select (select count(*) from weir.databases) + (select count(*) from weir.secrets) + (select count(*) from weir.events where kind in ('database', 'secret'))`)
	if n != 0 {
		t.Fatalf("%d rows are left", n)
	}
}

// A look at the address that a database had before tells nothing about it.
func TestStaleLook(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.target("one", "test")
	before, err := r.store.Database(t.Context(), "one")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.store.PutDatabase(t.Context(), "ann", Database{Name: "one", Engine: "postgres", Environment: "test"}, nowhere("postgres", 1)); err != nil {
		t.Fatal(err)
	}
	if err := r.store.checked(t.Context(), "one", found{identity: "another", server: "x"}, &before.ChangedAt, true, ""); err != nil {
		t.Fatal(err)
	}
	after, err := r.store.Database(t.Context(), "one")
	if err != nil || after.Identity != before.Identity || after.Fault == "" {
		t.Fatalf("%+v %v", after, err)
	}
}
