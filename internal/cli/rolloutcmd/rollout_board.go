package rolloutcmd

import (
	"fmt"
	"strings"

	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/rollout"
)

// runMarks stand for statuses, so that a board can be read at a glance.
var runMarks = map[string]string{
	rollout.NotStarted: "·", rollout.Pending: "○", rollout.Available: "◔", rollout.Running: "●", rollout.Done: "✓",
	rollout.Failed: "✗", rollout.Canceled: "–", rollout.Unknown: "?", rollout.Skipped: "»",
}

// telling is the order in which the tasks of a database are worth a word.
var telling = []string{rollout.Unknown, rollout.Failed, rollout.Running, rollout.Available, rollout.Pending, rollout.Canceled, rollout.NotStarted, rollout.Skipped, rollout.Done}

// boardLane is a database of a stage: a mark per change, and what to know of it.
type boardLane struct {
	stage, name string
	tasks       []rollout.Task
	// first is the task that is worth a word.
	first rollout.Task
}

// drawRollout is a rollout as lines of at most the terminal's width: a head with its
// progress, a line per stage, a line per database below it. If there is no room for
// all, databases that are done are left out first, then those that wait.
func drawRollout(o *command.Output, p rolloutPage, room int) []string {
	c := p.Counts
	head := fmt.Sprintf("%s  %s  %d/%d", command.Clean(p.Name), p.State, endedRuns(c), c.Total)
	if p.StartedAt != nil {
		head += "  " + command.Span(o.Now.Sub(*p.StartedAt))
	}
	lines := []string{o.Paint(command.Bold, command.Cut(head, max(o.Width-command.BarCells-3, 20))) + "  " + command.Bar(share(c))}
	if p.Waits != "" {
		lines = append(lines, "  "+o.Paint(command.Yellow, command.Cut(command.Clean(p.Waits), max(o.Width-3, 8))))
	}
	shown, hidden := fitLanes(lanesOf(p.Tasks), room-len(lines)-len(p.Stages)-1)
	names, marks := 0, 0
	for _, l := range shown {
		names, marks = max(names, command.Cells(l.name)), max(marks, min(len(l.tasks), marksMost))
	}
	names = min(names, 32, max(o.Width/3, 8))
	for _, s := range p.Stages {
		said := fmt.Sprintf("%d/%d  %s", endedRuns(s.Counts), s.Counts.Total, command.Bar(share(s.Counts)))
		if s.Waits != "" {
			said += "  " + command.Clean(s.Waits)
		}
		name := command.Clean(s.Name)
		lines = append(lines, fmt.Sprintf("  %s  %s  %s", o.Paint(command.Bold, name), o.Paint(rolloutColor(s.State), s.State), command.Cut(said, max(o.Width-command.Cells(name)-command.Cells(s.State)-8, 8))))
		for _, l := range shown {
			if l.stage == s.Name {
				lines = append(lines, l.draw(o, names, marks))
			}
		}
	}
	if hidden > 0 {
		lines = append(lines, fmt.Sprintf("  … and %s more", command.Plural(hidden, "database", "databases")))
	}
	return lines
}

// share is how much of the runs has ended, in percent.
func share(c rollout.Counts) float64 {
	if c.Total == 0 {
		return 0
	}
	return float64(endedRuns(c)) / float64(c.Total) * 100
}

// marksMost is how many changes have a mark of their own.
const marksMost = 40

// draw is the line of a database; names and width are how wide the columns of names
// and marks are.
func (l boardLane) draw(o *command.Output, names, width int) string {
	name := command.Cut(l.name, names)
	var marks strings.Builder
	for _, t := range l.tasks[:min(len(l.tasks), marksMost)] {
		marks.WriteString(o.Paint(rolloutColor(t.Status), runMarks[t.Status]))
	}
	marks.WriteString(strings.Repeat(" ", max(width-len(l.tasks), 0)))
	t := l.first
	said := fmt.Sprintf("%s %s", changeLabel(t.Version, t.Change), t.Status)
	switch cause := runCause(o, t); {
	case t.Status == rollout.Unknown:
		said += ": weir rollout resolve " + command.Short(t.ID) + strings.TrimSuffix("; "+cause, "; ")
	case t.Status == rollout.Running && t.StartedAt != nil:
		said += " " + command.Span(o.Now.Sub(*t.StartedAt))
		if t.Phase != "" {
			said += ", " + t.Phase
		}
		if cause != "" {
			said += ", " + cause
		}
	case cause != "":
		said += ": " + cause
	}
	used := 4 + names + 2 + width + 2
	return "    " + name + strings.Repeat(" ", max(names-command.Cells(name), 0)) + "  " + marks.String() + "  " + command.Cut(command.Clean(said), max(o.Width-used-1, 8))
}

// lanesOf groups tasks by stage and database, in the order of the plan.
func lanesOf(tasks []rollout.Task) []boardLane {
	var lanes []boardLane
	at := map[string]int{}
	for _, t := range tasks {
		key := t.Stage + "/" + t.Database
		i, known := at[key]
		if !known {
			i = len(lanes)
			at[key] = i
			lanes = append(lanes, boardLane{stage: t.Stage, name: command.Clean(t.Database), first: t})
		}
		lanes[i].tasks = append(lanes[i].tasks, t)
		if tells(t.Status) < tells(lanes[i].first.Status) {
			lanes[i].first = t
		}
	}
	return lanes
}

// tells is the place of a status in the order of what is worth a word.
func tells(status string) int {
	for i, s := range telling {
		if s == status {
			return i
		}
	}
	return len(telling)
}

// fitLanes keeps the order and drops what matters least.
func fitLanes(lanes []boardLane, room int) (shown []boardLane, hidden int) {
	drop := len(lanes) - max(room, 3)
	if drop <= 0 {
		return lanes, 0
	}
	left := map[int]bool{}
	for i := len(telling) - 1; i >= 0; i-- {
		for n, l := range lanes {
			if l.first.Status == telling[i] && len(left) < drop {
				left[n] = true
			}
		}
	}
	for n, l := range lanes {
		if !left[n] {
			shown = append(shown, l)
		}
	}
	return shown, len(left)
}
