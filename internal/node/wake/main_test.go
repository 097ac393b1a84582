package wake

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir/internal/coordinator"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/testdb"
	waiting "github.com/weirhq/weir/internal/testwait" // the package has a patience of its own
)

func TestMain(m *testing.M) { testdb.Main(m) }

// rig is a database with nodes, and the calls that tests make.
type rig struct {
	*testing.T
	*testdb.DB
}

func start(t *testing.T) *rig {
	t.Helper()
	return &rig{T: t, DB: testdb.New(t)}
}

func (r *rig) exec(sql string, args ...any) {
	r.Helper()
	if _, err := r.Pool.Exec(context.Background(), sql, args...); err != nil {
		r.Fatalf("%s: %v", sql, err)
	}
}

func one[T any](r *rig, sql string, args ...any) (out T) {
	r.Helper()
	if err := r.Pool.QueryRow(context.Background(), sql, args...).Scan(&out); err != nil {
		r.Fatalf("%s: %v", sql, err)
	}
	return out
}

// sleeper registers a node with a worker, both last seen ten minutes ago.
func (r *rig) sleeper(name, labels, capacity string) {
	r.Helper()
	r.exec(`select weir.register_node($1, $2, $3)`, name, labels, capacity)
	r.exec(`update weir.nodes set seen_at = clock_timestamp() - interval '10 min' where name = $1`, name)
}

// worker registers a worker of a node, which thereby is awake.
func (r *rig) worker(name, node string, services ...string) {
	r.Helper()
	r.exec(`select weir.register_worker($1, $2, $3)`, name, services, node)
	r.exec(`update weir.nodes set seen_at = clock_timestamp() where name = $1`, node)
}

// events returns the events of a node with their messages, oldest first.
func (r *rig) events(node string) []string {
	r.Helper()
	rows, err := r.Pool.Query(context.Background(), `select concat_ws(': ', type, message) from weir.events where kind = 'node' and subject = $1 and type <> 'registered' order by seq`, node)
	if err != nil {
		r.Fatal(err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		r.Fatal(err)
	}
	return list
}

// wantEvents compares the kinds of a node's events.
func (r *rig) wantEvents(node string, want ...string) {
	r.Helper()
	rows, err := r.Pool.Query(context.Background(), `select type from weir.events where kind = 'node' and subject = $1 and type <> 'registered' order by seq`, node)
	if err != nil {
		r.Fatal(err)
	}
	got, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || !slices.Equal(got, want) {
		r.Errorf("events of %s: %v, want %v (%v)", node, got, want, err)
	}
}

// plan returns which nodes to wake at the given time from now.
func (r *rig) plan(later time.Duration) []string {
	r.Helper()
	var rows []struct{ Node string }
	if err := json.Unmarshal([]byte(one[string](r, `select weir.plan_wakes(clock_timestamp() + $1)::text`, later)), &rows); err != nil {
		r.Fatal(err)
	}
	nodes := []string{}
	for _, row := range rows {
		nodes = append(nodes, row.Node)
	}
	return nodes
}

// wantPlan fails the test unless exactly these nodes are woken.
func (r *rig) wantPlan(what string, later time.Duration, want ...string) {
	r.Helper()
	if got := r.plan(later); !slices.Equal(got, want) {
		r.Errorf("%s: woken are %v, want %v", what, got, want)
	}
}

// workflow stores a definition and returns its id.
func (r *rig) workflow(definition string) string {
	r.Helper()
	return one[string](r, `select id::text from weir.put_workflow('media', $1::jsonb)`, definition)
}

// until waits for a condition.
func (r *rig) until(what string, is func() bool) {
	r.Helper()
	waiting.Until(r, what, is)
}

// lead runs the waker's loops as the leader, for the length of the test.
func (r *rig) lead(w *Waker) {
	r.Helper()
	ctx, stop := context.WithCancel(context.Background())
	c := coordinator.New(coordinator.Config{Pool: r.Pool, Loops: func(term *coordinator.Term) []loop.Loop { return w.Loops(term) }})
	var run sync.WaitGroup
	run.Go(func() { c.Run(ctx) })
	r.Cleanup(func() { stop(); run.Wait() })
}
