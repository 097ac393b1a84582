package workspace_test

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/workspace"
	"github.com/weirhq/weir/internal/workspace/ladder"
)

// plan is a node of a plan, as EXPLAIN (ANALYZE, FORMAT JSON) gives it.
type plan struct {
	Table   string  `json:"Relation Name"`
	Rows    float64 `json:"Actual Rows"`
	Removed float64 `json:"Rows Removed by Filter"`
	Loops   float64 `json:"Actual Loops"`
	Plans   []plan
}

// read is how many rows of workspaces the plan has read.
func (n plan) read() float64 {
	sum := 0.0
	if n.Table == "workspaces" {
		sum = (n.Rows + n.Removed) * max(n.Loops, 1)
	}
	for _, p := range n.Plans {
		sum += p.read()
	}
	return sum
}

// glass is a pool whose every statement leaves its plan behind, within functions too.
type glass struct {
	*pgxpool.Pool
	mu    sync.Mutex
	plans []plan
}

func newGlass(t *testing.T, url string) *glass {
	t.Helper()
	g := &glass{}
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	config.MaxConns = 1
	config.ConnConfig.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		var parsed struct{ Plan plan }
		if _, text, ok := strings.Cut(n.Message, "plan:\n"); ok && json.Unmarshal([]byte(text), &parsed) == nil {
			g.mu.Lock()
			g.plans = append(g.plans, parsed.Plan)
			g.mu.Unlock()
		}
	}
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, `load 'auto_explain'; set auto_explain.log_min_duration = 0; set auto_explain.log_analyze = on; set auto_explain.log_timing = off;
			set auto_explain.log_nested_statements = on; set auto_explain.log_format = json; set client_min_messages = log`)
		return err
	}
	if g.Pool, err = pgxpool.NewWithConfig(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	if err := g.Ping(t.Context()); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skipf("SKIPPED, nothing was tested: auto_explain (the contrib modules of PostgreSQL) is missing: %v", err)
	}
	return g
}

// Of 10,000 workspaces, of a thousand people, each call reads those that it is about. It is
// called as often as it takes the database to settle on a plan for all arguments.
func TestPlansOfTenThousand(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.exec(`insert into weir.users (id, name, role, created_at) select gen_random_uuid(), 'user' || n, 'operator', now() from generate_series(1, 1000) n`)
	_, err := d.store.SetPolicy(t.Context(), "ann", workspace.PolicyChange{PerUser: new(20), InAll: new(1000)})
	d.ok(err)
	// One in fifty runs, one in twenty-five stands by, one in a hundred is under way, the others are archived.
	d.exec(`with u as (select id, row_number() over (order by name) - 1 as nth from weir.users where name <> 'ann')
		insert into weir.workspaces (id, owner, name, provider, created_at, desired, desired_at, last_access_at, phase, phase_changed_at, had_home, operation, op_id, op_started_at, op_progress_at)
		select weir._id(now() + n * interval '1 ms'), u.id, 'w' || n / 1000, 'process', now(), p.phase, now(), now(), p.phase, now(), true,
			case when n % 100 = 9 then 'STOPPING' else 'NONE' end, case when n % 100 = 9 then gen_random_uuid() end, case when n % 100 = 9 then now() end, case when n % 100 = 9 then now() end
		from generate_series(0, 9999) n join u on u.nth = n % 1000, lateral (select case n % 50 when 7 then 'RUNNING' when 8 then 'STANDBY' when 9 then 'STANDBY' else 'ARCHIVED' end as phase) p`)
	d.exec(`analyze weir.workspaces, weir.users`)
	g := newGlass(t, d.db.URL)
	store := workspace.New(g.Pool)
	var ids []weir.ID
	d.scan(&ids, `select array_agg(id) from (select id from weir.workspaces where phase = 'STANDBY' and operation = 'NONE' order by id limit 50) x`)
	var owner weir.ID
	d.scan(&owner, `select owner from weir.workspaces where id = $1`, ids[0])
	sql := func(text string, args ...any) func() error {
		return func() error { _, err := g.Exec(t.Context(), text, args...); return err }
	}
	for _, c := range []struct {
		what string
		most int // rows of workspaces that may be read
		do   func() error
	}{
		{"a look in which 50 changed", 400, sql(`select weir.workspace_see((select jsonb_agg(jsonb_build_object('id', x, 'phase', 'STANDBY', 'generation', 1, 'conditions', jsonb_build_object('a', jsonb_build_object('status', true, 'message', random())))) from unnest($1::uuid[]) x))`, ids)},
		{"a start, with its limits", 600, func() error {
			_, err := store.Want(t.Context(), ids[0], ladder.Running, "ann", "")
			if err == nil {
				_, err = store.Want(t.Context(), ids[0], ladder.Standby, "ann", "")
			}
			return err
		}},
		{"use of 50", 250, sql(`select weir.workspace_touch($1, array_fill(clock_timestamp(), array[50]), array_fill('http'::text, array[50]))`, ids)},
		{"what is due", 700, sql(`select weir.workspace_expire(at => now())`)},
		{"whether something is idle", 300, func() error { _, err := store.Idle(t.Context()); return err }},
		{"the end of an outage", 700, sql(`select weir.workspace_unknown(case when p.unknown_at is null then '{docker,process}'::text[] else '{}' end) from weir.workspace_policy p`)},
		{"a new leader", 300, sql(`select weir.workspace_resume()`)},
		{"one", 1, func() error { _, err := store.Workspace(t.Context(), ids[0]); return err }},
		{"a name", 20, func() error { _, err := store.Find(t.Context(), "", "user17/w3"); return err }},
		{"the first page of all", 60, func() error { _, err := store.List(t.Context(), workspace.Filter{}, view.Page{}); return err }},
		{"a page of all", 60, func() error {
			_, err := store.List(t.Context(), workspace.Filter{}, view.Page{After: ids[49].String()})
			return err
		}},
		{"a page of one's own", 20, func() error {
			_, err := store.List(t.Context(), workspace.Filter{Owner: owner}, view.Page{})
			return err
		}},
		{"how many are one's own", 20, func() error { _, err := store.Count(t.Context(), workspace.Filter{Owner: owner}); return err }},
	} {
		for range 8 {
			g.plans = nil
			if err := c.do(); err != nil {
				t.Fatalf("%s: %v", c.what, err)
			}
			read := 0.0
			for _, p := range g.plans {
				read += p.read()
			}
			if int(read) > c.most || len(g.plans) == 0 {
				t.Errorf("%s: %d plans, %d rows are read, and %d should do", c.what, len(g.plans), int(read), c.most)
				break
			}
		}
	}
}
