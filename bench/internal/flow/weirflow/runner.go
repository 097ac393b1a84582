package weirflow

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/bench/internal/flow"
	"github.com/weirhq/weir/internal/workflow"
	"github.com/weirhq/weir/internal/workflow/definition"
)

const (
	// askEvery is how often the end of one job is polled: a thousandth of the goals, and
	// negligible for PostgreSQL.
	askEvery = 5 * time.Millisecond
	// aheadBy is how far ahead the instant of the schedules is: more than the time
	// between two looks of the leader, so that the leader waits for it.
	aheadBy = 5 * time.Second
)

// runner does one shape.
type runner struct {
	*Engine
	shape flow.Shape
	n     int
	began flow.Gather
	stops []func(context.Context) error
}

// args are the params of a step.
type args struct {
	N int `json:"n"`
	// Give is the length of the list that the step returns.
	Give int `json:"give"`
}

// work starts one worker.
func (r *runner) work(ctx context.Context, slots int) {
	worker := weir.NewWorker(r.client, weir.WorkerConfig{Concurrency: slots})
	weir.Handle(worker, service, func(_ context.Context, run *weir.Run[args]) (any, error) {
		switch r.shape {
		case flow.Burst, flow.BurstBatch, flow.DueJobs, flow.DueTasks:
			r.began.Began("") // nothing here may begin twice
			return nil, nil
		}
		if run.Args.Give > 0 {
			list := make([]int, run.Args.Give)
			for i := range list {
				list[i] = i
			}
			return list, nil
		}
		return run.Args.N + 1, nil
	}, weir.Concurrency(slots))
	ended := make(chan error, 1)
	go func() { ended <- worker.Run(context.WithoutCancel(ctx)) }()
	r.stops = append(r.stops, func(ctx context.Context) error { return errors.Join(worker.Stop(ctx), <-ended) })
}

// Stop ends the workers.
func (r *runner) Stop(ctx context.Context) error {
	var faults []error
	for _, stop := range r.stops {
		faults = append(faults, stop(ctx))
	}
	return errors.Join(faults...)
}

// Run does the work once.
func (r *runner) Run(ctx context.Context) (flow.Result, error) {
	switch r.shape {
	case flow.Burst, flow.BurstBatch:
		return r.burst(ctx)
	case flow.DueJobs, flow.DueTasks:
		return r.due(ctx)
	default:
		return r.one(ctx)
	}
}

// one runs one job.
func (r *runner) one(ctx context.Context) (result flow.Result, err error) {
	start := time.Now()
	job, err := r.store.Run(ctx, workflow.RunRequest{Workflow: string(r.shape)})
	if err != nil {
		return result, err
	}
	result.Submitted = time.Since(start)
	var state, cause string
	err = flow.Poll(ctx, askEvery, func(ctx context.Context) (over bool, err error) {
		err = r.pool.QueryRow(ctx, `select j.state, coalesce(j.cause, ''), j.finished_at is not null from weir.job j where j.id = $1`, job).Scan(&state, &cause, &over)
		return over, err
	})
	result.Done = time.Since(start)
	if err != nil {
		return result, fmt.Errorf("wait for the job: %w", err)
	}
	if state != "done" {
		return result, fmt.Errorf("the job is %s: %s", state, cause)
	}
	var done int
	if err := r.pool.QueryRow(ctx, `select count(*) from weir.task t where t.job = $1 and t.state = 'done'`, job).Scan(&done); err != nil {
		return result, err
	}
	if want := r.tasks(); done != want {
		return result, fmt.Errorf("%d of %d tasks are done: the run does not count", done, want)
	}
	return result, nil
}

// tasks returns how many tasks the one job has: a map is a task in addition to its items.
func (r *runner) tasks() int {
	switch r.shape {
	case flow.FanNeeds:
		return r.n + 2
	case flow.FanMap:
		return r.n + 3
	default:
		return r.n
	}
}

// burst submits n jobs and waits until none is left.
func (r *runner) burst(ctx context.Context) (result flow.Result, err error) {
	before, err := r.finished(ctx)
	if err != nil {
		return result, err
	}
	r.began.Expect(r.n)
	request := workflow.RunRequest{Workflow: string(r.shape)}
	start := time.Now()
	if r.shape == flow.BurstBatch {
		_, err = r.store.RunMany(ctx, request, make([]definition.Options, r.n))
	} else {
		err = flow.Each(ctx, r.n, func(ctx context.Context, _ int) error {
			_, err := r.store.Run(ctx, request)
			return err
		})
	}
	if err != nil {
		return result, err
	}
	result.Submitted = time.Since(start)
	if _, err := r.began.Await(ctx); err != nil {
		return result, err
	}
	if err := r.awaitFinished(ctx, before+r.n); err != nil {
		return result, err
	}
	result.Done = time.Since(start)
	return result, nil
}

// finished counts the jobs that are done so far.
func (r *runner) finished(ctx context.Context) (n int, err error) {
	err = r.pool.QueryRow(ctx, `select count(*) from weir.job_finished f where f.outcome = 'done'`).Scan(&n)
	return n, err
}

// awaitFinished returns when the given number of jobs is done in the database.
func (r *runner) awaitFinished(ctx context.Context, want int) error {
	err := flow.Poll(ctx, askEvery, func(ctx context.Context) (bool, error) {
		n, err := r.finished(ctx)
		if n > want {
			return false, fmt.Errorf("%d jobs are done, %d were submitted: the run does not count", n, want)
		}
		return n == want, err
	})
	if err != nil {
		return fmt.Errorf("wait for the last jobs: %w", err)
	}
	return nil
}
