package weir_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/testdb"
)

// stand puts another weir.finish_many in place of the real one, until the function
// that it returns is called. The body may call aside.finish_many, the real one.
func (w *world) stand(t *testing.T, body string) (heal func()) {
	t.Helper()
	const args = `uuid[], int[], uuid[], jsonb[], boolean, timestamptz`
	w.exec(t, `create schema aside`, `alter function weir.finish_many(`+args+`) set schema aside`,
		`create function weir.finish_many(tasks uuid[], attempts int[], tokens uuid[], results jsonb[] default null, hint boolean default true, at timestamptz default null)
			returns table (task uuid, refusal text, attempt int) language plpgsql security definer set search_path = weir, pg_temp as $f$ begin `+body+` end $f$`)
	return func() {
		w.exec(t, `drop function weir.finish_many(`+args+`)`, `alter function aside.finish_many(`+args+`) set schema weir`, `drop schema aside`)
	}
}

// exec runs statements in one transaction.
func (w *world) exec(t *testing.T, statements ...string) {
	t.Helper()
	if err := pgx.BeginFunc(t.Context(), w.Pool, func(tx pgx.Tx) error {
		for _, sql := range statements {
			if _, err := tx.Exec(t.Context(), sql); err != nil {
				return fmt.Errorf("%s: %w", sql, err)
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// lock holds the leases of a task until the function that it returns is called.
func (w *world) lock(t *testing.T) (unlock func()) {
	t.Helper()
	tx, err := w.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), `select from weir.running for update`); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := tx.Rollback(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	}
}

// raise is a database that answers every finish with one error.
func raise(code string) func(*testing.T, *world) func() {
	return func(t *testing.T, w *world) func() {
		return w.stand(t, fmt.Sprintf(`raise exception 'not now' using errcode = '%s';`, code))
	}
}

// Work that is over is not written down as failed because the database could not
// hear of it: when the cause goes away, the report is taken as it was.
func TestFinishedWorkIsNotBlamed(t *testing.T) {
	for _, c := range []struct {
		name, settings string
		breaks         func(*testing.T, *world) (heal func())
	}{
		{"42883 an argument of a newer schema", "", func(t *testing.T, w *world) func() {
			const was, is = `uuid[], int[], uuid[], jsonb[], boolean, timestamptz`, `hint boolean`
			var text string
			if err := w.Pool.QueryRow(t.Context(), `select pg_get_functiondef('weir.finish_many'::regproc)`).Scan(&text); err != nil {
				t.Fatal(err)
			}
			newer := strings.Replace(text, is, `hinted boolean`, 1)
			if newer == text {
				t.Fatal("the argument has another name")
			}
			w.exec(t, `drop function weir.finish_many(`+was+`)`, newer)
			return func() {
				w.exec(t, `drop function weir.finish_many(`+was+`)`, text,
					`revoke execute on function weir.finish_many from public`, `grant execute on function weir.finish_many to weir_worker`)
			}
		}},
		{"42501 a missing grant", "&role=weir_worker", func(t *testing.T, w *world) func() {
			w.exec(t, `revoke execute on function weir.finish_many from weir_worker`)
			return func() { w.exec(t, `grant execute on function weir.finish_many to weir_worker`) }
		}},
		{"25006 a primary that is read-only", "", func(t *testing.T, w *world) func() {
			return w.stand(t, `set local transaction_read_only = on; return query select * from aside.finish_many(tasks, attempts, tokens, results, hint, at);`)
		}},
		{"53100 a full disk", "", raise("53100")},
		{"57P01 an administrator ends the session", "", func(t *testing.T, w *world) func() {
			return w.stand(t, `perform pg_terminate_backend(pg_backend_pid()); perform pg_sleep(60);`)
		}},
		{"40P01 a deadlock", "", raise("40P01")},
		{"55P03 a lock that is not free in time", "&lock_timeout=50ms", func(t *testing.T, w *world) func() { return w.lock(t) }},
		{"57014 a statement that takes too long", "&statement_timeout=50ms", func(t *testing.T, w *world) func() {
			return w.stand(t, `perform pg_sleep(60);`)
		}},
		{"26000 a prepared statement that is gone", "", raise("26000")},
		{"42P05 a prepared statement of somebody else", "", raise("42P05")},
		{"P0001 an error that no table knows", "", raise("P0001")},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.settings != "" {
				testdb.Direct(t, "it refuses settings in the URL")
			}
			w := newWorld(t)
			worker := weir.NewWorker(w.open(t, w.URL+c.settings), weir.WorkerConfig{})
			begun, release := make(chan struct{}), make(chan struct{})
			var runs atomic.Int64
			handle(worker, "a", func(context.Context, *weir.Run[struct{}]) (any, error) {
				runs.Add(1)
				close(begun)
				<-release
				return "finished", nil
			})
			w.run(t, worker)
			id := w.submit(t, weir.Task{Service: "a"})
			receive(t, "the handler begins", begun)
			heal := c.breaks(t, w)
			close(release)
			until(t, "the report met the error", func() bool { return strings.Contains(strings.Join(w.log.all(), "\n"), "could not be told") })
			if n := w.count(t, `select count(*) from weir.finished`); n != 0 {
				t.Errorf("the task ended: %+v", w.task(t, id))
			}
			heal()
			if got := w.wait(t, id); got.State != weir.Done || got.Attempt != 1 || string(got.Result) != `"finished"` || runs.Load() != 1 {
				t.Errorf("got %+v after %d runs: %s", got, runs.Load(), w.types(t, id))
			}
			if got := w.types(t, id); got != "submitted claimed done" {
				t.Errorf("its life: %s", got)
			}
		})
	}
}

// While an end cannot be told, the lease is renewed.
func TestLeaseOfUntoldWorkIsRenewed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	worker := weir.NewWorker(w.client, weir.WorkerConfig{Lease: 3 * time.Second})
	var heal func()
	handle(worker, "a", func(context.Context, *weir.Run[struct{}]) (any, error) {
		heal = raise("42883")(t, w)
		return nil, nil
	})
	w.run(t, worker)
	id := w.submit(t, weir.Task{Service: "a"})
	until(t, "the lease outlives its first length", func() bool {
		return w.count(t, `select count(*) from weir.running where task = $1 and clock_timestamp() > claimed_at + interval '3 s' and until > clock_timestamp()`, id) == 1
	})
	heal()
	if got := w.wait(t, id); got.State != weir.Done || got.Attempt != 1 {
		t.Errorf("got %+v: %s", got, w.types(t, id))
	}
}

// It is not renewed for ever: the task goes to somebody who can tell, and nothing
// of it was written down as failed.
func TestWorkThatCannotBeReportedRunsAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	worker := weir.NewWorker(w.client, weir.WorkerConfig{Lease: time.Second})
	var heal func()
	handle(worker, "a", func(context.Context, *weir.Run[struct{}]) (any, error) {
		if heal == nil { // attempts come one after another
			heal = raise("42883")(t, w)
			return "first", nil
		}
		heal()
		return "second", nil
	})
	w.run(t, worker)
	id := w.submit(t, weir.Task{Service: "a", MaxAttempts: 1})
	if got := w.wait(t, id); got.State != weir.Done || string(got.Result) != `"second"` {
		t.Errorf("got %+v: %s", got, w.types(t, id))
	}
	if got := w.types(t, id); strings.Contains(got, "fail") {
		t.Errorf("its life: %s", got)
	}
}

// One row that cannot be ended keeps none of its batch.
func TestOneRowKeepsNoOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	worker := weir.NewWorker(w.client, weir.WorkerConfig{})
	const n = 20
	var begun atomic.Int64
	release := make(chan struct{})
	weir.Handle(worker, "a", func(_ context.Context, run *weir.Run[int]) (any, error) {
		begun.Add(1)
		<-release
		return run.Args, nil
	})
	w.run(t, worker)
	tasks := make([]weir.Task, n)
	for i := range tasks {
		tasks[i] = weir.Task{Service: "a", Params: i}
	}
	receipts, err := w.client.SubmitMany(t.Context(), tasks)
	if err != nil {
		t.Fatal(err)
	}
	until(t, "all run", func() bool { return begun.Load() == n })
	heal := w.stand(t, `if '7' = any (results) then raise exception 'not this one' using errcode = 'XX000'; end if;
		return query select * from aside.finish_many(tasks, attempts, tokens, results, hint, at);`)
	close(release)
	until(t, "the others are done", func() bool { return worker.Stats().Done == n-1 })
	if got := w.task(t, receipts[7].ID); got.State != weir.Running {
		t.Errorf("the odd one is %s", got.State)
	}
	heal()
	if got := w.wait(t, receipts[7].ID); got.State != weir.Done || got.Attempt != 1 {
		t.Errorf("got %+v", got)
	}
}

// A time that no database can hold is the handler's fault, and says so.
func TestTimesThatPostgresRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	worker := weir.NewWorker(w.client, weir.WorkerConfig{})
	far := time.Duration(1<<63 - 1)
	handle(worker, "ok", func(_ context.Context, run *weir.Run[struct{}]) (any, error) {
		if run.Attempt == 1 {
			return nil, weir.Snooze(far) // 292 years: PostgreSQL can hold that
		}
		return nil, nil
	})
	w.run(t, worker)
	id := w.submit(t, weir.Task{Service: "ok"})
	until(t, "it sleeps", func() bool { return worker.Stats().Returned == 1 })
	if got := w.task(t, id); got.State != weir.Pending {
		t.Errorf("got %+v", got)
	}
}
