package enginetest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// A scheduler of the workflow core makes the ids of its jobs, and they are no UUIDv7. It
// finds the job, its tasks, events and artifacts by that id, and commands it by it.
func TestJobsHaveTheIDsOfTheirClients(t *testing.T) {
	t.Parallel()
	f := startFlow(t)
	workflow := f.media()
	const long = "01000000-0000-7000-8000-000000000001" // a UUIDv7 of 2005
	for _, id := range []string{one[string](f.engine, `select gen_random_uuid()::text`), long} {
		for range 2 {
			if got := flowOne[string](f, `insert into flow.jobs (id, workflow_id) values ($1, $2) returning id::text`, id, workflow); got != id {
				t.Errorf("%s was returned, not %s", got, id)
			}
		}
		job := one[string](f.engine, `select weir._job_of($1)::text`, id)
		if job == id || job[14] != '7' {
			t.Fatalf("the job of %s is %s", id, job)
		}
		f.run(`update flow.jobs set priority = 7 where id = $1`, id)
		f.build(job)
		f.run(`select weir.log_event('info', 'note', job => $1)`, id)
		for _, query := range []string{
			`select concat_ws(' ', count(*), min(priority), min(status)) from flow.jobs where id = $1`,
			`select concat_ws(' ', count(*) / 4, min(priority), min(status)) from flow.job_tasks where job_id = $1`,
			`select concat_ws(' ', 1, 7, 'queued') from flow.task_events where job_id = $1 having count(*) > 2`,
		} {
			if got := flowOne[string](f, query, id); got != "1 7 running" && got != "1 7 queued" {
				t.Errorf("%s: %s", query, got)
			}
			if n := flowOne[int](f, `select count(*)::int from (`+query+`) x where concat_ws(' ', x) not like '(0%' and concat_ws(' ', x) not like '("0%'`, job); n != 0 {
				t.Errorf("%s: it is shown by the id of Weir as well", query)
			}
		}
		if n := flowOne[int](f, `select count(*)::int from weir.why_job($1)`, id); n == 0 {
			t.Error("why tells nothing of it")
		}
		f.run(`select weir.signal($1, 'payment', '1')`, id)
		if got := one[string](f.engine, `select concat_ws(' ', event, payload) from weir.signals where job = $1`, job); got != "payment 1" {
			t.Errorf("signaled, it has %s", got)
		}
		f.work("ingest", `{"frames": 1}`, "")
		f.run(`select weir.cancel_job($1, 'ada')`, id)
		if got := flowOne[string](f, `select concat_ws(' ', status, error_code) from flow.jobs where id = $1`, id); got != "error canceled" {
			t.Errorf("canceled, it is %s", got)
		}
		f.run(`select weir.retry_job($1, 'ada')`, id)
		if got := flowOne[string](f, `select status from flow.jobs where id = $1`, id); got != "running" {
			t.Errorf("retried, it is %s", got)
		}
	}
	if n := flowOne[int](f, `select count(*)::int from flow.jobs`); n != 2 {
		t.Errorf("%d jobs are listed", n)
	}
}

// A look-up by an id reads neither all tasks nor all events.
func TestIDsOfClientsAreLookedUp(t *testing.T) {
	t.Parallel()
	f := startFlow(t)
	f.exec(`insert into weir.given_ids select gen_random_uuid(), gen_random_uuid() from generate_series(1, 2000)`)
	f.exec(`analyze weir.given_ids`)
	for view, column := range map[string]string{"jobs": "id", "job_tasks": "job_id", "task_events": "job_id", "task_artifacts": "job_id"} {
		for _, filter := range []string{"one", "any"} {
			sql := fmt.Sprintf(`explain select * from flow.%s where %s = '5b6c1d0e-95f5-4d7c-9d3e-0d6f3c1f8a11'`, view, column)
			if filter == "any" {
				sql = fmt.Sprintf(`explain select * from flow.%s where %s = any (array['5b6c1d0e-95f5-4d7c-9d3e-0d6f3c1f8a11'::uuid])`, view, column)
			}
			rows, err := f.Pool.Query(context.Background(), sql)
			if err != nil {
				t.Fatal(err)
			}
			plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
			if err != nil {
				t.Fatal(err)
			}
			if text := strings.Join(plan, "\n"); strings.Contains(text, "Seq Scan on given_ids") || !strings.Contains(text, "given_ids_pkey") {
				t.Errorf("%s:\n%s", sql, text)
			}
		}
	}
}

// What clients gave is dropped with the history of their jobs.
func TestIDsOfClientsGoWithTheirJobs(t *testing.T) {
	t.Parallel()
	f := startFlow(t)
	workflow := f.media()
	id := flowOne[string](f, `insert into flow.jobs (id, workflow_id) values (gen_random_uuid(), $1) returning id::text`, workflow)
	f.run(`select weir.cancel_job($1)`, id)
	f.exec(`select weir.drop_partitions('1 day', at => now() + interval '100 days')`)
	f.exec(`select weir.ensure_partitions()`)
	if n := one[int](f.engine, `select count(*)::int from weir.given_ids`); n != 0 {
		t.Errorf("%d are left", n)
	}
}

// A scheduler without a lease adds to the timeline: of a job, of a task, of neither.
func TestEventsWithoutALease(t *testing.T) {
	t.Parallel()
	f := startFlow(t)
	workflow := f.media()
	job := flowOne[string](f, `insert into flow.jobs (workflow_id) values ($1) returning id::text`, workflow)
	f.build(job)
	task := flowOne[string](f, `select id::text from flow.job_tasks where job_id = $1 and task_key = 'ingest'`, job)
	f.run(`insert into flow.task_events (job_id, source, level, type, message, data) values ($1, 'scheduler', 'warn', 'late', 'the tape came late', '{"minutes": 7}')`, job)
	f.run(`insert into flow.task_events (job_task_id, source, type) values ($1, 'service:render', 'warmup')`, task)
	f.run(`insert into flow.task_events (source, type, message) values ('scheduler', 'boot', 'hello')`)
	for query, want := range map[string]string{
		`select concat_ws(' ', source, level, message, data, job_task_id) from flow.task_events where job_id = '` + job + `' and type = 'late'`:     `scheduler warn the tape came late {"minutes": 7}`,
		`select concat_ws(' ', source, level, job_id = '` + job + `') from flow.task_events where job_task_id = '` + task + `' and type = 'warmup'`: `service:render info t`,
		`select concat_ws(' ', source, level, message, job_id) from flow.task_events where type = 'boot'`:                                           `scheduler info hello`,
	} {
		if got := flowOne[string](f, query); got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	other := flowOne[string](f, `insert into flow.jobs (workflow_id) values ($1) returning id::text`, workflow)
	for _, bad := range []struct{ code, advice, sql string }{
		{"WR422", "transitions", `select weir.log_event('info', 'done')`},
		{"WR422", "transitions", `select weir.log_event('info', 'built', job => '` + job + `')`},
		{"WR422", "transitions", `select weir.log_event('info', '')`},
		{"WR422", "", `select weir.log_event('loud', 'x')`},
		{"WR422", "", `select weir.log_event('info', 'x', source => repeat('x', 1000))`},
		{"WR422", "", `select weir.log_event('info', 'x', data => to_jsonb(array(select gen_random_uuid() from generate_series(1, 5000))))`},
		{"WR422", "leave job out", `select weir.log_event('info', 'x', job => '` + other + `', task => '` + task + `')`},
		{"WR404", "", `select weir.log_event('info', 'x', job => gen_random_uuid())`},
		{"WR404", "", `select weir.log_event('info', 'x', task => gen_random_uuid())`},
		{"WR422", "another event", `update flow.task_events set message = 'x' where type = 'boot'`},
		{"WR422", "another event", `delete from flow.task_events where type = 'boot'`},
		{"WR422", "leave it out", `insert into flow.task_events (id, type) values (1, 'x')`},
	} {
		f.refuses(bad.code, bad.advice, bad.sql)
	}
	worker := f.as("weir_worker")
	if _, err := worker.Exec(context.Background(), `select weir.log_event('info', 'x')`); err == nil {
		t.Error("a worker writes events without a lease")
	}
}

// Two calls with the same id open one job, whichever face they come through.
func TestAnIDOfAClientIsOneJob(t *testing.T) {
	t.Parallel()
	f := startFlow(t)
	id := one[string](f.engine, `select gen_random_uuid()::text`)
	open := `select weir.open_job('x', id => $1)::text`
	if first, second := flowOne[string](f, open, id), flowOne[string](f, open, id); first != second || first == id {
		t.Errorf("%s is %s and %s", id, first, second)
	}
	if n := one[int](f.engine, `select count(*)::int from weir.jobs`); n != 1 {
		t.Errorf("there are %d jobs", n)
	}
}
