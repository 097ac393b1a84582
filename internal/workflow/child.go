package workflow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/workflow/definition"
)

// child opens the job that a step stands for. The step waits at its gate until the job
// has ended; the key makes sure that one attempt has one job.
func (l *leader) child(ctx context.Context, s *step, r definition.Resolution) (plan, error) {
	depth, err := l.depth(ctx, s.job.ID)
	if err != nil {
		return plan{}, fmt.Errorf("read what job %s is part of: %w", s.job.ID, err)
	}
	if depth+1 >= depthMost {
		return s.fail(fmt.Sprintf("workflow %s inside %s: jobs wait for one another %d deep; does a workflow contain itself?", r.Workflow, s.job.Name, depthMost)), nil
	}
	if r.Version == 0 {
		l.known.forget(r.Workflow) // no later check finds out whether it is the newest
	}
	b, err := l.find(ctx, r.Workflow, r.Version)
	if p := (*problem.Problem)(nil); errors.As(err, &p) {
		return s.fail(said(p)), nil
	}
	if err != nil {
		return plan{}, err
	}
	x, err := b.opening(jobOptions{Options: r.Options, Zone: s.options.Zone})
	if err != nil {
		return s.fail(fmt.Sprintf("workflow %s: %s", r.Workflow, said(err))), nil
	}
	return plan{
		Task: s.task, Job: s.job.ID, Do: "child", Name: x.Name, Definition: x.Definition, Priority: max(x.Priority, s.job.Priority), Params: x.Params, Options: x.Options,
		Key: fmt.Sprintf("child:%s:%d", s.task, s.attempt+1), Trace: s.job.Trace,
	}, nil
}

// childEnded ends a step as its job ended. Its result contains those of the job's steps.
func (l *leader) childEnded(ctx context.Context, s *step) (plan, error) {
	switch s.outcome {
	case "done":
	case "":
		return s.fail(fmt.Sprintf("job %s is gone", s.child)), nil
	case "canceled":
		return s.fail(fmt.Sprintf("job %s was canceled: %s", s.child, s.cause)), nil
	default:
		return s.fail(fmt.Sprintf("job %s failed: %s", s.child, s.cause)), nil
	}
	tasks, err := l.tasksOf(ctx, s.child)
	if err != nil {
		return plan{}, fmt.Errorf("read job %s: %w", s.child, err)
	}
	results := map[string]json.RawMessage{}
	for _, t := range tasks {
		if t.State == "done" && len(t.Result) > 0 && !strings.Contains(t.Key, "[") {
			results[t.Key] = t.Result
		}
	}
	result, err := json.Marshal(map[string]any{"job": s.child, "steps": results})
	if err != nil {
		return plan{}, err
	}
	return s.end(plan{Outcome: "done", Result: result}), nil
}

// cancelOrphans cancels jobs whose step has ended without them.
func (l *leader) cancelOrphans(ctx context.Context, _ time.Time) (more bool, err error) {
	jobs, err := l.orphans(ctx)
	if err != nil {
		return false, fmt.Errorf("look for jobs that nobody waits for: %w", err)
	}
	for _, job := range jobs {
		if err := l.did(ctx, cancelSQL, job, "the step that waited for it has ended"); err != nil {
			return false, fmt.Errorf("cancel job %s: %w", job, err)
		}
	}
	return false, nil
}
