package view

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
	"github.com/weirhq/weir/internal/testdb"
)

// node is a node of a plan, as EXPLAIN (ANALYZE, FORMAT JSON) gives it.
type node struct {
	Table   string  `json:"Relation Name"`
	Rows    float64 `json:"Actual Rows"`
	Removed float64 `json:"Rows Removed by Filter"`
	Recheck float64 `json:"Rows Removed by Index Recheck"`
	Loops   float64 `json:"Actual Loops"`
	Plans   []node
}

// read is how many rows of a table and its partitions the plan read.
func (n node) read(table string) float64 {
	sum := 0.0
	if n.Table == table || strings.HasPrefix(n.Table, table+"_2") || n.Table == table+"_default" {
		sum = (n.Rows + n.Removed + n.Recheck) * max(n.Loops, 1)
	}
	for _, p := range n.Plans {
		sum += p.read(table)
	}
	return sum
}

// explained is a store whose every statement leaves its plan behind.
type explained struct {
	*Store
	mu    sync.Mutex
	plans []node
}

func explain(t *testing.T, db *testdb.DB) *explained {
	t.Helper()
	x := &explained{}
	config, err := pgxpool.ParseConfig(db.URL)
	if err != nil {
		t.Fatal(err)
	}
	config.MaxConns = 1
	config.ConnConfig.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		var parsed struct{ Plan node }
		if _, plan, ok := strings.Cut(n.Message, "plan:\n"); ok && json.Unmarshal([]byte(plan), &parsed) == nil {
			x.mu.Lock()
			x.plans = append(x.plans, parsed.Plan)
			x.mu.Unlock()
		}
	}
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, `load 'auto_explain'; set auto_explain.log_min_duration = 0; set auto_explain.log_analyze = on; set auto_explain.log_timing = off;
			set auto_explain.log_nested_statements = on; set auto_explain.log_format = json; set client_min_messages = log`)
		return err
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	if err := pool.Ping(t.Context()); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skipf("SKIPPED, nothing was tested: auto_explain (the contrib modules of PostgreSQL) is missing: %v", err)
	}
	x.Store = New(pool)
	return x
}

// read is how many rows of a table were read since the last call.
func (x *explained) read(table string) int {
	x.mu.Lock()
	defer x.mu.Unlock()
	sum := 0.0
	for _, p := range x.plans {
		sum += p.read(table)
	}
	return int(sum)
}

func (x *explained) forget() (seen int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	seen = len(x.plans)
	x.plans = nil
	return seen
}

// past makes 20,000 tasks that have ended, 1,000 jobs among them, and 5,000 that
// wait for a pool. One service and one kind were used only in the beginning. Before
// all of it, much was said.
func past(t *testing.T, db *testdb.DB) {
	t.Helper()
	do(t, db, `insert into weir.events (at, type, kind, subject) select clock_timestamp() - interval '1 year', 'said', 'note', i::text from generate_series(1, 20000) i`,
		`select weir.set_pool('full', 0)`, `select weir.register_node('n')`, `select weir.submit_job('[{"service": "s", "key": "first"}]', 'first', 'rare', schedule => 'once')`,
		`select weir.submit_many(jsonb_agg(jsonb_build_object('service', 'rare')), false) from generate_series(1, 5)`)
	for range 4 {
		do(t, db, `select weir.submit_many(jsonb_agg(jsonb_build_object('service', 's', 'max_attempts', 1)), false) from generate_series(1, 4750)`,
			`select weir.submit_job('[{"service": "s", "key": "only"}]', 'job-' || i, hint => false) from generate_series(1, 250) i`,
			`select weir.finish_many(array_agg(task), array_agg(attempt), array_agg(token)) from weir.claim('w', '{s,rare}', 4900)`,
			`select count(*) from weir.claim('w', '{s}', 100) c, weir.fail(c.task, c.attempt, c.token, 'no', final => true)`)
	}
	do(t, db, `select weir.submit_many(jsonb_agg(jsonb_build_object('service', 'p', 'pool', 'full')), false) from generate_series(1, 5000)`,
		`select weir.submit_many(jsonb_agg(jsonb_build_object('service', 'p', 'hold', 'me')), false) from generate_series(1, 10)`)
}

// TestPlans pins what each question reads: a page, not the table. It asks often
// enough for PostgreSQL to settle on a plan, with statistics and without, and as
// after a restore, when all events have the same transaction id.
func TestPlans(t *testing.T) {
	db := testdb.New(t)
	past(t, db)
	x := explain(t, db)
	job := ask[weir.ID](t, db, `select id from weir.jobs order by id desc limit 1`)
	task := ask[weir.ID](t, db, `select task from weir.finished order by task desc limit 1`)
	middle := Page{After: ask[weir.ID](t, db, `select id from weir.tasks order by id offset 12000 limit 1`).String()}
	type question struct {
		name, table string
		most        int
		ask         func(ctx context.Context) error
	}
	tasks := func(name, table string, most int, f TaskFilter, page Page) question {
		return question{name, table, most, func(ctx context.Context) error { _, _, err := x.TaskPage(ctx, f, page); return err }}
	}
	jobs := func(name, table string, most int, f JobFilter) question {
		return question{name, table, most, func(ctx context.Context) error { _, _, err := x.JobPage(ctx, f, Page{}); return err }}
	}
	events := func(name string, most int, f TimelineFilter, before string) question {
		return question{name, "events", most, func(ctx context.Context) error { _, _, err := x.Timeline(ctx, f, before, 50); return err }}
	}
	questions := []question{
		tasks("tasks", "tasks", 150, TaskFilter{}, Page{}),
		tasks("older tasks", "tasks", 150, TaskFilter{}, middle),
		tasks("failed tasks", "finished", 150, TaskFilter{State: "failed"}, Page{}),
		tasks("done tasks", "finished", 300, TaskFilter{State: "done"}, middle),
		tasks("pending tasks", "pending", 150, TaskFilter{State: "pending"}, Page{}),
		tasks("tasks of one job", "tasks", 5, TaskFilter{Job: job}, Page{}),
		jobs("jobs", "jobs", 120, JobFilter{}),
		jobs("jobs of a rare kind", "jobs", 5, JobFilter{Kind: "rare"}),
		jobs("jobs of no kind", "jobs", 5, JobFilter{Kind: "none"}),
		jobs("failed jobs", "job_finished", 120, JobFilter{State: "failed"}),
		jobs("runs of a workflow", "jobs", 110, JobFilter{Workflow: "job-7"}),
		jobs("runs of a rare schedule", "jobs", 5, JobFilter{Schedule: "once"}),
		jobs("jobs for a task", "jobs", 5, JobFilter{Parent: task}),
		jobs("repetitions", "jobs", 5, JobFilter{Origin: job}),
		jobs("queued jobs", "job_live", 2, JobFilter{State: "queued", Schedule: "once"}),
		jobs("jobs by a rare name", "jobs", 10, JobFilter{Name: "first"}),
		events("the timeline", 110, TimelineFilter{}, ""),
		events("errors", 110, TimelineFilter{Level: "error"}, ""),
		events("of a job", 20, TimelineFilter{Job: job}, ""),
		events("of a rare kind", 10, TimelineFilter{Kind: "node"}, ""),
		{"graph", "tasks", 5, func(ctx context.Context) error { _, err := x.Graph(ctx, job); return err }},
		{"spans", "finished", 5, func(ctx context.Context) error { _, err := x.Spans(ctx, job); return err }},
		{"one task", "tasks", 2, func(ctx context.Context) error { _, err := x.Task(ctx, task); return err }},
		{"overview", "finished", 250, func(ctx context.Context) error { _, err := x.Overview(ctx); return err }},
		{"overview", "tasks", 50, func(ctx context.Context) error { _, err := x.Overview(ctx); return err }},
	}
	check := func(when string) {
		t.Helper()
		_, before, err := x.Timeline(t.Context(), TimelineFilter{Type: "failed"}, "", 200)
		if err != nil || before == "" {
			t.Fatalf("no place in the timeline: %v", err)
		}
		for _, q := range append(questions, events("the older timeline", 110, TimelineFilter{}, before)) {
			for i := range 7 { // after five, a plan may be kept for all arguments
				x.forget()
				if err := q.ask(t.Context()); err != nil {
					t.Fatalf("%s, %s: %v", q.name, when, err)
				}
				if n := x.read(q.table); n > q.most {
					t.Errorf("%s, %s, time %d: %d rows of %s were read, at most %d are needed", q.name, when, i+1, n, q.table, q.most)
					break
				}
				if x.forget() == 0 {
					t.Fatalf("%s, %s: no plan was seen: nothing is checked", q.name, when)
				}
			}
		}
	}
	check("not analysed")
	do(t, db, `analyze`, `select weir.analyze_parents()`)
	check("analysed")
	do(t, db, `update weir.events set xid = 0`, `vacuum analyze weir.events`)
	check("restored")
}
