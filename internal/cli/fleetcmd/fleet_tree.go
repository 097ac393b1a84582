package fleetcmd

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/fleet"
)

// unitMarks stand for states, so that a tree can be read at a glance.
var unitMarks = map[string]string{
	fleet.UnitWaiting: "○", fleet.UnitRunning: "●", fleet.UnitRetrying: "◔", fleet.UnitDone: "✓",
	fleet.UnitFailed: "✗", fleet.UnitMissed: "?", fleet.UnitCanceled: "–",
}

// leftOut is the order in which units give way when there is no room for all.
var leftOut = []string{fleet.UnitDone, fleet.UnitCanceled, fleet.UnitWaiting, fleet.UnitMissed, fleet.UnitFailed, fleet.UnitRetrying, fleet.UnitRunning}

// pcBranch is a PC with the units of its devices.
type pcBranch struct {
	name   string
	units  []fleet.Unit
	counts fleet.Counts
}

// drawFleet is a fleet job as lines of at most the terminal's width: a head with its
// progress, a line per PC, a line per device below it. If there is no room for all,
// devices that are done are left out first, then those that wait.
func drawFleet(o *command.Output, p fleetPage, room int) []string {
	head := fmt.Sprintf("%s  %s  %d/%d", command.Clean(p.Name), p.State, endedUnits(p.Counts), p.Counts.Total)
	if p.ActivatedAt != nil {
		head += "  " + command.Span(o.Now.Sub(*p.ActivatedAt))
	}
	lines := []string{o.Paint(command.Bold, command.Cut(head, max(o.Width-command.BarCells-3, 20))) + "  " + command.Bar(unitShare(p.Counts))}
	if said := cmp.Or(fleetNote(o, p.Job), p.why); said != "" && p.EndedAt == nil {
		lines = append(lines, "  "+o.Paint(command.Yellow, command.Cut(command.Clean(said), max(o.Width-3, 8))))
	}
	branches := branchesOf(p.Units)
	if most := max(room-len(lines)-1, 3); len(branches) > most {
		lines = append(lines, drawBranches(o, branches[:most], 0)...)
		return append(lines, fmt.Sprintf("  … and %s more", command.Plural(len(branches)-most, "PC", "PCs")))
	}
	return append(lines, drawBranches(o, branches, room-len(lines)-len(branches)-1)...)
}

func unitShare(c fleet.Counts) float64 {
	if c.Total == 0 {
		return 0
	}
	return float64(endedUnits(c)) / float64(c.Total) * 100
}

// drawBranches draws PCs and, as far as there is room, their devices.
func drawBranches(o *command.Output, branches []pcBranch, room int) (lines []string) {
	shown, hidden := fitUnits(branches, room)
	names := 0
	for _, b := range branches {
		names = max(names, command.Cells(command.Clean(b.name)))
	}
	names = min(names, 32, max(o.Width/3, 8))
	for _, b := range branches {
		name := command.Cut(command.Clean(b.name), names)
		said := command.Cut(fmt.Sprintf("%s  %s", command.Bar(unitShare(b.counts)), unitCounts(b.counts)), max(o.Width-names-5, 8))
		lines = append(lines, "  "+o.Paint(command.Bold, name)+strings.Repeat(" ", max(names-command.Cells(name), 0))+"  "+said)
		for _, u := range b.units {
			if shown[u.Unit] {
				lines = append(lines, drawUnit(o, u))
			}
		}
	}
	if hidden > 0 && room > 0 {
		lines = append(lines, fmt.Sprintf("  … and %s more", command.Plural(hidden, "run", "runs")))
	}
	return lines
}

func drawUnit(o *command.Output, u fleet.Unit) string {
	said := unitSaid(o, u)
	if u.State == fleet.UnitRunning && u.StartedAt != nil {
		said = command.Span(o.Now.Sub(*u.StartedAt))
		if u.Attempt > 1 {
			said += fmt.Sprintf(", attempt %d", u.Attempt)
		}
	}
	name := command.Cut(command.Clean(unitName(u)), max(o.Width/2, 12))
	used := 6 + command.Cells(name) + 2 + 8 + 2
	return "    " + o.Paint(fleetColor(u.State), unitMarks[u.State]) + " " + name + "  " + o.Paint(fleetColor(u.State), fmt.Sprintf("%-8s", u.State)) + "  " + command.Cut(command.Clean(said), max(o.Width-used-1, 8))
}

// branchesOf groups units by PC, in the order of the names. Those that no PC has yet
// come last.
func branchesOf(units []fleet.Unit) []pcBranch {
	by := map[string]*pcBranch{}
	var names []string
	for _, u := range units {
		b := by[u.PC]
		if b == nil {
			b = &pcBranch{name: u.PC}
			by[u.PC], names = b, append(names, u.PC)
		}
		b.units = append(b.units, u)
		b.count(u.State)
	}
	slices.SortFunc(names, func(a, b string) int {
		if (a == "") != (b == "") {
			return len(b) - len(a) // the nameless one is last
		}
		return strings.Compare(a, b)
	})
	branches := make([]pcBranch, len(names))
	for i, name := range names {
		branches[i] = *by[name]
		if name == "" {
			branches[i].name = "any PC"
		}
	}
	return branches
}

func (b *pcBranch) count(state string) {
	c := &b.counts
	c.Total++
	switch state {
	case fleet.UnitWaiting:
		c.Waiting++
	case fleet.UnitRunning:
		c.Running++
	case fleet.UnitRetrying:
		c.Retrying++
	case fleet.UnitDone:
		c.Done++
	case fleet.UnitFailed:
		c.Failed++
	case fleet.UnitMissed:
		c.Missed++
	case fleet.UnitCanceled:
		c.Canceled++
	}
}

// fitUnits says which units have a line, by their number, and drops what matters least.
func fitUnits(branches []pcBranch, room int) (shown map[int]bool, hidden int) {
	shown = map[int]bool{}
	for _, b := range branches {
		for _, u := range b.units {
			shown[u.Unit] = true
		}
	}
	for _, state := range leftOut {
		for _, b := range branches {
			for _, u := range b.units {
				if len(shown) > max(room, 0) && u.State == state {
					delete(shown, u.Unit)
					hidden++
				}
			}
		}
	}
	return shown, hidden
}
