package node

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/blob/blobtest"
)

// A node that is gone for good can be dropped; one that is not gone cannot.
func TestDropNode(t *testing.T) {
	r := newRig(t, blobtest.Folder(t))
	ctx := t.Context()
	drop := func(name, code string) {
		t.Helper()
		_, err := r.db.Pool.Exec(ctx, `select weir.drop_node($1, by => 'boss')`, name)
		var state *pgconn.PgError
		if code == "" && err != nil || code != "" && (!errors.As(err, &state) || state.Code != code || code == "WR409" && state.Hint == "") {
			t.Errorf("%s: %v, want %q", name, err, code)
		}
	}
	drop("nobody", "WR404")
	drop("n1", "WR409") // it is alive
	r.submit()
	a := r.claim()
	away := func() {
		t.Helper()
		if _, err := r.db.Pool.Exec(ctx, `with w as (update weir.workers set seen_at = seen_at - interval '1 h') update weir.nodes set seen_at = seen_at - interval '1 h'`); err != nil {
			t.Fatal(err)
		}
	}
	away()
	drop("n1", "WR409") // it holds a task
	refused, err := r.End(ctx, []Outcome{{Lease: a.Holds(), Verdict: Done}})
	if err != nil || len(refused) > 0 {
		t.Fatalf("%+v, %v", refused, err)
	}
	away()
	drop("n1", "")
	if got := one[string](r, `select (select count(*) from weir.nodes) || ' ' || (select count(*) from weir.events where kind = 'node' and type = 'removed' and subject = 'n1' and source = 'boss')`); got != "0 1" {
		t.Errorf("nodes and events: %s", got)
	}
	// An agent that comes back after all gets the order to register, and can.
	if _, err := r.Heartbeat(ctx); !errors.Is(err, weir.ErrNotFound) {
		t.Errorf("its heartbeat: %v", err)
	}
	r.ok(r.Register(ctx, Info{Name: "n1", Capacity: map[string]int{"s": 5}}))
	r.submit()
	a = r.claim()
	if _, err := r.Heartbeat(ctx); err != nil {
		t.Error(err)
	}
	if refused, err := r.Renew(ctx, []Lease{a.Holds()}, 0); err != nil || len(refused) > 0 {
		t.Errorf("it lost its lease: %+v, %v", refused, err)
	}
}
