package weir_test

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/testdb"
	"github.com/weirhq/weir/internal/testwait"
)

// All that this package promises holds through PgBouncer in transaction mode, with
// nothing but the URL: its tests run once more, in a process whose databases are
// behind one. Those that are left out say why.
func TestThroughPgBouncer(t *testing.T) {
	t.Parallel()
	if testdb.Pooled() {
		t.Skip("this is that process")
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.v", "-test.parallel=4", "-test.timeout=10m") // #nosec G204 -- ourselves
	cmd.Env = append(os.Environ(), testdb.PoolerVariable+"=1")
	cmd.WaitDelay = 10 * time.Second // for what it has left behind
	out, err := cmd.CombinedOutput()
	passed, skipped := strings.Count(string(out), "\n--- PASS: "), strings.Count(string(out), "\n--- SKIP: ")
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if passed < 4*skipped || passed == 0 {
		t.Errorf("%d tests passed and %d were left out:\n%s", passed, skipped, out)
	}
}

// Many clients share a few connections of the server, so that no two statements of
// one client are sure to meet the same: each task is done once, at its first attempt.
func TestManyTasksThroughAPooler(t *testing.T) {
	t.Parallel()
	db := testdb.New(t)
	w := &world{DB: db, log: &journal{}}
	through := testdb.Bounce(t, db.URL, "pool_mode = transaction", "default_pool_size = 3", "max_client_conn = 200")
	w.client = w.open(t, through)
	for range 2 {
		worker := weir.NewWorker(w.open(t, through), weir.WorkerConfig{Concurrency: 20})
		weir.Handle(worker, "a", func(_ context.Context, run *weir.Run[int]) (any, error) { return run.Args, nil })
		w.run(t, worker)
	}
	tasks := make([]weir.Task, 400)
	for i := range tasks {
		tasks[i] = weir.Task{Service: "a", Params: i}
	}
	receipts, err := w.client.SubmitMany(t.Context(), tasks)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			w.explain(t, receipts[len(receipts)-1].ID)
		}
	})
	testwait.Until(t, "all are done", func() bool { return w.count(t, `select count(*) from weir.finished`) == len(tasks) })
	if n := w.count(t, `select count(*) from weir.finished where outcome = 'done' and attempt = 1`); n < len(tasks) {
		t.Errorf("%d of %d were done at their first attempt", n, len(tasks))
	}
	if log := strings.Join(w.log.all(), "\n"); strings.Contains(log, "prepared statement") {
		t.Error(log)
	}
}

// A pool of the caller's that prepares statements through a pooler gets errors, and
// no finished work is lost to them.
func TestPreparedStatementsInAPooler(t *testing.T) {
	t.Parallel()
	db := testdb.New(t)
	w := &world{DB: db, log: &journal{}}
	// Each transaction gets another backend than the one before.
	through := testdb.Bounce(t, db.URL, "pool_mode = transaction", "default_pool_size = 2", "min_pool_size = 2", "server_round_robin = 1", "max_client_conn = 200")
	w.client = w.open(t, db.URL)
	worker := weir.NewWorker(w.open(t, through+"&pooler=none"), weir.WorkerConfig{Concurrency: 20})
	weir.Handle(worker, "a", func(_ context.Context, run *weir.Run[int]) (any, error) { return run.Args, nil })
	w.run(t, worker)
	// How many get through is chance; the others go on when their leases run out.
	testwait.Every(t, 50*time.Millisecond, "statements are lost", func() bool {
		w.submit(t, weir.Task{Service: "a", Params: 1})
		return strings.Contains(strings.Join(w.log.all(), "\n"), "prepared statement")
	})
	if n := w.count(t, `select count(*) from weir.finished where outcome <> 'done'`); n > 0 {
		t.Errorf("%d tasks ended otherwise", n)
	}
}
