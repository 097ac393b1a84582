package weir_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/weirhq/weir"
)

// most is a query for the largest number of tasks of a group that the timeline
// shows running at one instant.
const most = `
	with step as (
		select e.seq, q.%[1]s as name, case e.type when 'claimed' then 1 else -1 end as n
		from weir.event e join weir.tasks q on q.id = e.task
		where e.type in ('claimed', 'done', 'failed', 'retrying', 'returned', 'expired', 'snoozed') and q.%[1]s is not null
	)
	select coalesce(max(running), 0) from (
		select sum(n) over (partition by name order by seq) as running from step
	) x`

// fleet starts workers, each with a client of its own, as processes would have.
func (w *world) fleet(t *testing.T, n int, config weir.WorkerConfig, service string, f func(context.Context, *weir.Run[struct{}]) (any, error)) []*weir.Worker {
	workers := make([]*weir.Worker, n)
	for i := range workers {
		workers[i] = weir.NewWorker(w.open(t, w.URL), config)
		handle(workers[i], service, f)
		w.run(t, workers[i])
	}
	return workers
}

func done(workers []*weir.Worker) (n int64) {
	for _, w := range workers {
		n += w.Stats().Done
	}
	return n
}

func TestLimitsHoldWithManyWorkers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	if err := w.client.SetPool(ctx, weir.Pool{Name: "db", Size: weir.Size(3)}); err != nil {
		t.Fatal(err)
	}
	const n = 200
	tasks := make([]weir.Task, n)
	for i := range tasks {
		switch i % 3 {
		case 0:
			tasks[i] = weir.Task{Service: "a", Pool: "db"}
		case 1:
			tasks[i] = weir.Task{Service: "a", Lane: fmt.Sprintf("lane %d", i%4), Exclusive: true}
		case 2:
			tasks[i] = weir.Task{Service: "a", Lane: fmt.Sprintf("both %d", i%2), Exclusive: true, Pool: "db"}
		}
	}
	workers := w.fleet(t, 8, weir.WorkerConfig{Concurrency: 10}, "a", nothing)
	if _, err := w.client.SubmitMany(ctx, tasks); err != nil {
		t.Fatal(err)
	}
	until(t, "all are done", func() bool { return done(workers) == n })
	if got := w.count(t, fmt.Sprintf(most, "pool")); got > 3 || got < 1 {
		t.Errorf("%d tasks of the pool ran at once, its size is 3", got)
	}
	if got := w.count(t, fmt.Sprintf(most, "lane")); got != 1 {
		t.Errorf("%d exclusive tasks of one lane ran at once", got)
	}
}

func TestRankedLaneGoesInOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var tasks []weir.Task
	for i := range 20 {
		tasks = append(tasks, weir.Task{Service: "a", Lane: "db", Rank: weir.Rank(int64(20 - i))})
	}
	workers := w.fleet(t, 3, weir.WorkerConfig{}, "a", nothing)
	if _, err := w.client.SubmitMany(t.Context(), tasks); err != nil {
		t.Fatal(err)
	}
	until(t, "all are done", func() bool { return done(workers) == 20 })
	wrong := w.count(t, `select count(*) from weir.event c join weir.tasks q on q.id = c.task join weir.tasks o on o.lane = q.lane and o.rank < q.rank
		join weir.event d on d.task = o.id and d.type = 'done' where c.type = 'claimed' and c.seq < d.seq`)
	if wrong != 0 {
		t.Errorf("%d tasks overtook a lower rank", wrong)
	}
}

func TestNodeCapacityHolds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const capacity, n = 3, 120
	var now, over atomic.Int64
	workers := w.fleet(t, 8, weir.WorkerConfig{Node: "pc1", NodeLabels: map[string]string{"gpu": "yes"}, NodeCapacity: map[string]int{"a": capacity}}, "a",
		func(context.Context, *weir.Run[struct{}]) (any, error) {
			if now.Add(1) > capacity {
				over.Add(1)
			}
			now.Add(-1)
			return nil, nil
		})
	tasks := make([]weir.Task, n)
	for i := range tasks {
		tasks[i] = weir.Task{Service: "a", Labels: map[string]string{"gpu": "yes"}}
	}
	if _, err := w.client.SubmitMany(t.Context(), tasks); err != nil {
		t.Fatal(err)
	}
	elsewhere := w.submit(t, weir.Task{Service: "a", Labels: map[string]string{"gpu": "no"}})
	until(t, "all are done", func() bool { return done(workers) == n })
	if over.Load() > 0 {
		t.Errorf("the capacity of the node was exceeded %d times", over.Load())
	}
	if got := w.count(t, fmt.Sprintf(most, "class")); got > capacity || got < 1 {
		t.Errorf("the timeline shows %d at once", got)
	}
	if got := w.task(t, elsewhere); got.State != weir.Available {
		t.Errorf("a task for other labels is %+v", got)
	}
}

// The node's mode is obeyed at the claim, and by the worker from its next
// heartbeat on.
func TestDrainedNodeClaimsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	if err := w.client.RegisterNode(ctx, weir.Node{Name: "pc1"}); err != nil {
		t.Fatal(err)
	}
	if err := w.client.SetNodeMode(ctx, "pc1", weir.Draining, timeZero, weir.Decision{By: "ann"}); err != nil {
		t.Fatal(err)
	}
	id := w.submit(t, weir.Task{Service: "a"})
	w.fleet(t, 1, weir.WorkerConfig{Node: "pc1"}, "a", nothing)
	until(t, "the worker is there", func() bool { return w.count(t, `select count(*) from weir.worker where node = 'pc1'`) == 1 })
	free := w.fleet(t, 1, weir.WorkerConfig{}, "a", nothing)
	w.wait(t, id)
	// A worker counts an end when it hears that it was told, a moment after others see it.
	until(t, "the free worker has done it, not the draining node", func() bool { return free[0].Stats().Done == 1 })
}
