package flowtest

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir/internal/coordinator"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/testdb"
	"github.com/weirhq/weir/internal/testwait"
	"github.com/weirhq/weir/internal/workflow"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// login opens a connection that has one role and no other right.
func login(t *testing.T, db *testdb.DB, role string) *pgx.Conn {
	t.Helper()
	name, password := "test_"+strings.ToLower(rand.Text()), rand.Text()
	if _, err := db.Pool.Exec(t.Context(), `create role `+name+` login password '`+password+`' in role `+role); err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(db.URL)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword(name, password)
	conn, err := pgx.Connect(t.Context(), u.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		conn.Close(context.Background())
		if _, err := db.Pool.Exec(context.Background(), `drop owned by `+name+`; drop role `+name); err != nil {
			t.Errorf("drop role: %v", err)
		}
	})
	return conn
}

// read returns the rows of one column.
func read[T any](t *testing.T, conn *pgx.Conn, sql string, args ...any) []T {
	t.Helper()
	rows, err := conn.Query(t.Context(), sql, args...)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[T])
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return list
}

// build runs the builder of a leader for the length of the test.
func build(t *testing.T, db *testdb.DB) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	c := coordinator.New(coordinator.Config{Pool: db.Pool, Log: log, Loops: func(term *coordinator.Term) []loop.Loop {
		return workflow.Loops(workflow.Config{Pool: db.Pool, Log: log}, term)
	}})
	var run sync.WaitGroup
	run.Go(func() { c.Run(ctx) })
	t.Cleanup(func() { stop(); run.Wait() })
}

// TestSmoke is the smoke test of the workflow core: two jobs of two tasks, by plain SQL
// only, in the global order of order_seq for every service.
func TestSmoke(t *testing.T) {
	t.Parallel()
	db := testdb.New(t)
	build(t, db)
	scheduler, agent := login(t, db, "weir_client"), login(t, db, "weir_worker")
	id := read[string](t, scheduler, `insert into flow.workflows (name, version, steps) values ('mini', 1,
		'[{"key":"ingest","service":"ingest","depends_on":[],"default_params":{"source":"s3://in"}}, {"key":"render","service":"renderer","depends_on":["ingest"],"default_params":{"preset":"1080p30"}}]')
		returning id::text`)[0]
	first := read[string](t, scheduler, `insert into flow.jobs (workflow_id, status, order_seq, scheduled_at) values ($1, 'queued', nextval('flow.order_seq'), now()) returning id::text`, id)[0]
	second := read[string](t, scheduler, `insert into flow.jobs (workflow_id, status, order_seq, scheduled_at, options)
		values ($1, 'queued', nextval('flow.order_seq'), now(), '{"params": {"preset": "720p"}}') returning id::text`, id)[0]
	later := read[string](t, scheduler, `insert into flow.jobs (workflow_id, status, scheduled_at) values ($1, 'queued', now() + interval '1 day') returning id::text`, id)[0]
	testwait.Until(t, "both jobs run", func() bool {
		return read[int](t, scheduler, `select count(*)::int from flow.jobs where status = 'running' and current_task_key = 'ingest'`)[0] == 2
	})
	var order []string
	testwait.Until(t, "both jobs are done", func() bool {
		for _, service := range []string{"ingest", "renderer"} {
			order = append(order, read[string](t, agent, `select job::text || ' ' || key || ' ' || coalesce(params ->> 'preset', '') || ' ' || weir.finish(task, attempt, token, '{"ok": true}') from weir.claim('agent', array[$1])`, service)...)
		}
		return read[int](t, scheduler, `select count(*)::int from flow.jobs where status = 'done' and progress = 100`)[0] == 2
	})
	for _, service := range []string{"ingest", "render"} {
		var jobs []string
		for _, line := range order {
			if word := strings.Fields(line); word[1] == service {
				jobs = append(jobs, word[0])
			}
		}
		if !slices.Equal(jobs, []string{first, second}) {
			t.Errorf("%s went %v, want the first job first", service, jobs)
		}
	}
	if !slices.Contains(order, second+" render 720p ok") || !slices.Contains(order, first+" render 1080p30 ok") {
		t.Errorf("params are those of the step, and of the job over them: %q", order)
	}
	if status := read[string](t, scheduler, `select status from flow.jobs where id = $1`, later); status[0] != "queued" {
		t.Errorf("the job of tomorrow is %s", status[0])
	}
	for _, job := range []string{first, second} {
		got := read[string](t, scheduler, `select string_agg(t.task_key || ':' || (e.data ->> 'status'), ' ' order by e.id) from flow.task_events e join flow.job_tasks t on t.id = e.job_task_id
			where e.job_id = $1 and e.type = 'status' and e.data ->> 'status' <> 'queued'`, job)[0]
		if got != "ingest:starting ingest:done render:starting render:done" {
			t.Errorf("the timeline of a job is %q", got)
		}
	}
}

// TestBadWorkflow: a job whose workflow makes no sense ends as an error that
// says why, and is not tried for ever.
func TestBadWorkflow(t *testing.T) {
	t.Parallel()
	db := testdb.New(t)
	build(t, db)
	scheduler := login(t, db, "weir_client")
	job := read[string](t, scheduler, `with w as (insert into flow.workflows (name, version, steps) values ('odd', 1, '[{"key":"a","service":"s","colour":"red"}]') returning id)
		insert into flow.jobs (workflow_id) select id from w returning id::text`)[0]
	testwait.Until(t, "it is an error", func() bool {
		return read[string](t, scheduler, `select status from flow.jobs where id = $1`, job)[0] == "error"
	})
	if said := read[string](t, scheduler, `select error_code || ': ' || error_message from flow.jobs where id = $1`, job)[0]; !strings.Contains(said, "colour") {
		t.Errorf("it says %q", said)
	}
}
