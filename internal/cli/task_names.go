package cli

import (
	"fmt"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/engine/view"
)

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
