package rolloutpages

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/weirhq/weir/internal/rollout"
	"github.com/weirhq/weir/internal/web/ui"
)

const (
	// planRows is how many databases a preview lists, planRowsFew how many of a
	// stage however many there are.
	planRows, planRowsFew = 200, 5
	// planChanges is how many changes a preview lists, and how many statements of one.
	planChanges = 50
)

// previewView is what a plan would do, as far as a page shows it.
type previewView struct {
	rollout.Preview
	// looked says that the databases were looked at.
	looked    bool
	databases int
	stages    []previewStage
	changes   []rollout.PreviewChange
}

type previewStage struct {
	rollout.StageState
	rows []previewRow
	more int
}

// previewRow is what one database gets.
type previewRow struct {
	database  string
	canary    bool
	runs, has []string
	problems  []string
	warnings  []rollout.PlanWarning
}

// weight puts a database with a problem before others.
func (r previewRow) weight() int {
	switch {
	case len(r.problems) > 0:
		return 0
	case len(r.warnings) > 0:
		return 1
	}
	return 2
}

func newPreview(v rollout.Preview, looked bool) *previewView {
	out := &previewView{Preview: v, looked: looked, databases: databasesOf(v), changes: v.Changes[:min(len(v.Changes), planChanges)]}
	most := max(planRowsFew, planRows/max(len(v.Stages), 1))
	for _, s := range v.Stages {
		rows := previewRows(s.Tasks)
		stage := previewStage{StageState: rollout.StageState{
			Name: s.Name, Databases: len(rows), Approvals: s.Approvals, Promote: s.Promote, Canary: s.Canary, OnFailure: cmp.Or(s.OnFailure, rollout.OnFailureStop), MaxFailures: s.MaxFailures,
		}}
		slices.SortStableFunc(rows, func(a, b previewRow) int { return cmp.Compare(a.weight(), b.weight()) })
		stage.rows = rows[:min(len(rows), most)]
		stage.more = len(rows) - len(stage.rows)
		out.stages = append(out.stages, stage)
	}
	return out
}

// previewRows gathers tasks by database, in the order of the plan.
func previewRows(tasks []rollout.PreviewTask) (rows []previewRow) {
	at := map[string]int{}
	for _, t := range tasks {
		i, known := at[t.Database]
		if !known {
			i = len(rows)
			at[t.Database] = i
			rows = append(rows, previewRow{database: t.Database, canary: t.Canary})
		}
		row, label := &rows[i], ui.Line(cmp.Or(t.Version, t.Name))
		if t.Skip != "" {
			row.has = append(row.has, label)
		} else {
			row.runs = append(row.runs, label)
		}
		if t.Problem != "" {
			row.problems = append(row.problems, label+": "+ui.Line(t.Problem))
		}
		row.warnings = append(row.warnings, t.Warnings...)
	}
	return rows
}

// someOf is a list in a line, cut where nobody reads on.
func someOf(words []string) string { return ui.Cut(strings.Join(words, ", "), 160) }

// lockSaid is a lock in a line.
func lockSaid(l rollout.Lock) string {
	return strings.TrimSpace(ui.Line(l.Object) + " " + ui.Line(l.Mode))
}

// rangeSaid is where a statement stands.
func rangeSaid(from, to int) string {
	if to > from {
		return fmt.Sprintf("%d–%d", from, to)
	}
	return strconv.Itoa(from)
}
