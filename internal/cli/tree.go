package cli

import (
	"fmt"
	"math"
	"strings"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/engine/view"
)

// barCells is the width of a progress bar.
const barCells = 20

// marks stand for states, so that a tree can be read at a glance.
var marks = map[string]string{
	"pending": "○", "available": "◔", "running": "●", "done": "✓", "failed": "✗", "canceled": "–", "skipped": "»",
}

// drawJob is a job as lines of at most the terminal's width: a head with its
// progress, then a line per task, indented by how deep it stands in the graph.
// If there is no room for all, tasks that have ended well are left out first.
func drawJob(o *output, page jobPage, room int) []string {
	head := fmt.Sprintf("%s  %s  %d/%d  %s", clean(page.Name), page.State, ended(page.Job), page.Total, o.took(page.Job))
	lines := []string{o.paint(bold, cut(head, max(o.width-barCells-3, 20))) + "  " + bar(page.Progress*100)}
	for _, reason := range page.waits {
		lines = append(lines, "  "+o.paint(yellow, cut(clean(reason), max(o.width-3, 8))))
	}
	depth := depths(page.Tasks)
	shown, hidden := fitTasks(page.Tasks, room-2-len(page.waits))
	names := 0
	for _, t := range shown {
		names = max(names, cells(clean(taskName(t)))+2*depth[t.ID])
	}
	names = min(names, 40, max(o.width-36, 12))
	for _, t := range shown {
		indent := strings.Repeat("  ", min(depth[t.ID], 12))
		name := cut(clean(taskName(t)), max(names-len(indent), 8))
		pad := strings.Repeat(" ", max(names-len(indent)-cells(name), 0))
		state := fmt.Sprintf("%s %-9s", marks[t.State], t.State)
		text := "  " + indent + o.paint(stateColor(t.State), marks[t.State]) + " " + name + pad + "  " + o.paint(stateColor(t.State), fmt.Sprintf("%-9s", t.State)) + "  "
		used := 2 + len(indent) + 2 + cells(name) + len(pad) + 2 + cells(state) - 2 + 2
		said := taskProgress(o, t)
		if why := page.why[t.ID]; why != "" {
			said = clean(why)
		}
		lines = append(lines, text+cut(said, max(o.width-used-1, 8)))
	}
	if hidden > 0 {
		lines = append(lines, fmt.Sprintf("  … and %d more", hidden))
	}
	return lines
}

func taskName(t view.Task) string {
	if t.Key != "" {
		return t.Key
	}
	return t.Service
}

// taskProgress is what there is to say beside the state.
func taskProgress(o *output, t view.Task) string {
	switch {
	case t.State == "running" && t.Percent != nil:
		return fmt.Sprintf("%s %3.0f%%  %s", bar(*t.Percent), *t.Percent, span(o.now.Sub(t.StartedAt)))
	case t.State == "running":
		return span(o.now.Sub(t.StartedAt))
	case t.State == "done" && !t.StartedAt.IsZero():
		return span(t.FinishedAt.Sub(t.StartedAt))
	}
	return clean(taskNote(t))
}

// bar is a progress bar for a percentage, whatever a worker has reported.
func bar(percent float64) string {
	if math.IsNaN(percent) {
		percent = 0
	}
	full := int(math.Round(min(max(percent, 0), 100) / 100 * barCells))
	return strings.Repeat("█", full) + strings.Repeat("░", barCells-full)
}

// depths says how many tasks stand before each on its longest path. The list is
// in the order of submission, where a need may come after its dependent.
func depths(tasks []view.Task) map[weir.ID]int {
	byID := make(map[weir.ID]view.Task, len(tasks))
	for _, t := range tasks {
		byID[t.ID] = t
	}
	depth := make(map[weir.ID]int, len(tasks))
	var visit func(view.Task) int
	visit = func(t view.Task) int {
		if d, known := depth[t.ID]; known {
			return d
		}
		depth[t.ID] = 0 // needs form no ring; if they did, this would end it
		d := 0
		for _, need := range t.Needs {
			if n, ok := byID[need]; ok {
				d = max(d, visit(n)+1)
			}
		}
		depth[t.ID] = d
		return d
	}
	for _, t := range tasks {
		visit(t)
	}
	return depth
}

// fitTasks keeps the order and drops what matters least: tasks that are done,
// then those that wait.
func fitTasks(tasks []view.Task, room int) (shown []view.Task, hidden int) {
	drop := len(tasks) - max(room, 3)
	if drop <= 0 {
		return tasks, 0
	}
	left := map[weir.ID]bool{}
	for _, state := range []string{"done", "skipped", "canceled", "pending", "available", "failed", "running"} {
		for _, t := range tasks {
			if t.State == state && len(left) < drop {
				left[t.ID] = true
			}
		}
	}
	for _, t := range tasks {
		if !left[t.ID] {
			shown = append(shown, t)
		}
	}
	return shown, len(left)
}
