package workflow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/workflow/definition"
)

const (
	// buildMost is the most jobs that one look takes.
	buildMost = 200
	// buildTasks is how many tasks one transaction writes, unless a single job has more.
	buildTasks = 1000
)

// build is a queued job with its tasks: the JSON that weir.workflow_build takes.
type build struct {
	Job      weir.ID           `json:"job"`
	Tasks    []definition.Task `json:"tasks"`
	Params   map[string]any    `json:"params"`
	Patience json.RawMessage   `json:"patience,omitempty"`
	Reuse    []reused          `json:"reuse,omitempty"`
}

// build gives due jobs their tasks, in order, and records for waiting jobs what they wait
// for. A job that cannot be built fails alone.
func (l *leader) build(ctx context.Context, _ time.Time) (more bool, err error) {
	due, err := l.Store.due(ctx, buildMost)
	if err != nil {
		return false, fmt.Errorf("look for due jobs: %w", err)
	}
	var ids, waits []weir.ID
	var notes []string
	for _, d := range due {
		if d.note != nil {
			waits, notes = append(waits, d.job), append(notes, *d.note)
		} else {
			ids = append(ids, d.job)
		}
	}
	if len(waits) > 0 {
		if _, err := l.write(ctx, noteSQL, waits, notes); err != nil {
			return false, fmt.Errorf("note why jobs wait: %w", err)
		}
	}
	jobs, err := l.jobs(ctx, ids)
	if err != nil {
		return false, fmt.Errorf("read due jobs: %w", err)
	}
	var list []build
	tasks := 0
	for _, id := range ids {
		b, err := l.prepare(ctx, jobs[id])
		if p := (*problem.Problem)(nil); errors.As(err, &p) {
			if err := l.giveUp(ctx, id, err); err != nil {
				return false, err
			}
			continue
		}
		if err != nil {
			return false, fmt.Errorf("build job %s: %w", id, err)
		}
		if tasks += len(b.Tasks); len(list) > 0 && tasks > buildTasks {
			if err := l.writeBuilds(ctx, list); err != nil {
				return false, err
			}
			list, tasks = nil, len(b.Tasks)
		}
		list = append(list, b)
	}
	return len(ids) == buildMost, l.writeBuilds(ctx, list)
}

// prepare plans a job. A problem is the job's fault, any other error the database's.
func (l *leader) prepare(ctx context.Context, j jobRow) (build, error) {
	b, err := l.load(ctx, j.Definition)
	if err != nil {
		return build{}, err
	}
	out := build{Job: j.ID}
	options, err := j.optionsOf()
	if err != nil {
		return build{}, err
	}
	params, err := b.Input(options.Options)
	if err != nil {
		return build{}, problem.Explain(err)
	}
	if out.Tasks, err = b.Plan(definition.Input{Params: params, Options: options.Options, Job: j.facts(options)}); err != nil {
		return build{}, problem.Explain(err)
	}
	out.Params, out.Patience = params, patienceOf(out.Tasks)
	if options.Rerun != nil {
		out.Reuse, err = l.reuse(ctx, run{j, b, options, params}, j.Origin, *options.Rerun)
	}
	return out, err
}

// facts returns what templates read as .job.
func (j *jobRow) facts(options jobOptions) definition.Job {
	return definition.Job{
		ID: j.ID.String(), Name: j.Name, ScheduledAt: j.ScheduledAt, Zone: options.Zone, Options: freeOptions(j.Options),
	}
}

// writeBuilds writes jobs in one transaction. If one of them is refused, it writes them
// one by one.
func (l *leader) writeBuilds(ctx context.Context, list []build) error {
	if len(list) == 0 {
		return nil
	}
	text, err := json.Marshal(list)
	if err != nil {
		return err
	}
	_, err = l.write(ctx, buildSQL, text)
	switch {
	case err == nil:
		return nil
	case !refused(err):
		return fmt.Errorf("build %d jobs: %w", len(list), err)
	case len(list) == 1:
		return l.giveUp(ctx, list[0].Job, err)
	}
	for i := range list {
		if err := l.writeBuilds(ctx, list[i:i+1]); err != nil {
			return err
		}
	}
	return nil
}

// giveUp fails a job that cannot be built.
func (l *leader) giveUp(ctx context.Context, job weir.ID, cause error) error {
	l.log.Warn("a job cannot be built", "job", job, "error", cause)
	if err := l.did(ctx, closeSQL, job, "failed", said(cause)); err != nil {
		return fmt.Errorf("fail job %s: %w", job, err)
	}
	return nil
}
