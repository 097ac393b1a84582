package weir_test

import (
	"context"
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

// A hundred workers that wait cost next to nothing.
func TestIdleWorkersAreCheap(t *testing.T) {
	w := newWorld(t)
	client := w.open(t, w.URL)
	const n = 100
	for range n {
		worker := weir.NewWorker(client, weir.WorkerConfig{PollFloor: 30 * time.Second})
		handle(worker, "a", nothing)
		w.run(t, worker)
	}
	until(t, "all are there", func() bool { return w.count(t, `select count(*) from weir.workers`) == n })
	listeners := w.count(t, `select count(*) from pg_stat_activity where datname = current_database() and application_name = 'weir listen'`)
	if listeners != 1 {
		t.Errorf("%d LISTEN connections", listeners)
	}
	// Each poll of a worker with nothing to do doubles the wait to the next, so
	// after this long they have made at most nine each.
	begin := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	<-ctx.Done()
	before := w.commits(t)
	ctx, cancel = context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	<-ctx.Done()
	rate := float64(w.commits(t)-before) / 3
	t.Logf("%.1f transactions a second, heartbeats included, %s after the start", rate, time.Since(begin).Round(time.Second))
	if rate > 100 {
		t.Errorf("%d idle workers cost %.1f transactions a second", n, rate)
	}
}

func (w *world) commits(t testing.TB) int {
	t.Helper()
	return w.count(t, `select xact_commit from pg_stat_database where datname = current_database()`)
}
