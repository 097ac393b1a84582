package work

import (
	"context"
	"strings"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/problem"
)

// find returns the task that is meant: by its id or the end of it, or by JOB/STEP, the
// job's id and the key of the task in it.
func (n NamedTask) find(ctx context.Context, s *Store) (weir.ID, error) {
	of, key, ok := strings.Cut(n.Task, "/")
	if !ok {
		return meant(ctx, "task", s.View.TaskID, n.Task)
	}
	job, err := meant(ctx, "task", s.View.JobID, of)
	if err != nil {
		return job, err
	}
	tasks, err := s.View.Tasks(ctx, view.TaskFilter{Job: job, Key: key}, view.Page{Limit: 1})
	if err != nil || len(tasks) > 0 {
		return first(tasks), err
	}
	end := job.String()[24:]
	return weir.ID{}, problem.New(problem.NotFound, "see them with: weir task list --job "+end, "job %s has no task %q", end, key)
}

func first(tasks []view.Task) (id weir.ID) {
	if len(tasks) > 0 {
		id = tasks[0].ID
	}
	return id
}

// find returns the job that is meant: by its id or the end of it.
func (n NamedJob) find(ctx context.Context, s *Store) (weir.ID, error) {
	return meant(ctx, "job", s.View.JobID, n.Job)
}

// meant returns the id that the text in a field refers to. A text that is no id is refused
// by the field's name.
func meant(ctx context.Context, field string, find func(context.Context, string) (weir.ID, error), text string) (weir.ID, error) {
	id, err := find(ctx, text)
	if err == nil {
		return id, nil
	}
	p := *problem.Explain(err)
	if p.Kind == problem.Invalid {
		p.Field = field
	}
	return id, &p
}

// maybe is meant for a field that may be left out.
func maybe(ctx context.Context, field string, find func(context.Context, string) (weir.ID, error), text string) (weir.ID, error) {
	if text == "" {
		return weir.ID{}, nil
	}
	return meant(ctx, field, find, text)
}

// spelled returns an id as text, "" for none.
func spelled(id weir.ID) string {
	if id.IsZero() {
		return ""
	}
	return id.String()
}
