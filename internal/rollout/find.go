package rollout

import (
	"context"
	"regexp"
	"strings"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/problem"
)

// anyRollout stands for the rollout of a task, where the task alone says which.
const anyRollout = "-"

var idForm = regexp.MustCompile(`^[0-9a-fA-F-]{6,36}$`)

// Find reads which rollout is meant: its id or the end of it, or its name, if one rollout
// alone that has not ended, or the newest of those that have, is called so.
func (s *Store) Find(ctx context.Context, text string) (weir.ID, error) {
	if idForm.MatchString(text) {
		id, err := view.New(s.pool).RolloutID(ctx, text)
		if err == nil || problem.Explain(err).Kind != problem.NotFound {
			return id, blamed("rollout", err)
		}
	}
	found, err := s.Rollouts(ctx, Filter{Search: text}, view.Page{Limit: 1000})
	if err != nil {
		return weir.ID{}, err
	}
	var live, ended []Rollout
	for _, r := range found {
		switch {
		case r.Name != text:
		case r.FinishedAt != nil:
			ended = append(ended, r)
		default:
			live = append(live, r)
		}
	}
	switch {
	case len(live) > 1:
		return weir.ID{}, problem.Refuse("rollout", "give the id of one", "%d rollouts are called %q, such as %s and %s", len(live), text, live[0].ID, live[1].ID)
	case len(live) == 1:
		return live[0].ID, nil
	case len(ended) > 0:
		return ended[0].ID, nil
	}
	return weir.ID{}, problem.New(problem.NotFound, "see them with: weir rollout list", "there is no rollout %q", text)
}

// FindTask reads which task of a rollout is meant: its id or the end of it, or
// STAGE/DATABASE/VERSION. One of another rollout is not there.
func (s *Store) FindTask(ctx context.Context, rollout, text string) (weir.ID, error) {
	var of weir.ID
	if rollout != anyRollout {
		var err error
		if of, err = s.Find(ctx, rollout); err != nil {
			return of, err
		}
	}
	if strings.Contains(text, "/") && !of.IsZero() {
		tasks, err := s.TaskPage(ctx, of, TaskFilter{Key: text}, view.Page{Limit: 1})
		if err != nil || len(tasks) > 0 {
			return first(tasks), err
		}
		return weir.ID{}, noTask(of, text)
	}
	id, err := view.New(s.pool).TaskID(ctx, text)
	if err != nil {
		return id, blamed("task", err)
	}
	t, err := s.Task(ctx, id)
	if err == nil && !of.IsZero() && t.Rollout != of {
		err = noTask(of, text)
	}
	return id, err
}

// blamed says which field an id that is none was in.
func blamed(field string, err error) error {
	if err == nil {
		return nil
	}
	p := *problem.Explain(err)
	if p.Kind == problem.Invalid {
		p.Field = field
	}
	if field == "task" {
		p.Next = "name it by its id, or so: ROLLOUT/STAGE/DATABASE/VERSION; weir rollout show ID lists them"
	}
	return &p
}

func first(tasks []Task) (id weir.ID) {
	if len(tasks) > 0 {
		id = tasks[0].ID
	}
	return id
}

func noTask(of weir.ID, text string) error {
	return problem.New(problem.NotFound, "see what it has: weir rollout show "+of.String(), "rollout %s has no task %q", of, text)
}

func (n Named) find(ctx context.Context, s *Store) (weir.ID, error) { return s.Find(ctx, n.Rollout) }

func (n NamedTask) find(ctx context.Context, s *Store) (weir.ID, error) {
	return s.FindTask(ctx, n.Rollout, n.Task)
}
