package enginetest

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// node is a node of a plan, as EXPLAIN (ANALYZE, FORMAT JSON) gives it.
type node struct {
	Type    string  `json:"Node Type"`
	Table   string  `json:"Relation Name"`
	Rows    float64 `json:"Actual Rows"`
	Removed float64 `json:"Rows Removed by Filter"`
	Loops   float64 `json:"Actual Loops"`
	Plans   []node
}

// walk calls do for the node and all below it.
func (n node) walk(do func(node)) {
	do(n)
	for _, p := range n.Plans {
		p.walk(do)
	}
}

// explainer is a connection that reports the plan of every statement inside
// every function it calls.
type explainer struct {
	*engine
	conn  *pgx.Conn
	plans []node
}

func (e *engine) explainer() *explainer {
	e.Helper()
	x := &explainer{engine: e}
	config, err := pgx.ParseConfig(e.URL)
	if err != nil {
		e.Fatal(err)
	}
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		_, plan, ok := strings.Cut(n.Message, "plan:\n")
		var parsed struct{ Plan node }
		if ok && json.Unmarshal([]byte(plan), &parsed) == nil {
			x.plans = append(x.plans, parsed.Plan)
		}
	}
	if x.conn, err = pgx.ConnectConfig(context.Background(), config); err != nil {
		e.Fatal(err)
	}
	e.Cleanup(func() { x.conn.Close(context.Background()) })
	if _, err := x.conn.Exec(context.Background(), `load 'auto_explain'`); err != nil {
		missing(e, "auto_explain (the contrib modules of PostgreSQL)")
	}
	x.do(`set auto_explain.log_min_duration = 0; set auto_explain.log_analyze = on; set auto_explain.log_timing = off; set auto_explain.log_nested_statements = on;
		set auto_explain.log_format = json; set client_min_messages = log`)
	return x
}

// do runs a statement and keeps the plans of what it ran.
func (x *explainer) do(sql string, args ...any) {
	x.Helper()
	x.plans = nil
	if _, err := x.conn.Exec(context.Background(), sql, args...); err != nil {
		x.Fatalf("%s: %v", sql, err)
	}
}

// read is how many rows of a table the last statement read.
func (x *explainer) read(table string) int {
	n := 0.0
	for _, p := range x.plans {
		p.walk(func(p node) {
			if p.Table == table {
				n += (p.Rows + p.Removed) * max(p.Loops, 1)
			}
		})
	}
	return int(n)
}

// indexed wants that no statement scanned a table that grows.
func (x *explainer) indexed(what string) {
	x.Helper()
	if len(x.plans) < 2 {
		x.Errorf("%s: %d plans were seen: nothing is checked", what, len(x.plans))
	}
	for _, p := range x.plans {
		p.walk(func(p node) {
			grows := slices.ContainsFunc([]string{"tasks", "pending", "available", "running", "finished", "events", "edges", "jobs"}, func(t string) bool { return p.Table == t || strings.HasPrefix(p.Table, t+"_") })
			if grows && (p.Type == "Seq Scan" || p.Type == "Bitmap Heap Scan") {
				x.Errorf("%s: %s on %s", what, p.Type, p.Table)
			}
		})
	}
}

// crowded fills the database: available without gates, and pending behind lanes
// that are busy and pools that are full.
func (e *engine) crowded(available, pending int) {
	e.Helper()
	for range available / 5000 {
		e.exec(`select weir.submit_many(jsonb_agg(jsonb_build_object('service', 's', 'priority', i % 3)), false, $1) from generate_series(1, 5000) i`, at(0))
	}
	e.exec(`select weir.set_pool('pool' || i, 1, at => $1) from generate_series(1, 50) i`, at(0))
	for range pending / 5000 {
		e.exec(`select weir.submit_many(jsonb_agg(case when i % 2 = 0 then jsonb_build_object('service', 'g', 'lane', 'lane' || i % 500, 'exclusive', true)
			else jsonb_build_object('service', 'g', 'pool', 'pool' || 1 + i % 50) end), false, $1) from generate_series(1, 5000) i`, at(0))
	}
	e.exec(`select weir.open_gates(at => $1)`, at(1))
}

// TestPlans pins the plans of the hot calls on an empty database, on a full one
// that nobody has analysed, and on one that was: each must use its index.
func TestPlans(t *testing.T) {
	t.Parallel()
	e := start(t)
	x := e.explainer()
	calls := func(when string) {
		x.do(`select * from weir.claim('w', '{s}', 10, at => $1)`, at(2))
		x.indexed("claim, " + when)
		if n := x.read("available"); n > 100 {
			t.Errorf("claim of 10, %s: %d rows of available were read", when, n)
		}
		x.do(`select weir.finish_many(array_agg(task), array_agg(attempt), array_agg(token), at => $1) from weir.claim('w', '{s,g}', 50, at => $1)`, at(3))
		x.indexed("finish_many, " + when)
		x.do(`select weir.open_gates(at => $1)`, at(4))
		x.indexed("open_gates, " + when)
	}
	calls("empty")
	e.crowded(100_000, 10_000)
	calls("full, not analysed")
	e.exec(`analyze`)
	e.exec(`select weir.analyze_parents()`)
	calls("full, analysed")
}

// TestNothingToDoWritesNothing asks for work where there is none: no row is
// written, no transaction id is spent.
func TestNothingToDoWritesNothing(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.crowded(0, 10_000)
	e.exec(`select weir.claim('w', '{s}', at => $1)`, at(1)) // registers the worker
	e.exec(`select weir.open_gates(at => $1)`, at(1))        // adds up what has just come to the pools
	if n := one[int](e, `select count(*)::int from weir.pending`); n < 9000 {
		t.Fatalf("only %d are pending", n)
	}
	for name, sql := range map[string]string{
		"a pass of the gates over 10,000 pending": `select weir.open_gates(at => $1)`,
		"a claim with nothing to take":            `select weir.claim('w', '{s}', 10, at => $1)`,
		"tend with nothing due":                   `select weir.tend(true, at => $1)`,
		"expire with nothing late":                `select weir.expire(at => $1)`,
	} {
		tx, err := e.connect().Begin(context.Background()) // the counters are the connection's
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if _, err := tx.Exec(context.Background(), sql, at(2)); err != nil {
			t.Fatal(err)
		}
		took := time.Since(began)
		var xid *string
		var written int
		err = tx.QueryRow(context.Background(), `select pg_current_xact_id_if_assigned()::text, (select sum(n_tup_ins + n_tup_upd + n_tup_del)::int from pg_stat_xact_user_tables where relname not in ('classes', 'horizon'))`).Scan(&xid, &written)
		if err != nil {
			t.Fatal(err)
		}
		// Only tend may note how far the numbers of tasks have come.
		if written != 0 || xid != nil && !strings.HasPrefix(name, "tend") {
			t.Errorf("%s: transaction id %v, %d rows written", name, xid, written)
		}
		t.Logf("%s: %v, %d rows written", name, took.Round(time.Millisecond), written)
		if err := tx.Rollback(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	e.exec(`analyze`) // for the doctor, who reads it all
}
