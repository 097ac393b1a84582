package rolloutpages

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/rollout"
	"github.com/weirhq/weir/internal/rollout/script"
	"github.com/weirhq/weir/internal/rollout/target"
	"github.com/weirhq/weir/internal/timeline"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/ui"
)

// sqlMost is how much SQL the page of a run reads for its statements.
const sqlMost = 256 << 10

// phases are how far a run can be, in order.
var phases = []string{"claimed", "locked", "sent", "applied"}

// runView is one run of a task.
type runView struct {
	rollout.RunReport
	of    rolloutView
	names map[weir.ID]rollout.Task
	// lines are the SQL, each with what became of its statement.
	lines []sqlLine
	cut   bool
}

// sqlLine is a line of the script.
type sqlLine struct {
	text string
	// mark is "", applied, current or ended.
	mark string
	// first is where a mark begins: it is said there once.
	first bool
}

func (w *pages) rolloutRun(r *site.Request) (site.View, error) {
	store, t, err := w.runOf(r)
	if err != nil {
		return site.View{}, err
	}
	attempt, err := attemptAsked(r)
	if err != nil {
		return site.View{}, err
	}
	v := runView{}
	if v.RunReport, err = store.Run(r.Context(), t.ID, attempt); err != nil {
		return site.View{}, err
	}
	if v.of, err = w.rolloutOf(r); err != nil {
		return site.View{}, err
	}
	if v.names, err = w.blockers(r.Context(), []rollout.Task{v.Task}); err != nil {
		return site.View{}, err
	}
	v.mark(engineOf(r.Context(), store, t.Database))
	return site.View{Head: ui.Head{Title: taskLabel(t)}, Plain: true, Body: runPage(v), Follow: &timeline.Filter{Job: t.Rollout}}, nil
}

func attemptAsked(r *site.Request) (int, error) {
	text := r.Query("attempt")
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 1 {
		return 0, problem.New(problem.NotFound, "check the address", "%q is no attempt", text)
	}
	return int(n), nil
}

// engineOf is how the SQL of a database is read. One that is gone was most likely
// PostgreSQL: only marks depend on it.
func engineOf(ctx context.Context, store *rollout.Store, database string) script.Engine {
	if d, err := store.Database(ctx, database); err == nil {
		return script.Engine(d.Engine)
	}
	return script.Postgres
}

// attempt is the one that is shown; nil: none yet.
func (v runView) attempt() *rollout.Attempt {
	i := slices.IndexFunc(v.Attempts, func(a rollout.Attempt) bool { return a.Attempt == v.Attempt })
	if i < 0 {
		return nil
	}
	return &v.Attempts[i]
}

// newest says that the attempt shown is the last one: commands are about that.
func (v runView) newest() bool { return v.Attempt == v.Task.Attempt || len(v.Attempts) == 0 }

// mark cuts the SQL into lines, and says which are applied, which run now and
// where the run ended.
func (v *runView) mark(engine script.Engine) {
	text := v.SQL
	if v.cut = len(text) > sqlMost; v.cut {
		text = strings.ToValidUTF8(text[:sqlMost], "")
	}
	for line := range strings.Lines(text) {
		v.lines = append(v.lines, sqlLine{text: strings.ReplaceAll(strings.TrimRight(line, "\r\n"), "\t", "    ")})
	}
	a := v.attempt()
	if a == nil || v.cut {
		return
	}
	done := statementsDone(v.Log)
	for _, s := range done {
		v.markLines(s.Line, s.EndLine, "applied")
	}
	mark := map[string]string{rollout.Running: "current", rollout.Failed: "ended", rollout.Unknown: "ended", rollout.Canceled: "ended"}[a.Status]
	if mark == "" || a.Phase != string(target.PhaseSent) {
		return
	}
	statements, err := script.Split(engine, v.SQL)
	if err != nil {
		return // the log says what is wrong with it
	}
	for i, s := range statements {
		if _, ok := done[i]; !ok {
			v.markLines(s.Line, s.EndLine, mark)
			return
		}
	}
}

// statementsDone are the statements that stand, by their place. A retry undoes
// those of its transaction.
func statementsDone(log []rollout.LogLine) map[int]rollout.StatementDone {
	done := map[int]rollout.StatementDone{}
	for _, line := range log {
		if line.Statement == nil {
			continue
		}
		for i, s := range done {
			if s.Step == line.Statement.Step && s.Try < line.Statement.Try {
				delete(done, i)
			}
		}
		done[line.Statement.Index] = *line.Statement
	}
	return done
}

func (v *runView) markLines(from, to int, mark string) {
	for n := max(1, from); n <= min(max(from, to), len(v.lines)); n++ {
		v.lines[n-1].mark, v.lines[n-1].first = mark, n == from
	}
}

// The commands that the state of the task and the rights of the reader allow.

func (v runView) mayRetry() bool {
	return v.of.can.command && v.of.AbortedAt == nil && (v.Task.Status == rollout.Failed || v.Task.Status == rollout.Canceled)
}

func (v runView) maySkip() bool {
	switch v.Task.Status {
	case rollout.Failed:
		return v.of.can.override
	case rollout.NotStarted, rollout.Pending, rollout.Available, rollout.Canceled:
		return v.of.can.override && v.of.AbortedAt == nil
	}
	return false
}

func (v runView) mayCancel() bool {
	switch v.Task.Status {
	case rollout.Pending, rollout.Available:
		return v.of.can.command
	case rollout.Running:
		return v.of.can.command && !v.Task.Stopping
	}
	return false
}

func (v runView) mayResolve() bool { return v.of.can.override && v.Task.Status == rollout.Unknown }

// reached says how far an attempt came on the way of its phases.
func reached(phase, step string) bool {
	return slices.Index(phases, phase) >= slices.Index(phases, step)
}

// linesSaid is where a statement stands in the script.
func linesSaid(s *rollout.StatementDone) string {
	if s == nil {
		return ""
	}
	return rangeSaid(s.Line, s.EndLine)
}

// markSaid is the word beside a marked statement: colour alone says nothing.
func markSaid(ctx context.Context, mark string) string {
	switch mark {
	case "current":
		return ui.Say(ctx, "run.current")
	case "ended":
		return ui.Say(ctx, "run.failedhere")
	}
	return ui.Say(ctx, "run.applied")
}

func phaseSaid(ctx context.Context, phase string) string {
	if slices.Contains(phases, phase) {
		return ui.Say(ctx, "run.phase."+phase)
	}
	return ui.Line(phase)
}
