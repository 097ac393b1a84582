package timeline

import (
	"context"
	"errors"
	run "os/exec"
	"slices"
	"testing"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/pg"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/testdb"
	"github.com/weirhq/weir/internal/testwait"
)

// restored returns a copy of a database, loaded from a dump into a cluster of its own.
func restored(t *testing.T, from *testdb.DB) *testdb.DB {
	t.Helper()
	ctx := t.Context()
	cluster, err := pg.Start(ctx, pg.Config{Dir: t.TempDir(), Settings: map[string]string{"fsync": "off"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cluster.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	if err := cluster.EnsureDatabase(ctx, "weir"); err != nil {
		t.Fatal(err)
	}
	url := cluster.URL("weir")
	file := t.TempDir() + "/dump"
	for _, args := range [][]string{
		{"pg_dump", "--format=custom", "--no-privileges", "--no-owner", "--file=" + file, from.URL},
		{"pg_restore", "--no-owner", "--exit-on-error", "--dbname=" + url, file},
	} {
		if out, err := run.CommandContext(ctx, args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", args[0], err, out)
		}
	}
	pool, err := pg.Open(ctx, url, pg.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return &testdb.DB{Pool: pool, URL: url}
}

// TestR8ADumpInAnotherCluster: a follower whose cursor belongs to the old cluster is
// refused, and one that begins anew sees every event of the dump in order, then the new
// events.
func TestR8ADumpInAnotherCluster(t *testing.T) {
	t.Parallel()
	db := testdb.New(t)
	exec(t, db, `select weir.adopt_restore()`)
	exec(t, db, `select weir.submit('s') from generate_series(1, 20)`)
	exec(t, db, `select weir.finish(task, attempt, token) from weir.claim('w', '{s}', 10)`)
	exec(t, db, `update weir.events set xid = xid + 1000000`) // the old cluster has used more transaction ids than the new one will
	cursor := weir.Cursor(one[string](t, db, `select xid || '.' || seq from weir.events order by xid desc, seq desc limit 1`))
	want := lines(t, db, "0.0")
	here := restored(t, db)
	exec(t, db, `select weir.adopt_restore(true)`) // for the doctor, which runs when the test ends

	if n := one[int](t, here, `select weir.adopt_restore()::int`); n == 0 {
		t.Fatal("no event was moved: the clusters do not differ")
	}
	hub, _ := startHub(t, here.Pool, nil, Options{})
	var refused *problem.Problem
	if _, err := hub.Follow(t.Context(), cursor, Filter{}); !errors.As(err, &refused) || refused.Kind != problem.Conflict {
		t.Errorf("the old cursor %s: %v", cursor, err)
	}
	f := follow(t, hub, "0.0", Filter{})
	if got := keys(gather(t, f, len(want))); !slices.Equal(got, want) {
		t.Errorf("%d events were seen, %d are in the dump, or their order differs", len(got), len(want))
	}
	exec(t, here, `select weir.submit('s')`)
	if got := gather(t, f, 1); got[0].Type != "submitted" {
		t.Errorf("then came %s", got[0].Type)
	}
}

// TestAFollowerAheadOfTheDatabase: after a failover that lost the end of the timeline, a
// follower gets an error, and does not wait until the numbers are reached again.
func TestAFollowerAheadOfTheDatabase(t *testing.T) {
	t.Parallel()
	db := testdb.New(t)
	hub, _ := startHub(t, db.Pool, nil, Options{})
	f := follow(t, hub, "", Filter{})
	before := f.session
	f.at.xid += 1000000000
	ahead := f.at
	// The hub opens the timeline anew, as after every loss of the database.
	f.session = before - 1
	ctx, cancel := context.WithTimeout(t.Context(), testwait.Limit)
	defer cancel()
	var refused *problem.Problem
	if _, err := f.Next(ctx); !errors.As(err, &refused) || refused.Kind != problem.Conflict {
		t.Errorf("the follower got %v", err)
	}
	if _, err := read(ctx, db.Pool, ahead, &Filter{}); !errors.As(err, &refused) || refused.Kind != problem.Conflict || transient(err) {
		t.Errorf("the read got %v", err)
	}
}
