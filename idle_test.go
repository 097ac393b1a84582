package weir_test

import (
	"testing"
	"time"

	"github.com/weirhq/weir"
)

// A task submitted by another process reaches an idle worker by its hint, long
// before the worker would poll.
func TestHintWakesAnIdleWorker(t *testing.T) {
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

// The workers of a client share one LISTEN connection.
func TestOneListenConnectionPerClient(t *testing.T) {
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
