package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/problem"
)

// findTask reads which task is meant: its id or the end of it, or JOB/STEP, the
// job's id and the key of the task in it.
func findTask(ctx context.Context, s *app.Session, text string) (weir.ID, error) {
	job, key, ok := strings.Cut(text, "/")
	if !ok {
		return s.Store.TaskID(ctx, text)
	}
	id, err := s.Store.JobID(ctx, job)
	if err != nil {
		return weir.ID{}, err
	}
	tasks, err := s.Store.Tasks(ctx, view.TaskFilter{Job: id, Key: key}, view.Page{Limit: 1})
	if err != nil {
		return weir.ID{}, err
	}
	if len(tasks) == 0 {
		return weir.ID{}, problem.New(problem.NotFound, "see them with: weir task list --job "+short(id), "job %s has no task %q", short(id), key)
	}
	return tasks[0].ID, nil
}

// taskNames says how the tasks of a job are called: their key, else their
// service.
type taskNames struct {
	byID  map[weir.ID]string
	width int
}

func namesOf(tasks []view.Task) *taskNames {
	n := &taskNames{byID: make(map[weir.ID]string, len(tasks))}
	for _, t := range tasks {
		name := clean(taskName(t))
		n.byID[t.ID] = name
		n.width = max(n.width, cells(name))
	}
	n.width = min(n.width, 24) // one long name does not push all the others away
	return n
}

// of is the name of the event's task, as wide as the others.
func (n *taskNames) of(e view.Event) string {
	name := n.byID[e.Task]
	return fmt.Sprintf("%s%*s", name, max(0, n.width-cells(name)), "")
}
