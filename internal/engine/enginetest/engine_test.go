package enginetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir/internal/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// epoch is when tests begin. It lies ahead of the real clock, so that nothing
// of a test looks overdue to the health rows of the doctor.
var epoch = time.Now().UTC().Truncate(time.Hour).Add(2 * time.Hour)

// at is the test's clock: seconds after epoch.
func at(seconds float64) time.Time {
	return epoch.Add(time.Duration(seconds * float64(time.Second)))
}

// engine is the database of one test and the calls that tests make.
type engine struct {
	testing.TB
	*testdb.DB
}

func start(t testing.TB) *engine {
	t.Helper()
	e := &engine{TB: t, DB: testdb.New(t)}
	return e
}

// querier is a pool, a connection or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// ask runs a query and returns its rows, scanned by position or as scalars.
func ask[T any](q querier, sql string, args ...any) ([]T, error) {
	rows, err := q.Query(context.Background(), sql, args...)
	if err != nil {
		return nil, err
	}
	var zero T
	switch any(zero).(type) {
	case string, int, int64, bool, float64, time.Time, *string, *time.Time, []string, map[string]any, map[string]int:
		return pgx.CollectRows(rows, pgx.RowTo[T])
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[T])
}

// all returns the rows of a query that must work.
func all[T any](e *engine, sql string, args ...any) []T {
	e.Helper()
	found, err := ask[T](e.Pool, sql, args...)
	if err != nil {
		e.Fatalf("%s: %v", sql, err)
	}
	return found
}

// one returns the single row of a query that must work.
func one[T any](e *engine, sql string, args ...any) T {
	e.Helper()
	found := all[T](e, sql, args...)
	if len(found) != 1 {
		e.Fatalf("%s: %d rows, want 1", sql, len(found))
	}
	return found[0]
}

// exec runs a statement that must work.
func (e *engine) exec(sql string, args ...any) {
	e.Helper()
	if _, err := e.Pool.Exec(context.Background(), sql, args...); err != nil {
		e.Fatalf("%s: %v", sql, err)
	}
}

// sqlstate is the code of an error of the server: empty without an error.
func sqlstate(err error) string {
	pgErr := new(pgconn.PgError)
	switch {
	case err == nil:
		return ""
	case errors.As(err, &pgErr):
		return pgErr.Code
	default:
		return err.Error()
	}
}

// refused runs a statement that must fail with the code, and returns the error.
func (e *engine) refused(code, sql string, args ...any) *pgconn.PgError {
	e.Helper()
	_, err := e.Pool.Exec(context.Background(), sql, args...)
	if got := sqlstate(err); got != code {
		e.Errorf("%s %v: SQLSTATE %q, want %q (%v)", sql, args, got, code, err)
	}
	pgErr := new(pgconn.PgError)
	errors.As(err, &pgErr)
	return pgErr
}

// spec is a task as submit takes it: fields of weir.task_spec.
type spec map[string]any

func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // specs are literals of tests
	}
	return string(b)
}

// submit submits one task and returns its id.
func (e *engine) submit(sec float64, s spec) string {
	e.Helper()
	return one[string](e, `select task from weir.submit_many(jsonb_build_array($1::jsonb), true, $2)`, encode(s), at(sec))
}

// submitJob submits a job and returns its id and its tasks by key.
func (e *engine) submitJob(sec float64, tasks ...spec) (string, map[string]string) {
	e.Helper()
	job := one[string](e, `select weir.submit_job($1::jsonb, 'job', at => $2)`, encode(tasks), at(sec))
	ids := map[string]string{}
	for _, row := range all[struct{ Key, ID string }](e, `select coalesce(key, position::text), id from weir.task where job = $1`, job) {
		ids[row.Key] = row.ID
	}
	return job, ids
}

// lease is what a worker holds.
type lease struct {
	Task    string
	Attempt int
	Token   string
}

// claim leases up to n tasks of a service, in order.
func (e *engine) claim(sec float64, worker, service string, n int) []lease {
	e.Helper()
	return all[lease](e, `select task, attempt, token from weir.claim($1, array[$2], $3, at => $4)`, worker, service, n, at(sec))
}

// claimOne leases the next task of a service, which must be there.
func (e *engine) claimOne(sec float64, worker, service string) lease {
	e.Helper()
	got := e.claim(sec, worker, service, 1)
	if len(got) != 1 {
		e.Fatalf("claim of %s at %v: nothing is available", service, sec)
	}
	return got[0]
}

// run claims the given task, which must be the next one of its service.
func (e *engine) run(sec float64, task string) lease {
	e.Helper()
	l := e.claimOne(sec, "w", one[string](e, `select service from weir.task where id = $1`, task))
	if l.Task != task {
		e.Fatalf("claim at %v gave %s, want %s", sec, l.Task, task)
	}
	return l
}

func (e *engine) finish(sec float64, l lease) string {
	e.Helper()
	return one[string](e, `select weir.finish($1, $2, $3, at => $4)`, l.Task, l.Attempt, l.Token, at(sec))
}

// fail ends an attempt for good.
func (e *engine) fail(sec float64, l lease, message string) string {
	e.Helper()
	return one[string](e, `select weir.fail($1, $2, $3, $4, true, at => $5)`, l.Task, l.Attempt, l.Token, message, at(sec))
}

// failRetry ends an attempt that may be tried again at a time.
func (e *engine) failRetry(sec float64, l lease, retry float64) string {
	e.Helper()
	return one[string](e, `select weir.fail($1, $2, $3, 'again', false, $4, at => $5)`, l.Task, l.Attempt, l.Token, at(retry), at(sec))
}

// giveBack hands a lease back; until, if given, is when it may go on.
func (e *engine) giveBack(sec float64, l lease, until ...float64) string {
	e.Helper()
	var wake *time.Time
	if len(until) > 0 {
		w := at(until[0])
		wake = &w
	}
	return one[string](e, `select coalesce((select refusal from weir.give_back_many(array[$1::uuid], array[$2::int], array[$3::uuid], $4, at => $5)), 'ok')`,
		l.Task, l.Attempt, l.Token, wake, at(sec))
}

// tend is one pass of what time alone brings about, with a sweep of every key.
func (e *engine) tend(sec float64) {
	e.Helper()
	e.exec(`select weir.tend(true, $1)`, at(sec))
}

func (e *engine) state(task string) string {
	e.Helper()
	return one[string](e, `select state::text from weir.task where id = $1`, task)
}

// want checks the state of tasks: want(map of id to state).
func (e *engine) want(states map[string]string) {
	e.Helper()
	for id, want := range states {
		if got := e.state(id); got != want {
			e.Errorf("task %s is %s, want %s", id, got, want)
		}
	}
}

// counts is how many rows each table of the engine has: equal counts before and
// after mean that a refusal wrote nothing.
func (e *engine) counts() map[string]int {
	e.Helper()
	return one[map[string]int](e, `select jsonb_build_object(
		'tasks', (select count(*) from weir.tasks), 'pending', (select count(*) from weir.pending), 'available', (select count(*) from weir.available),
		'running', (select count(*) from weir.running), 'finished', (select count(*) from weir.finished), 'forgiven', (select count(*) from weir.forgiven),
		'events', (select count(*) from weir.events), 'edges', (select count(*) from weir.edges), 'lane_blocks', (select count(*) from weir.lane_blocks),
		'pools', (select count(*) from weir.pools), 'idempotency', (select count(*) from weir.idempotency), 'unique_keys', (select count(*) from weir.unique_keys),
		'jobs', (select count(*) from weir.jobs), 'job_live', (select count(*) from weir.job_live), 'job_finished', (select count(*) from weir.job_finished),
		'nodes', (select count(*) from weir.nodes), 'workers', (select count(*) from weir.workers), 'classes', (select count(*) from weir.classes),
		'schedules', (select count(*) from weir.schedules), 'system_locks', (select count(*) from weir.system_locks))`)
}

// same fails the test for every table whose count moved.
func (e *engine) same(what string, before map[string]int) {
	e.Helper()
	for table, n := range e.counts() {
		if n != before[table] {
			e.Errorf("%s: weir.%s had %d rows, now %d", what, table, before[table], n)
		}
	}
}

// connect opens a connection of its own, for tests that interleave.
func (e *engine) connect() *pgx.Conn {
	e.Helper()
	conn, err := pgx.Connect(context.Background(), e.URL)
	if err != nil {
		e.Fatal(err)
	}
	e.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

// widePool is a pool with room for many goroutines.
func (e *engine) widePool(n int32) *pgxpool.Pool {
	e.Helper()
	config, err := pgxpool.ParseConfig(e.URL)
	if err != nil {
		e.Fatal(err)
	}
	config.MaxConns = n
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		e.Fatal(err)
	}
	e.Cleanup(pool.Close)
	return pool
}

func (l lease) String() string { return fmt.Sprintf("%s#%d", l.Task, l.Attempt) }
