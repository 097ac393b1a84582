package workcmd

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/engine/view"
)

// marks stand for states, so that a tree can be read at a glance.
var marks = map[string]string{
	"pending": "○", "available": "◔", "running": "●", "done": "✓", "failed": "✗", "canceled": "–", "skipped": "»",
}

// row is a line of the tree.
type row struct {
	indent            int
	name, state, said string
}

// drawJob is a job as lines of at most the terminal's width: a head with its
// progress, then a line per task, indented by how deep it stands in the graph.
// Below a step that is a workflow stand the tasks of its job. If there is no room
// for all, tasks that have ended well are left out first.
func drawJob(o *command.Output, page jobPage, room int) []string {
	head := fmt.Sprintf("%s  %s  %d/%d  %s", command.Clean(page.Name), page.State, endedTasks(page.Job), page.Total, took(o, page.Job))
	lines := []string{o.Paint(command.Bold, command.Cut(head, max(o.Width-command.BarCells-3, 20))) + "  " + command.Bar(page.Progress*100)}
	for _, reason := range page.waits {
		lines = append(lines, "  "+o.Paint(command.Yellow, command.Cut(command.Clean(reason), max(o.Width-3, 8))))
	}
	shown, hidden := fitRows(rowsOf(o, &page, 0), room-2-len(page.waits))
	names := 0
	for _, r := range shown {
		names = max(names, command.Cells(r.name)+2*r.indent)
	}
	names = min(names, 40, max(o.Width-36, 12))
	for _, r := range shown {
		indent := strings.Repeat("  ", min(r.indent, 12))
		name := command.Cut(r.name, max(names-len(indent), 8))
		pad := strings.Repeat(" ", max(names-len(indent)-command.Cells(name), 0))
		state := fmt.Sprintf("%s %-9s", marks[r.state], r.state)
		text := "  " + indent + o.Paint(command.StateColor(r.state), marks[r.state]) + " " + name + pad + "  " + o.Paint(command.StateColor(r.state), fmt.Sprintf("%-9s", r.state)) + "  "
		used := 2 + len(indent) + 2 + command.Cells(name) + len(pad) + 2 + command.Cells(state) - 2 + 2
		lines = append(lines, text+command.Cut(r.said, max(o.Width-used-1, 8)))
	}
	if hidden > 0 {
		lines = append(lines, fmt.Sprintf("  … and %d more", hidden))
	}
	return lines
}

// rowsOf are the lines of a job's tasks. The items of a map stand below their step;
// many of them share its line, but for those that failed.
func rowsOf(o *command.Output, page *jobPage, indent int) []row {
	depth, maps := depths(page.Tasks), itemsOf(page.Tasks)
	var rows []row
	for _, t := range page.Tasks {
		if m := maps[stem(t.Key)]; m != nil && t.Key != stem(t.Key) {
			if !m.step && m.items[0].ID == t.ID { // its step is not there: they stand alone
				rows = append(rows, m.rows(o, page, indent+depth[t.ID])...)
			}
			continue
		}
		at := indent + depth[t.ID]
		r := row{at, command.Clean(taskName(t)), string(t.State), taskProgress(o, t)}
		child, m := page.children[t.ID], maps[t.Key]
		switch {
		case m != nil:
			r.said = m.words()
			if t.State == "pending" {
				r.state = m.state()
			}
		case child != nil:
			r.said = childProgress(child.Job)
			if t.State == "pending" {
				r.state = childState(child.Job)
			}
		case page.why[t.ID] != "":
			r.said = command.Clean(page.why[t.ID])
		}
		rows = append(rows, r)
		if m != nil {
			rows = append(rows, m.rows(o, page, at+1)...)
		}
		if child != nil && !child.Ended() {
			rows = append(rows, rowsOf(o, child, at+1)...)
		}
	}
	return rows
}

// childState is the state of a step that waits for its job: the job's.
func childState(j view.Job) string {
	switch j.State {
	case "queued":
		return "pending"
	case "canceling":
		return "running"
	}
	return j.State
}

// childProgress is what there is to say about the job of a step.
func childProgress(j view.Job) string {
	if j.State == "queued" {
		return "job " + command.Short(j.ID) + " is queued"
	}
	return fmt.Sprintf("%s  %d/%d  job %s", command.Bar(j.Progress*100), endedTasks(j), j.Total, command.Short(j.ID))
}

// foldFrom is how many items of a map share a line, failedShown how many of those
// that failed have one of their own then.
const foldFrom, failedShown = 9, 5

// mapItems are the items of one map, in their order.
type mapItems struct {
	items []view.Task
	// step says that the job has the step itself, too.
	step  bool
	count map[string]int
}

// folded says that they share a line.
func (m *mapItems) folded() bool { return len(m.items) >= foldFrom }

// state is what a person should know first of many.
func (m *mapItems) state() string {
	for _, state := range []string{"running", "available", "pending", "failed", "canceled", "skipped"} {
		if m.count[state] > 0 {
			return state
		}
	}
	return "done"
}

func (m *mapItems) words() string {
	var parts []string
	over := 0
	for _, state := range []string{"failed", "running", "available", "pending", "done", "skipped", "canceled"} {
		n := m.count[state]
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, state))
		}
		if weir.State(state).Ended() {
			over += n
		}
	}
	return fmt.Sprintf("%s  %d/%d items: %s", command.Bar(float64(over)/float64(len(m.items))*100), over, len(m.items), strings.Join(parts, ", "))
}

// rows are the items that have a line: all of a few, of many those that failed.
func (m *mapItems) rows(o *command.Output, page *jobPage, indent int) []row {
	var rows []row
	for _, t := range m.items {
		if m.folded() && (t.State != weir.Failed || len(rows) == failedShown) {
			continue
		}
		r := row{indent, command.Clean(taskName(t)), string(t.State), taskProgress(o, t)}
		child := page.children[t.ID]
		switch {
		case child != nil:
			r.said = childProgress(child.Job)
			if t.State == "pending" {
				r.state = childState(child.Job)
			}
		case page.why[t.ID] != "":
			r.said = command.Clean(page.why[t.ID])
		}
		rows = append(rows, r)
		if child != nil && !child.Ended() {
			rows = append(rows, rowsOf(o, child, indent+1)...)
		}
	}
	return rows
}

// itemsOf finds the maps of a job, by the key of their step.
func itemsOf(tasks []view.Task) map[string]*mapItems {
	maps, keys := map[string]*mapItems{}, map[string]bool{}
	for _, t := range tasks {
		key := stem(t.Key)
		if keys[t.Key] = true; key == t.Key {
			continue
		}
		if maps[key] == nil {
			maps[key] = &mapItems{count: map[string]int{}}
		}
		maps[key].items = append(maps[key].items, t)
		maps[key].count[string(t.State)]++
	}
	for key, m := range maps {
		m.step = keys[key]
	}
	return maps
}

// itemName is what stands in the brackets: a number, or the values of a matrix.
var itemName = regexp.MustCompile(`^[A-Za-z0-9_.,+-]+$`)

// stem is the step that a task belongs to: of an item of a map, the map.
func stem(key string) string {
	i := strings.LastIndexByte(key, '[')
	if i <= 0 || !strings.HasSuffix(key, "]") || i+2 >= len(key) || !itemName.MatchString(key[i+1:len(key)-1]) {
		return key
	}
	return key[:i]
}

func taskName(t view.Task) string {
	if t.Key != "" {
		return t.Key
	}
	return t.Service
}

// taskProgress is what there is to say beside the state.
func taskProgress(o *command.Output, t view.Task) string {
	switch {
	case t.State == "running" && t.Percent != nil:
		return fmt.Sprintf("%s %3.0f%%  %s", command.Bar(*t.Percent), *t.Percent, command.Span(o.Now.Sub(t.StartedAt)))
	case t.State == "running":
		return command.Span(o.Now.Sub(t.StartedAt))
	case t.State == "done" && !t.StartedAt.IsZero():
		return command.Span(t.FinishedAt.Sub(t.StartedAt))
	}
	return command.Clean(taskNote(t))
}

// depths says how far each task is indented: one more than what it needs, but a
// chain goes straight down. The list is in the order of submission, where a need may
// come after its dependent.
func depths(tasks []view.Task) map[weir.ID]int {
	byID, dependents := make(map[weir.ID]view.Task, len(tasks)), make(map[weir.ID]int, len(tasks))
	for _, t := range tasks {
		byID[t.ID] = t
		for _, need := range t.Needs {
			dependents[need]++
		}
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
				step := 1
				if len(t.Needs) == 1 && dependents[need] == 1 {
					step = 0
				}
				d = max(d, visit(n)+step)
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

// fitRows keeps the order and drops what matters least: tasks that are done, then
// those that wait.
func fitRows(rows []row, room int) (shown []row, hidden int) {
	drop := len(rows) - max(room, 3)
	if drop <= 0 {
		return rows, 0
	}
	left := map[int]bool{}
	for _, state := range []string{"done", "skipped", "canceled", "pending", "available", "failed", "running"} {
		for i, r := range rows {
			if r.state == state && len(left) < drop {
				left[i] = true
			}
		}
	}
	for i, r := range rows {
		if !left[i] {
			shown = append(shown, r)
		}
	}
	return shown, len(left)
}
