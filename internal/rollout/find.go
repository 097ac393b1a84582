package rollout

import (
	"context"
	"strings"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/problem"
)

// anyRollout stands for the rollout of a task, where the task alone says which.
const anyRollout = "-"

// Find reads which rollout is meant: its id or the end of it, or its name, if one rollout
// alone that has not ended, or the newest of those that have, is called so.
func (s *Store) Find(ctx context.Context, text string) (weir.ID, error) {
	return view.Find(ctx, view.New(s.pool), "rollout", "rollout", "weir rollout list", text, func() (called []view.Called, _ error) {
		found, err := s.Rollouts(ctx, Filter{Search: text}, view.Page{Limit: 1000})
		for _, r := range found {
			called = append(called, view.Called{ID: r.ID, Name: r.Name, Ended: r.FinishedAt != nil})
		}
		return called, err
	})
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
		p := *problem.Explain(view.Blamed("task", err))
		p.Next = "name it by its id, or so: ROLLOUT/STAGE/DATABASE/VERSION; weir rollout show ID lists them"
		return id, &p
	}
	t, err := s.Task(ctx, id)
	if err == nil && !of.IsZero() && t.Rollout != of {
		err = noTask(of, text)
	}
	return id, err
}

func first(tasks []Task) (id weir.ID) {
	if len(tasks) > 0 {
		id = tasks[0].ID
	}
	return id
}

func noTask(of weir.ID, text string) error {
	return problem.New(problem.NotFound, "see what it has", "rollout %s has no task %q", of, text).Run("weir rollout show " + of.String())
}

func (n Named) find(ctx context.Context, s *Store) (weir.ID, error) { return s.Find(ctx, n.Rollout) }

func (n NamedTask) find(ctx context.Context, s *Store) (weir.ID, error) {
	return s.FindTask(ctx, n.Rollout, n.Task)
}
