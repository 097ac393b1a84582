package enginetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// mediaSteps is the example of the workflow core, as it is written there.
const mediaSteps = `[
  {"key":"ingest","service":"ingest","depends_on":[],"default_params":{"source":"s3://..."}},
  {"key":"audio","service":"audio-norm","depends_on":["ingest"],"default_params":{"lufs":-16}},
  {"key":"render","service":"renderer","depends_on":["audio"],"default_params":{"preset":"1080p30"}},
  {"key":"upload","service":"yt-upload","depends_on":["render"],"default_params":{}}
]`

// flowRig is a scheduler of the workflow core: a client's login and its SQL.
type flowRig struct {
	*engine
	client *pgx.Conn
}

func startFlow(t testing.TB) *flowRig {
	t.Helper()
	e := start(t)
	return &flowRig{engine: e, client: e.as("weir_client")}
}

// flowOne reads one row as the client.
func flowOne[T any](f *flowRig, sql string, args ...any) T {
	f.Helper()
	found, err := ask[T](f.client, sql, args...)
	if err != nil || len(found) != 1 {
		f.Fatalf("%s: %d rows, %v", sql, len(found), err)
	}
	return found[0]
}

// run runs a statement as the client; it must work.
func (f *flowRig) run(sql string, args ...any) {
	f.Helper()
	if _, err := f.client.Exec(context.Background(), sql, args...); err != nil {
		f.Fatalf("%s: %v", sql, err)
	}
}

// refuses wants a statement of the client to be refused, with advice that names
// a function or a fix.
func (f *flowRig) refuses(code, advice, sql string, args ...any) {
	f.Helper()
	_, err := f.client.Exec(context.Background(), sql, args...)
	refusal := new(pgconn.PgError)
	if !errors.As(err, &refusal) || refusal.Code != code || !strings.Contains(refusal.Hint, advice) {
		f.Errorf("%s %v: %v (hint %q), want %s with advice %q", sql, args, err, refusal.Hint, code, advice)
	}
}

// media inserts the example and returns its id.
func (f *flowRig) media() string {
	f.Helper()
	return flowOne[string](f, `insert into flow.workflows (name, version, steps) values ('media', 1, $1) returning id::text`, mediaSteps)
}

// build does what the builder does with a job that is due.
func (f *flowRig) build(job string) {
	f.Helper()
	f.exec(`select weir.add_tasks(j.id, (select jsonb_agg(s - 'depends_on' - 'default_params' || jsonb_build_object('needs', s -> 'depends_on', 'params', s -> 'default_params'))
		from flow.workflows w, jsonb_array_elements(w.steps) s where w.id = j.definition)) from weir.jobs j where j.id = $1`, job)
}

// work claims one task of a service and ends it with a result, or with an error.
func (f *flowRig) work(service, result, fault string) string {
	f.Helper()
	var task, token string
	var attempt int
	err := f.Pool.QueryRow(context.Background(), `select task, attempt, token from weir.claim('w-' || $1, array[$1])`, service).Scan(&task, &attempt, &token)
	if err != nil {
		f.Fatalf("nothing to claim of %s: %v", service, err)
	}
	f.exec(`select weir.start_many(array[$1::uuid], array[$2::int], array[$3::uuid])`, task, attempt, token)
	if fault != "" {
		f.exec(`select weir.fail($1, $2, $3, $4, final => true)`, task, attempt, token, fault)
	} else {
		f.exec(`select weir.finish($1, $2, $3, $4::jsonb)`, task, attempt, token, result)
	}
	return task
}

// TestFlowColumns holds the views to the columns of the workflow core, in its
// order.
func TestFlowColumns(t *testing.T) {
	t.Parallel()
	f := startFlow(t)
	for view, want := range map[string]string{
		"workflows": "id uuid, name text, version int4, is_active bool, steps jsonb, created_at timestamptz, updated_at timestamptz",
		"jobs": "id uuid, workflow_id uuid, status text, progress numeric, current_task_key text, priority int4, order_seq int8, options jsonb, scheduled_at timestamptz, " +
			"error_code text, error_message text, created_at timestamptz, started_at timestamptz, finished_at timestamptz, updated_at timestamptz",
		"job_tasks": "id uuid, job_id uuid, task_key text, service_name text, status text, depends_on _text, attempt int4, max_attempts int4, next_attempt_at timestamptz, priority int4, " +
			"progress numeric, params jsonb, results jsonb, assigned_node text, claimed_by text, claimed_at timestamptz, started_at timestamptz, finished_at timestamptz, updated_at timestamptz, " +
			"created_at timestamptz", // its claim orders by created_at
		"task_events": "id int8, job_id uuid, job_task_id uuid, ts timestamptz, source text, level text, type text, message text, data jsonb",
		"task_artifacts": "id int8, job_id uuid, job_task_id uuid, kind text, bucket text, key text, size_bytes int8, content_type text, checksum text, " +
			"created_at timestamptz",
		"nodes": "name text, labels jsonb, last_seen timestamptz, awake_state text, wake_method text, mac text, provider_ref text, script text, max_concurrency jsonb",
	} {
		got := flowOne[string](f, `select string_agg(a.attname || ' ' || t.typname, ', ' order by a.attnum) from pg_attribute a join pg_type t on t.oid = a.atttypid
			where a.attrelid = ('flow.' || $1)::regclass and a.attnum > 0`, view)
		if got != want {
			t.Errorf("flow.%s:\n got %s\nwant %s", view, got, want)
		}
		f.run(`select * from flow.` + view)
	}
}

// TestFlowHappyPath goes the way of the workflow core with plain SQL: a workflow
// and a job are inserted, the job is built, its tasks are worked on, it is done.
func TestFlowHappyPath(t *testing.T) {
	t.Parallel()
	f := startFlow(t)
	workflow := f.media()
	job := flowOne[string](f, `insert into flow.jobs (workflow_id, status, order_seq, scheduled_at, options, priority)
		values ($1, 'queued', nextval('flow.order_seq'), now() - interval '1 s', '{"params": {}}', 5) returning id::text`, workflow)
	type view struct {
		Status   string
		Progress float64
		Current  *string
		Started  bool
		Finished bool
	}
	look := func() view {
		return flowOne[view](f, `select status, progress::float8, current_task_key, started_at is not null, finished_at is not null from flow.jobs where id = $1`, job)
	}
	if got := look(); got.Status != "queued" || got.Progress != 0 || got.Current != nil || got.Started || got.Finished {
		t.Errorf("after the insert: %+v", got)
	}
	if kept := flowOne[string](f, `select w.name || ' ' || j.priority || ' ' || (j.options ->> 'params') || ' ' || (j.order_seq < 1000)::text from flow.jobs j join flow.workflows w on w.id = j.workflow_id`); kept != "media 5 {} true" {
		t.Errorf("the job has %s", kept)
	}
	f.build(job)
	if got := look(); got.Status != "running" || got.Current == nil || *got.Current != "ingest" || !got.Started {
		t.Errorf("after it was built: %+v", got)
	}
	f.work("ingest", `{"file": "a.mov"}`, "")
	if got := look(); got.Progress != 25 || got.Current == nil || *got.Current != "audio" {
		t.Errorf("after the first step: %+v", got)
	}
	f.exec(`select weir.register_node('pc1', '{"gpu": "true"}', '{"audio-norm": 4}'), weir.register_worker('agent-1', '{audio-norm}', 'pc1')`)
	var task, token string
	if err := f.Pool.QueryRow(context.Background(), `select task, token from weir.claim('agent-1', '{audio-norm}')`).Scan(&task, &token); err != nil {
		t.Fatal(err)
	}
	state := func() string {
		return flowOne[string](f, `select concat_ws(' ', status, attempt, progress, array_to_string(depends_on, ','), claimed_by, assigned_node, started_at is not null, params ->> 'lufs')
			from flow.job_tasks where job_id = $1 and task_key = 'audio'`, job)
	}
	if got := state(); got != "starting 0 ingest agent-1 pc1 f -16" {
		t.Errorf("claimed: %s", got)
	}
	f.exec(`select weir.start_many(array[$1::uuid], array[1], array[$2::uuid])`, task, token)
	f.exec(`select weir.record($1, 1, $2, 'progress', data => '{"percent": 40}')`, task, token)
	if got := state(); got != "running 0 40 ingest agent-1 pc1 t -16" {
		t.Errorf("started: %s", got)
	}
	f.exec(`select weir.finish($1, 1, $2, '{"lufs": -16}')`, task, token)
	f.work("renderer", `{}`, "")
	f.work("yt-upload", `{"url": "https://…"}`, "")
	if got := look(); got.Status != "done" || got.Progress != 100 || got.Current != nil || !got.Finished {
		t.Errorf("at the end: %+v", got)
	}
	if got := flowOne[string](f, `select string_agg(task_key || ':' || status || ':' || progress, ' ' order by order_no) from (
		select t.*, row_number() over (order by created_at, id) as order_no from flow.job_tasks t where job_id = $1) x`, job); got != "ingest:done:100 audio:done:100 render:done:100 upload:done:100" {
		t.Errorf("tasks: %s", got)
	}
	got := all[string](f.engine, `select data ->> 'status' from flow.task_events where job_task_id = $1 and type = 'status' order by id`, task)
	if want := []string{"queued", "queued", "starting", "running", "done"}; !slices.Equal(got, want) {
		t.Errorf("the events of a task are %v, want %v", got, want)
	}
	if got := flowOne[string](f, `select type || ' ' || source || ' ' || level || ' ' || (data ->> 'percent') from flow.task_events where job_id = $1 and type = 'progress'`, job); got != "progress agent:agent-1 info 40" {
		t.Errorf("the event of its progress: %s", got)
	}
	if twice := flowOne[int](f, `select (count(*) - count(distinct id))::int from flow.task_events`); twice != 0 {
		t.Errorf("%d events share an id", twice)
	}
}

// TestFlowFailure shows what did not end well in the words of the workflow core.
func TestFlowFailure(t *testing.T) {
	t.Parallel()
	f := startFlow(t)
	workflow := f.media()
	insert := `insert into flow.jobs (workflow_id) values ($1) returning id::text`
	failed, canceled, queued := flowOne[string](f, insert, workflow), flowOne[string](f, insert, workflow), flowOne[string](f, insert, workflow)
	f.build(failed)
	f.work("ingest", "", "disk full")
	f.build(canceled)
	f.run(`select weir.cancel_job($1, reason => 'not needed')`, canceled)
	f.run(`select weir.cancel_job($1)`, queued)
	for job, want := range map[string]string{failed: "error failed disk full", canceled: "error canceled", queued: "error canceled"} {
		got := flowOne[string](f, `select concat_ws(' ', status, error_code, error_message) from flow.jobs where id = $1`, job)
		if !strings.HasPrefix(got, strings.TrimSuffix(want, " disk full")) || job == failed && !strings.Contains(got, "disk full") {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := flowOne[string](f, `select string_agg(task_key || ':' || status || ':' || attempt, ' ' order by task_key) from flow.job_tasks where job_id = $1`, failed); got != "audio:skipped:0 ingest:error:1 render:skipped:0 upload:skipped:0" {
		t.Errorf("tasks of the failed job: %s", got)
	}
	if got := flowOne[string](f, `select string_agg(distinct status, ' ') from flow.job_tasks where job_id = $1`, canceled); got != "skipped" {
		t.Errorf("tasks of the cancelled job: %s", got)
	}
	stopped := flowOne[string](f, insert, workflow)
	f.build(stopped)
	lease := one[struct {
		Task    string
		Attempt int
		Token   string
	}](f.engine, `select task::text, attempt, token::text from weir.claim('w', '{ingest}')`)
	f.run(`select weir.cancel_job($1)`, stopped)
	f.exec(`select weir.confirm_cancel($1, $2, $3)`, lease.Task, lease.Attempt, lease.Token)
	if got := flowOne[string](f, `select string_agg(task_key || ':' || status, ' ' order by task_key) from flow.job_tasks where job_id = $1`, stopped); got != "audio:skipped ingest:error render:skipped upload:skipped" {
		t.Errorf("tasks of a job that was cancelled while it ran: %s", got)
	}
	if got := all[string](f.engine, `select distinct coalesce(task_key, 'job') || ':' || (data ->> 'status') from flow.task_events e left join flow.job_tasks t on t.id = e.job_task_id
		where e.job_id = $1 and data ->> 'event' = 'canceled' order by 1`, stopped); !slices.Equal(got, []string{"audio:skipped", "ingest:error", "job:error", "render:skipped", "upload:skipped"}) {
		t.Errorf("what the timeline says of it: %v", got)
	}
	again := flowOne[string](f, insert, workflow)
	f.build(again)
	f.exec(`select weir.fail(task, attempt, token, 'busy', retry_at => clock_timestamp() + interval '1 h') from weir.claim('w', '{ingest}')`)
	if got := flowOne[string](f, `select status || ' ' || attempt || ' ' || (next_attempt_at > now() + interval '50 min')::text from flow.job_tasks where job_id = $1 and task_key = 'ingest'`, again); got != "queued 1 true" {
		t.Errorf("a task that waits for its next try: %s", got)
	}
	if got := flowOne[int](f, `select count(*)::int from flow.task_events where job_id = $1 and type = 'retry' and message = 'busy'`, again); got != 1 {
		t.Errorf("%d events of a retry", got)
	}
	f.exec(`select weir.cancel_job($1)`, again)
}

// TestFlowInsert is what a scheduler may insert and change, and how often.
func TestFlowInsert(t *testing.T) {
	t.Parallel()
	f := startFlow(t)
	workflow := f.media()
	if again := f.media(); again != workflow {
		t.Errorf("the same workflow again is %s, not %s", again, workflow)
	}
	f.refuses("WR409", "higher version", `insert into flow.workflows (name, version, steps) values ('media', 1, '[{"key": "a", "service": "b"}]')`)
	own := flowOne[string](f, `insert into flow.workflows (id, name, version, steps) values (gen_random_uuid(), 'media', 2, '[{"key": "a", "service": "b"}]') returning id::text`)
	if got := flowOne[string](f, `select name || version || steps from flow.workflows where id = $1`, own); got != `media2[{"key": "a", "service": "b", "depends_on": [], "default_params": {}}]` {
		t.Errorf("a workflow with an id of its own is %s", got)
	}
	f.run(`update flow.workflows set is_active = false where id = $1`, own)
	f.refuses("WR409", "weir.set_workflow", `insert into flow.jobs (workflow_id) values ($1)`, own)

	id := one[string](f.engine, `select weir._id(clock_timestamp())::text`)
	for range 2 {
		f.run(`insert into flow.jobs (id, workflow_id, scheduled_at) values ($1, $2, now() + interval '1 h')`, id, workflow)
	}
	if n := flowOne[int](f, `select count(*)::int from flow.jobs where workflow_id = $1`, workflow); n != 1 {
		t.Errorf("the same id twice made %d jobs", n)
	}
	f.run(`update flow.jobs set priority = 7, scheduled_at = '2030-01-01Z' where id = $1 and status = 'queued'`, id)
	f.run(`update flow.jobs set updated_at = now() where id = $1`, id)
	if got := flowOne[string](f, `select concat_ws(' ', priority, scheduled_at at time zone 'UTC') from flow.jobs where id = $1`, id); got != "7 2030-01-01 00:00:00" {
		t.Errorf("changed: %s", got)
	}
	if due := one[time.Time](f.engine, `select due from weir.job_live where job = $1`, id); due.Year() != 2030 {
		t.Errorf("it is due %v", due)
	}
	f.build(id)
	f.refuses("WR409", "weir.set_priority", `update flow.jobs set priority = 8 where id = $1`, id)

	first := one[int64](f.engine, `select nextval('weir.order_seq')`)
	later := flowOne[int64](f, `insert into flow.jobs (workflow_id) values ($1) returning order_seq`, workflow)
	earlier := flowOne[int64](f, `insert into flow.jobs (workflow_id, order_seq) values ($1, $2) returning order_seq`, workflow, first)
	if earlier != first || later <= earlier {
		t.Errorf("a number given is %d (want %d), one left out %d", earlier, first, later)
	}
	f.refuses("WR422", "flow.order_seq", `insert into flow.jobs (workflow_id, order_seq) values ($1, $2)`, workflow, first)
	f.refuses("WR422", "flow.order_seq", `insert into flow.jobs (workflow_id, order_seq) values ($1, 1000000)`, workflow)
	f.refuses("WR422", "flow.order_seq", `insert into flow.jobs (workflow_id, order_seq) values ($1, -1)`, workflow)
}

// TestFlowRefusals sends what does not belong into the views: nothing changes,
// and the advice names what to use.
func TestFlowRefusals(t *testing.T) {
	t.Parallel()
	f := startFlow(t)
	workflow := f.media()
	job := flowOne[string](f, `insert into flow.jobs (workflow_id, scheduled_at) values ($1, now() + interval '1 h') returning id::text`, workflow)
	f.exec(`select weir.register_node('pc1')`)
	for _, c := range []struct{ code, advice, sql string }{
		{"WR422", "weir.cancel_job", `delete from flow.jobs`},
		{"WR422", "weir.cancel_job", `update flow.jobs set status = 'error'`},
		{"WR422", "weir.cancel_job", `update flow.jobs set options = '{}'`},
		{"WR422", "weir.set_workflow", `delete from flow.workflows`},
		{"WR422", "weir.put_workflow", `update flow.workflows set steps = '[]'`},
		{"WR422", "weir.claim", `insert into flow.job_tasks (id) values (gen_random_uuid())`},
		{"WR422", "transitions", `insert into flow.task_events (message) values ('x')`},
		{"WR422", "weir.record_artifact", `insert into flow.task_artifacts (key) values ('x')`},
		{"WR422", "weir.set_wake", `update flow.nodes set mac = '00:00:00:00:00:00'`},
		{"WR422", "weir.register_node", `insert into flow.nodes (name) values ('x')`},
		{"WR422", "leave out status", `insert into flow.jobs (workflow_id, status) select id, 'running' from flow.workflows`},
		{"WR422", "weir.submit_job", `insert into flow.jobs (status) values ('queued')`},
		{"WR404", "", `insert into flow.jobs (workflow_id) values (gen_random_uuid())`},
		{"WR422", "", `insert into flow.jobs (workflow_id, priority) select id, 1000 from flow.workflows`},
		{"WR422", "", `insert into flow.jobs (workflow_id, scheduled_at) select id, 'infinity' from flow.workflows`},
		{"WR422", "params", `insert into flow.jobs (workflow_id, options) select id, '[]' from flow.workflows`},
		{"WR422", "", `insert into flow.workflows (name, steps) values ('x', '{}')`},
		{"WR422", "", `insert into flow.workflows (name, steps) values ('x', '[1]')`},
		{"WR422", "", `insert into flow.workflows (name, steps) values ('x', '[]')`},
		{"WR422", "", `insert into flow.workflows (name, steps) values ('x', null)`},
		{"WR422", "", `insert into flow.workflows (name, steps) values ('', '[{"key": "a", "service": "s"}]')`},
		{"WR422", "", `insert into flow.workflows (name, steps) values ('x', '[{"key": "a"}]')`},
		{"WR422", "", `insert into flow.workflows (name, steps) values ('x', '[{"key": "a", "service": "s"}, {"key": "a", "service": "s"}]')`},
		{"WR422", "", `insert into flow.workflows (name, steps) values ('x', '[{"key": "a", "service": "s", "depends_on": ["b"]}]')`},
		{"WR422", "", `insert into flow.workflows (name, steps) values ('x', '[{"key": "a", "service": "s", "depends_on": ["b"]}, {"key": "b", "service": "s", "depends_on": ["a"]}]')`},
		{"WR422", "", `insert into flow.workflows (name, steps) values ('x', '[{"key": "a", "service": "s", "depends_on": "b"}]')`},
	} {
		f.refuses(c.code, c.advice, c.sql)
	}
	if n := flowOne[int](f, `select ((select count(*) from flow.workflows) + (select count(*) from flow.jobs))::int`); n != 2 {
		t.Errorf("%d rows are there, want a workflow and a job", n)
	}
	if got := flowOne[string](f, `select status from flow.jobs where id = $1`, job); got != "queued" {
		t.Errorf("the job is %s", got)
	}
	worker := f.as("weir_worker")
	for _, sql := range []string{`select * from flow.jobs`, `insert into flow.workflows (name) values ('x')`, `select nextval('flow.order_seq')`} {
		if _, err := worker.Exec(context.Background(), sql); sqlstate(err) != "42501" {
			t.Errorf("a worker may: %s (%v)", sql, err)
		}
	}
}

// TestFlowNodes reads nodes and artifacts in the words of the workflow core.
func TestFlowNodes(t *testing.T) {
	t.Parallel()
	f := startFlow(t)
	for i, sql := range []string{
		`select weir.set_wake('n', 'wol', '{"mac": "52:54:00:12:34:56"}')`, `select weir.set_wake('n', 'http', '{"url": "http://10.0.0.1/wake"}')`, `select weir.set_wake('n', 'script', '{"script": "wake.sh"}')`,
	} {
		f.exec(`select weir.register_node('n', '{"zone": "eu"}', '{"renderer": 2}')`)
		f.run(sql)
		got := flowOne[string](f, `select concat_ws(' ', name, labels, awake_state, wake_method, mac, provider_ref, script, max_concurrency) from flow.nodes`)
		want := fmt.Sprintf(`n {"zone": "eu"} awake %s {"renderer": 2}`, []string{"wol 52:54:00:12:34:56", "provider http://10.0.0.1/wake", "script wake.sh"}[i])
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	f.exec(`update weir.nodes set seen_at = seen_at - interval '2 min'`)
	for state, want := range map[string]string{"awake": "unknown", "unknown": "unknown", "asleep": "sleep", "waking": "sleep"} {
		f.exec(`update weir.nodes set wake_state = $1, wake_at = now()`, state)
		if got := flowOne[string](f, `select awake_state from flow.nodes`); got != want {
			t.Errorf("a dead node that was %s shows as %s, want %s", state, got, want)
		}
	}
}

// TestFlowPlans holds the usual questions to the parts of the tables that they
// are about, on a database with many jobs.
func TestFlowPlans(t *testing.T) {
	t.Parallel()
	f := startFlow(t)
	e := f.engine
	e.SkipDoctor("it reads every event of thousands of jobs")
	workflow := f.media()
	for range 20 {
		e.exec(`select weir.submit_job('[{"service": "s", "key": "a"}, {"service": "s", "key": "b", "needs": ["a"]}]', 'x', hint => false) from generate_series(1, 100) i`)
	}
	e.exec(`select weir.finish_many(array_agg(task), array_agg(attempt), array_agg(token)) from weir.claim('w', '{s}', 1900)`)
	e.exec(`select weir.finish_many(array_agg(task), array_agg(attempt), array_agg(token)) from weir.claim('w', '{s}', 1900)`)
	queued := flowOne[string](f, `insert into flow.jobs (workflow_id, scheduled_at) values ($1, now() + interval '1 h') returning id::text`, workflow)
	job := one[string](e, `select job::text from weir.job_live where due is null limit 1`)
	e.exec(`analyze`)
	for _, c := range []struct {
		what, sql string
		args      []any
		want      int
		most      float64 // rows read
	}{
		{"jobs that are queued", `select * from flow.jobs where status = 'queued' and scheduled_at <= now() + interval '2 h'`, nil, 1, 150},
		{"a queued job", `select * from flow.jobs where id = $1`, []any{queued}, 1, 60},
		{"a job", `select * from flow.jobs where id = $1`, []any{job}, 1, 60},
		{"jobs of a workflow", `select id, status from flow.jobs where workflow_id = $1`, []any{workflow}, 1, 600},
		{"a job by its number", `select id from flow.jobs where order_seq = (select order_seq from weir.jobs where id = $1)`, []any{job}, 1, 60},
		{"jobs that went wrong", `select * from flow.jobs where status = 'error'`, nil, 0, 150},
		{"tasks of a job", `select * from flow.job_tasks where job_id = $1`, []any{job}, 2, 100},
		{"tasks of a job that wait", `select * from flow.job_tasks where job_id = $1 and status = 'queued'`, []any{job}, 2, 100},
		{"a task", `select * from flow.job_tasks where id = (select id from weir.tasks where job = $1 and key = 'a')`, []any{job}, 1, 100},
		{"tasks that run", `select * from flow.job_tasks where status = 'running'`, nil, 0, 60},
		{"tasks that failed", `select * from flow.job_tasks where status = 'error'`, nil, 0, 60},
		{"events of a job", `select * from flow.task_events where job_id = $1 order by ts desc`, []any{job}, 3, 60},
		{"artifacts of a job", `select * from flow.task_artifacts where job_id = $1`, []any{job}, 0, 10},
	} {
		rows, err := f.client.Query(context.Background(), c.sql, c.args...)
		if err != nil {
			t.Fatalf("%s: %v", c.what, err)
		}
		n := 0
		for rows.Next() {
			n++
		}
		if rows.Err() != nil || n != c.want {
			t.Errorf("%s: %d rows, want %d (%v)", c.what, n, c.want, rows.Err())
		}
		if read, plan := rowsRead(e, c.sql, c.args...); read > c.most {
			t.Errorf("%s: %v rows are read, want at most %v\n%s", c.what, read, c.most, plan)
		}
	}
}

// rowsRead is how many rows a statement reads from tables.
func rowsRead(e *engine, sql string, args ...any) (read float64, plan string) {
	e.Helper()
	config, err := pgx.ParseConfig(e.URL)
	if err != nil {
		e.Fatal(err)
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	conn, err := pgx.ConnectConfig(context.Background(), config)
	if err != nil {
		e.Fatal(err)
	}
	defer conn.Close(context.Background())
	if err := conn.QueryRow(context.Background(), `explain (analyze, timing off, format json) `+sql, args...).Scan(&plan); err != nil {
		e.Fatalf("%s: %v", sql, err)
	}
	var parsed []struct{ Plan node }
	if err := json.Unmarshal([]byte(plan), &parsed); err != nil {
		e.Fatal(err)
	}
	parsed[0].Plan.walk(func(n node) {
		if n.Table != "" {
			read += (n.Rows + n.Removed) * max(n.Loops, 1)
		}
	})
	return read, plan
}

// TestFlowAtOnce inserts the same job and the same number from many schedulers at
// once: one of them makes it.
func TestFlowAtOnce(t *testing.T) {
	t.Parallel()
	f := startFlow(t)
	workflow := f.media()
	id := one[string](f.engine, `select weir._id(clock_timestamp())::text`)
	number := one[int64](f.engine, `select nextval('weir.order_seq')`)
	same, given := make(chan error, 8), make(chan error, 8)
	for range cap(same) {
		go func() {
			_, err := f.Pool.Exec(context.Background(), `insert into flow.jobs (id, workflow_id) values ($1, $2)`, id, workflow)
			same <- err
		}()
		go func() {
			_, err := f.Pool.Exec(context.Background(), `insert into flow.jobs (workflow_id, order_seq) values ($1, $2)`, workflow, number)
			given <- err
		}()
	}
	made := 0
	for range cap(same) {
		if err := <-same; err != nil {
			t.Errorf("the same id: %v", err)
		}
		switch err := <-given; sqlstate(err) {
		case "":
			made++
		case "WR422":
		default:
			t.Errorf("the same number: %v", err)
		}
	}
	if n := flowOne[int](f, `select count(*)::int from flow.jobs`); made != 1 || n != 2 {
		t.Errorf("%d got the number, %d jobs were made, want 1 and 2", made, n)
	}
}
