package rolloutcmd

import (
	"fmt"
	"io"
	"strings"

	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/rollout"
)

// planWarning is a warning as it is printed: once for all databases that it is about.
type planWarning struct {
	rollout.PlanWarning
	// where says how many databases, and how large their tables are.
	where string
}

// plainWarnings are warnings about which nothing more is known.
func plainWarnings(found []rollout.PlanWarning) []planWarning {
	list := make([]planWarning, len(found))
	for i, w := range found {
		list[i] = planWarning{PlanWarning: w}
	}
	return list
}

// sized are the warnings of one change of a preview, each with the databases that get
// the change and how large the largest of their tables is. A change that no database
// gets has none.
func sized(v rollout.Preview, change int) (list []planWarning) {
	var tasks []rollout.PreviewTask
	known := 0
	for _, s := range v.Stages {
		for _, t := range s.Tasks {
			if t.Change != change {
				continue
			}
			known++
			if t.Skip == "" && t.Problem == "" {
				tasks = append(tasks, t)
			}
		}
	}
	if known == 0 {
		return plainWarnings(v.Changes[change].Warnings)
	}
	for _, w := range v.Changes[change].Warnings {
		if len(tasks) > 0 {
			list = append(list, sizedOne(w, tasks))
		}
	}
	return list
}

// sizedOne says how much of a warning is left where tables were counted: it is as bad
// as on the worst of the databases.
func sizedOne(w rollout.PlanWarning, tasks []rollout.PreviewTask) planWarning {
	counted, danger, most := 0, false, int64(-1)
	for _, t := range tasks {
		for _, own := range t.Warnings {
			rows, ok := rowsIn(w, own)
			if !ok {
				continue
			}
			counted++
			danger = danger || own.Severity == "danger"
			most = max(most, rows)
			break
		}
	}
	if counted == len(tasks) && !danger {
		w.Severity = "warning"
	}
	where := fmt.Sprintf(", on %s", command.Plural(len(tasks), "database", "databases"))
	switch {
	case most >= 0 && len(tasks) == 1:
		where += fmt.Sprintf(", about %s rows", thousands(most))
	case most >= 0:
		where += fmt.Sprintf(", up to %s rows", thousands(most))
	}
	return planWarning{w, where}
}

// rowsIn reads from a warning of one database how many rows the table has there, if it
// is the same warning.
func rowsIn(general, own rollout.PlanWarning) (int64, bool) {
	rest, same := strings.CutPrefix(own.What, general.What+" (about ")
	if !same || own.Code != general.Code || own.Line != general.Line {
		return 0, false
	}
	var rows int64
	_, err := fmt.Sscan(strings.ReplaceAll(rest, ",", ""), &rows)
	return rows, err == nil
}

// printWarnings writes each warning with why it hurts and the safer form. What was told
// of one is not told again of its like.
func printWarnings(o *command.Output, to io.Writer, warnings []planWarning, indent string, told map[string]bool) {
	for _, w := range warnings {
		color := command.Yellow
		if w.Severity == "danger" {
			color = command.Red
		}
		at := ""
		if w.Line > 0 {
			at = fmt.Sprintf(" line %d", w.Line)
		}
		fmt.Fprintf(to, "%s%s change %s%s: %s%s (%s)\n", indent, o.Paint(color, w.Severity), command.Clean(w.Change), at, command.Clean(w.What), w.where, command.Clean(w.Code))
		key := w.Code + w.Why + w.Instead
		if told[key] {
			continue
		}
		told[key] = true
		for _, more := range []struct{ label, text string }{{"why", w.Why}, {"instead", w.Instead}} {
			if more.text == "" {
				continue
			}
			lines := strings.Split(strings.TrimRight(command.CleanLines(more.text), "\n"), "\n")
			fmt.Fprintf(to, "%s  %s: %s\n", indent, more.label, lines[0])
			for _, line := range lines[1:] {
				fmt.Fprintf(to, "%s  %s  %s\n", indent, strings.Repeat(" ", len(more.label)), line)
			}
		}
	}
}

// thousands writes 1200000 as 1,200,000.
func thousands(n int64) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
