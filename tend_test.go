package weir_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir"
)

// The client that tends the engine dies with a task in hand. Another one takes
// the duty over when its term is over, which is not long when leases are short.
func TestR12AnotherClientTendsWhenTheTenderDies(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	wire := newWire(t, w.URL)
	config := weir.WorkerConfig{Lease: 2 * time.Second}
	begun, again := make(chan struct{}, 1), make(chan time.Time, 1)
	dead := weir.NewWorker(w.open(t, wire.url), config)
	handle(dead, "a", func(ctx context.Context, _ *weir.Run[struct{}]) (any, error) {
		begun <- struct{}{}
		<-ctx.Done()
		return nil, ctx.Err()
	})
	w.run(t, dead)
	id := w.submit(t, weir.Task{Service: "a", MaxAttempts: 1})
	receive(t, "the handler begins", begun)
	const holder = `select coalesce((select holder_id from weir.system_locks where lock_name = 'library' and expires_at > clock_timestamp()), '')`
	tends := func() (name string) {
		if err := w.Pool.QueryRow(t.Context(), holder).Scan(&name); err != nil {
			t.Fatal(err)
		}
		return name
	}
	until(t, "the first client tends", func() bool { return tends() != "" })
	first := tends()

	heir := weir.NewWorker(w.open(t, w.URL), config)
	handle(heir, "a", func(context.Context, *weir.Run[struct{}]) (any, error) {
		again <- time.Now()
		return "again", nil
	})
	w.run(t, heir)
	until(t, "the second worker is there", func() bool { return w.count(t, `select count(*) from weir.workers`) == 2 })
	if tends() != first {
		t.Log("the second client tends already: this machine is slow")
	}
	wire.cut(t) // no goodbye: to the database it is dead
	died := time.Now()
	ran := receive(t, "the task runs again", again)
	t.Logf("measured: the task of the dead client ran again after %s, with leases of %s", ran.Sub(died).Round(time.Millisecond), config.Lease)
	// On a busy machine the first worker may have given a claim back before the one it died with.
	if got := w.wait(t, id); got.State != weir.Done || !strings.HasSuffix(w.types(t, id), "claimed expired claimed done") {
		t.Errorf("got %+v: %s", got, w.types(t, id))
	}
	if tends() == first {
		t.Error("the dead client still tends")
	}
}

// A database whose transactions are REPEATABLE READ unless somebody says
// otherwise: what a finish frees is opened all the same, by whoever tends.
func TestGatesOpenWhereTheDefaultIsRepeatableRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if _, err := w.Pool.Exec(t.Context(), `do $$ begin execute format('alter database %I set default_transaction_isolation = ''repeatable read''', current_database()); end $$`); err != nil {
		t.Fatal(err)
	}
	client := w.open(t, w.URL)
	if err := client.SetPool(t.Context(), weir.Pool{Name: "p", Size: weir.Size(1)}); err != nil {
		t.Fatal(err)
	}
	worker := weir.NewWorker(client, weir.WorkerConfig{})
	handle(worker, "a", nothing)
	w.run(t, worker)
	for range 3 {
		if _, err := client.Submit(t.Context(), weir.Task{Service: "a", Pool: "p"}); err != nil {
			t.Fatal(err)
		}
	}
	until(t, "all are done", func() bool { return w.count(t, `select count(*) from weir.finished where outcome = 'done'`) == 3 })
	if _, err := w.Pool.Exec(t.Context(), `do $$ begin execute format('alter database %I reset default_transaction_isolation', current_database()); end $$`); err != nil {
		t.Fatal(err)
	}
}
