package weir_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/testdb"
)

// A task submitted by another process reaches an idle worker by its hint, long
// before the worker would poll.
func TestHintWakesAnIdleWorker(t *testing.T) {
	t.Parallel()
	testdb.Direct(t, "transaction mode carries no notifications")
	w := newWorld(t)
	worker := weir.NewWorker(w.open(t, w.URL), weir.WorkerConfig{PollFloor: time.Hour})
	handle(worker, "a", nothing)
	w.run(t, worker)
	for range 5 {
		w.wait(t, w.submit(t, weir.Task{Service: "a"}))
	}
	// A chain goes on by the ends of its own tasks.
	job, err := w.client.SubmitJob(t.Context(), weir.Job{Name: "chain", Tasks: []weir.Task{
		{Key: "1", Service: "a"}, {Key: "2", Service: "a", Needs: []string{"1"}}, {Key: "3", Service: "a", Needs: []string{"2"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	w.waitJob(t, job)
}

// Work that somebody's transaction lets through reaches an idle worker when the
// transaction commits, however close together the transactions are and however late
// they commit: the hint comes with the commit and not before.
func TestHintComesWithTheCommit(t *testing.T) {
	t.Parallel()
	testdb.Direct(t, "transaction mode carries no notifications")
	w := newWorld(t)
	worker := weir.NewWorker(w.open(t, w.URL), weir.WorkerConfig{PollFloor: time.Hour})
	handle(worker, "a", nothing)
	w.run(t, worker)
	w.wait(t, w.submit(t, weir.Task{Service: "a"}))
	held := w.submit(t, weir.Task{Service: "a", Hold: "ann"})
	canceled := w.submit(t, weir.Task{Service: "a", Hold: "ann"})
	if _, err := w.client.Cancel(t.Context(), canceled, weir.Decision{}); err != nil {
		t.Fatal(err)
	}
	w.exec(t, `select weir.set_pool('p', 1)`)
	task := weir.Task{Service: "a"}
	ways := []struct {
		name string
		do   func(tx pgx.Tx) error
	}{
		{"SubmitTx", func(tx pgx.Tx) error { _, err := w.client.SubmitTx(t.Context(), tx, task); return err }},
		{"SubmitTx again", func(tx pgx.Tx) error { _, err := w.client.SubmitTx(t.Context(), tx, task); return err }},
		{"SubmitTx into a pool", func(tx pgx.Tx) error {
			_, err := w.client.SubmitTx(t.Context(), tx, weir.Task{Service: "a", Pool: "p"})
			return err
		}},
		{"SubmitJobTx", func(tx pgx.Tx) error {
			_, err := w.client.SubmitJobTx(t.Context(), tx, weir.Job{Name: "j", Tasks: []weir.Task{task}})
			return err
		}},
		{"SQL", func(tx pgx.Tx) error { _, err := tx.Exec(t.Context(), `select weir.submit('a')`); return err }},
		{"SQL, a job", func(tx pgx.Tx) error {
			_, err := tx.Exec(t.Context(), `select weir.submit_job('[{"service": "a"}]', 'j')`)
			return err
		}},
		{"SQL, a release", func(tx pgx.Tx) error { _, err := tx.Exec(t.Context(), `select weir.release($1)`, held); return err }},
		{"SQL, a retry", func(tx pgx.Tx) error {
			_, err := tx.Exec(t.Context(), `select weir.retry($1), weir.release($1)`, canceled)
			return err
		}},
	}
	open := make([]pgx.Tx, len(ways))
	for i := range ways {
		conn, err := pgx.Connect(t.Context(), w.URL)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close(context.Background()) }) // its transaction is over
		// A connection plans a function when it first calls it, which takes longer than
		// hints are merged for.
		if _, err := conn.Exec(t.Context(), `begin; select weir.submit_many('[{"service": "a"}]', false); rollback`); err != nil {
			t.Fatal(err)
		}
		if open[i], err = conn.Begin(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	// One right after the other, for that is when hints are merged.
	for i, way := range ways {
		if err := way.do(open[i]); err != nil {
			t.Fatalf("%s: %v", way.name, err)
		}
	}
	done := worker.Stats().Done
	for i, way := range ways {
		// Whatever was said before the commit is forgotten by now.
		until(t, "the worker rests", func() bool {
			return w.count(t, `select count(*) from pg_stat_activity where datname = current_database() and query like '%weir.claim(%' and pid <> pg_backend_pid()
				and query_start > clock_timestamp() - interval '300 ms'`) == 0
		})
		if err := open[i].Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		until(t, way.name, func() bool { return worker.Stats().Done == done+int64(i)+1 })
	}
}

// A hint is what wakes an idle worker, and nothing more than that: the worker that polls once
// an hour takes a task of which it hears and leaves lying one of which it does not, and the
// worker that hears nothing finds its task by polling.
func TestR13AHintIsAHint(t *testing.T) {
	t.Parallel()
	testdb.Direct(t, "transaction mode carries no notifications")
	w := newWorld(t)
	hearing := func(service string) *weir.Worker {
		worker := weir.NewWorker(w.open(t, w.URL), weir.WorkerConfig{PollFloor: time.Hour})
		handle(worker, service, nothing)
		w.run(t, worker)
		return worker
	}
	hearing("loud")
	quiet := hearing("quiet")
	untold := func(service string) {
		if _, err := w.Pool.Exec(t.Context(), `select weir.submit($1, hint => false)`, service); err != nil {
			t.Fatal(err)
		}
	}
	const lies = `select count(*) from weir.task where service = 'quiet' and state = 'available'`
	// It still looks once or twice by itself before it rests.
	until(t, "a task of which nobody is told lies there", func() bool {
		untold("quiet")
		for range 5 {
			w.wait(t, w.submit(t, weir.Task{Service: "loud"}))
		}
		return w.count(t, lies) > 0
	})
	// All of these come by their hints, and the other one still lies there.
	for range 20 {
		w.wait(t, w.submit(t, weir.Task{Service: "loud"}))
	}
	if w.count(t, lies) == 0 {
		t.Error("a worker that polls once an hour found a task without a hint: a hint cannot be told from none")
	}
	before := quiet.Stats().Done
	w.submit(t, weir.Task{Service: "quiet"})
	until(t, "its hint wakes the worker", func() bool { return quiet.Stats().Done > before && w.count(t, lies) == 0 })

	deaf, err := weir.New(w.Pool, &weir.Config{Logger: discard(), ListenURL: "postgres://127.0.0.1:1/nowhere"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(deaf.Close)
	worker := weir.NewWorker(deaf, weir.WorkerConfig{PollFloor: time.Hour})
	handle(worker, "deaf", nothing)
	w.run(t, worker)
	for i := range 2 {
		untold("deaf")
		until(t, "polling finds the task", func() bool { return worker.Stats().Done == int64(i+1) })
	}
}

// The workers of a client share one LISTEN connection.
func TestOneListenConnectionPerClient(t *testing.T) {
	t.Parallel()
	testdb.Direct(t, "transaction mode carries no notifications")
	w := newWorld(t)
	client := w.open(t, w.URL)
	for range 10 {
		worker := weir.NewWorker(client, weir.WorkerConfig{})
		handle(worker, "a", nothing)
		w.run(t, worker)
	}
	until(t, "all are there", func() bool { return w.count(t, `select count(*) from weir.workers`) == 10 })
	const listening = `select count(*) from pg_stat_activity where datname = current_database() and application_name = 'weir listen'`
	until(t, "they listen", func() bool { return w.count(t, listening) > 0 })
	if n := w.count(t, listening); n != 1 {
		t.Errorf("%d LISTEN connections", n)
	}
}
