package temporal

import (
	"context"
	"fmt"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"github.com/weirhq/weir/bench/internal/flow"
)

// runner does one shape.
type runner struct {
	*Engine
	shape   flow.Shape
	n       int
	queue   string
	began   flow.Gather
	workers []worker.Worker
	// round is part of the names of schedules.
	round int
}

// Start starts the workers for the steps of a shape.
func (e *Engine) Start(ctx context.Context, shape flow.Shape, n int) (flow.Runner, error) {
	r := &runner{Engine: e, shape: shape, n: n, queue: "bench-" + string(shape)}
	workers, slots := 1, flow.Slots
	if shape == flow.FanMap {
		workers, slots = flow.FanWorkers, 1
	}
	for range workers {
		w := r.newWorker(slots)
		if err := w.Start(); err != nil {
			_ = r.Stop(ctx) // the error of the start is enough
			return nil, fmt.Errorf("start a Temporal worker: %w", err)
		}
		r.workers = append(r.workers, w)
	}
	return r, nil
}

// Stop ends the workers.
func (r *runner) Stop(context.Context) error {
	for _, w := range r.workers {
		w.Stop()
	}
	return nil
}

// Run does the work once.
func (r *runner) Run(ctx context.Context) (flow.Result, error) {
	switch r.shape {
	case flow.Chain:
		return r.one(ctx, chainName, stepName, r.n)
	case flow.ChainProcess:
		return r.one(ctx, chainName, processName, r.n)
	case flow.FanMap:
		return r.one(ctx, fanName, r.n)
	case flow.Burst:
		return r.burst(ctx)
	default:
		return r.due(ctx)
	}
}

func (r *runner) options() client.StartWorkflowOptions {
	return client.StartWorkflowOptions{TaskQueue: r.queue}
}

// one runs one workflow that must report that it did n things.
func (r *runner) one(ctx context.Context, workflow string, args ...any) (result flow.Result, err error) {
	start := time.Now()
	run, err := r.client.ExecuteWorkflow(ctx, r.options(), workflow, args...)
	if err != nil {
		return result, fmt.Errorf("start a Temporal workflow: %w", err)
	}
	result.Submitted = time.Since(start)
	var done int
	if err := run.Get(ctx, &done); err != nil {
		return result, fmt.Errorf("wait for a Temporal workflow: %w", err)
	}
	result.Done = time.Since(start)
	if done != r.n {
		return result, fmt.Errorf("%d of %d steps are done: the run does not count", done, r.n)
	}
	return result, nil
}

// burst starts n workflows. They count as done when their activities have begun, which
// favors Temporal a little; the check that they end is not timed.
func (r *runner) burst(ctx context.Context) (result flow.Result, err error) {
	r.began.Expect(r.n)
	runs := make([]client.WorkflowRun, r.n)
	start := time.Now()
	err = flow.Each(ctx, r.n, func(ctx context.Context, i int) (err error) {
		runs[i], err = r.client.ExecuteWorkflow(ctx, r.options(), oneName)
		return err
	})
	if err != nil {
		return result, fmt.Errorf("start Temporal workflows: %w", err)
	}
	result.Submitted = time.Since(start)
	if _, err := r.began.Await(ctx); err != nil {
		return result, err
	}
	result.Done = time.Since(start)
	err = flow.Each(ctx, r.n, func(ctx context.Context, i int) error { return runs[i].Get(ctx, nil) })
	if err != nil {
		return result, fmt.Errorf("wait for Temporal workflows: %w", err)
	}
	return result, nil
}
