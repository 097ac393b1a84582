package temporal

import (
	"context"
	"os/exec"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/weirhq/weir/bench/internal/flow"
)

// Names of workflows and activities.
const (
	chainName, fanName, oneName         = "chain", "fan", "one"
	stepName, processName, noteStepName = "step", "process", "note"
)

// activityOptions makes the SDK's own policy retry an activity that a busy server loses.
func activityOptions(ctx workflow.Context) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: 10 * time.Second})
}

// chain does n activities one after another, each with the result of the previous one.
func chain(ctx workflow.Context, activity string, n int) (last int, err error) {
	ctx = activityOptions(ctx)
	for range n {
		if err := workflow.ExecuteActivity(ctx, activity, last).Get(ctx, &last); err != nil {
			return 0, err
		}
	}
	return last, nil
}

// fan does one activity, then n at once, then a last one.
func fan(ctx workflow.Context, n int) (done int, err error) {
	ctx = activityOptions(ctx)
	if err := workflow.ExecuteActivity(ctx, stepName, 0).Get(ctx, nil); err != nil {
		return 0, err
	}
	futures := make([]workflow.Future, n)
	for i := range futures {
		futures[i] = workflow.ExecuteActivity(ctx, stepName, i)
	}
	for _, f := range futures {
		if err := f.Get(ctx, nil); err != nil {
			return 0, err
		}
		done++
	}
	return done, workflow.ExecuteActivity(ctx, stepName, n).Get(ctx, nil)
}

// one does one activity.
func one(ctx workflow.Context) error {
	ctx = activityOptions(ctx)
	return workflow.ExecuteActivity(ctx, noteStepName).Get(ctx, nil)
}

// newWorker makes a worker for all of them. Slots is how many activities it does
// at once.
func (r *runner) newWorker(slots int) worker.Worker {
	w := worker.New(r.client, r.queue, worker.Options{MaxConcurrentActivityExecutionSize: slots})
	w.RegisterWorkflowWithOptions(chain, workflow.RegisterOptions{Name: chainName})
	w.RegisterWorkflowWithOptions(fan, workflow.RegisterOptions{Name: fanName})
	w.RegisterWorkflowWithOptions(one, workflow.RegisterOptions{Name: oneName})
	w.RegisterActivityWithOptions(func(_ context.Context, n int) (int, error) { return n + 1, nil }, activity.RegisterOptions{Name: stepName})
	w.RegisterActivityWithOptions(func(ctx context.Context, n int) (int, error) {
		return n + 1, exec.CommandContext(ctx, flow.Program).Run()
	}, activity.RegisterOptions{Name: processName})
	w.RegisterActivityWithOptions(func(ctx context.Context) error {
		r.began.Began(activity.GetInfo(ctx).WorkflowExecution.ID)
		return nil
	}, activity.RegisterOptions{Name: noteStepName})
	return w
}
