package rolloutcmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/rollout"
)

func printPreview(e *command.Env, o *command.Output, p planSource, v rollout.Preview, asked bool) error {
	switch {
	case o.Data():
		if err := o.Value(v); err != nil {
			return err
		}
	case o.Format == "name":
		for _, s := range v.Stages {
			for _, t := range s.Tasks {
				fmt.Fprintln(o.Out, command.Clean(s.Name+"/"+t.Database+"/"+changeLabel(t.Version, t.Name)))
			}
		}
	default:
		printStages(o, v)
		printChanges(o, v)
		sayPreview(e, o, p, v, asked)
	}
	if v.Problems > 0 {
		return command.Quiet(problem.Failed)
	}
	return nil
}

// sayPreview tells what is left to know, and what comes next.
func sayPreview(e *command.Env, o *command.Output, p planSource, v rollout.Preview, asked bool) {
	for _, x := range p.ignored {
		o.Say("Not run: %s (%s)", command.Clean(x.File), command.Clean(x.Why))
	}
	for _, note := range v.Notes {
		o.Say("Warning: %s", command.Clean(note))
	}
	switch {
	case !asked && len(p.Stages) == 0:
		o.Say("No stages are named, so it is not said where it would run. Name environments with --stage, or write a plan: weir rollout init %s", command.Clean(p.path))
	case !asked:
		o.Say("No server was asked, so it is not said which databases there are and what is applied already.")
	case v.Problems > 0:
		o.Say("%s. Nothing was run.", command.Plural(v.Problems, "run would fail", "runs would fail"))
	default:
		o.Say("Nothing was run. Create it with: weir rollout create %s%s", command.Clean(p.path), e.Said("name", "note", "stage", "parallel", "run-at"))
	}
}

// alike are databases of a stage to which the same happens.
type alike struct {
	text  string
	names []string
}

// gather puts a name to those to which the same happens, in the order of the first.
func gather(groups []alike, text, name string) []alike {
	i := slices.IndexFunc(groups, func(g alike) bool { return g.text == text })
	if i < 0 {
		return append(groups, alike{text, []string{name}})
	}
	groups[i].names = append(groups[i].names, name)
	return groups
}

// namedMost is how many databases are named before the rest is counted.
const namedMost = 3

// printStages writes, stage by stage, what its databases get: those that get the same
// in one line.
func printStages(o *command.Output, v rollout.Preview) {
	for _, s := range v.Stages {
		fmt.Fprintf(o.Out, "%s%s\n", o.Paint(command.Bold, "Stage "+command.Clean(s.Name)), command.Clean(stageTerms(s.Stage)))
		var names []string
		tasks := map[string][]rollout.PreviewTask{}
		for _, t := range s.Tasks {
			if tasks[t.Database] == nil {
				names = append(names, t.Database)
			}
			tasks[t.Database] = append(tasks[t.Database], t)
		}
		var runs, fails []alike
		for _, name := range names {
			canary := ""
			if tasks[name][0].Canary {
				canary = " (canary)"
			}
			runs = gather(runs, canary+": "+plannedRuns(tasks[name]), name)
			for _, f := range failing(tasks[name]) {
				fails = gather(fails, f, name)
			}
		}
		for _, g := range runs {
			if len(g.names) > namedMost+1 {
				g = alike{g.text, []string{who(g.names)}}
			}
			for _, name := range g.names {
				fmt.Fprintf(o.Out, "  %s%s\n", command.Clean(name), command.Clean(g.text))
			}
		}
		for _, g := range fails {
			fmt.Fprintf(o.Out, "    %s on %s: %s\n", o.Paint(command.Red, "would fail"), command.Clean(who(g.names)), command.Clean(g.text))
		}
	}
}

// failing says which changes would fail on a database, one sentence for each cause.
func failing(tasks []rollout.PreviewTask) (said []string) {
	var causes []alike
	for _, t := range tasks {
		if t.Problem != "" {
			causes = gather(causes, t.Problem, changeLabel(t.Version, t.Name))
		}
	}
	for _, c := range causes {
		said = append(said, who(c.names)+": "+c.text)
	}
	return said
}

// plannedRuns says which changes a database gets, and which it has.
func plannedRuns(tasks []rollout.PreviewTask) string {
	var runs, has []string
	for _, t := range tasks {
		if label := changeLabel(t.Version, t.Name); t.Skip != "" {
			has = append(has, label)
		} else {
			runs = append(runs, label)
		}
	}
	var parts []string
	if len(runs) > 0 {
		parts = append(parts, strings.Join(runs, ", "))
	}
	if len(has) > 0 {
		parts = append(parts, strings.Join(has, ", ")+" applied already")
	}
	return strings.Join(parts, "; ")
}

// stageTerms says how a stage begins and goes on.
func stageTerms(s rollout.Stage) string {
	var terms []string
	if s.Approvals > 0 {
		terms = append(terms, command.Plural(s.Approvals, "approval", "approvals"))
	}
	if s.Promote == rollout.PromoteManual {
		terms = append(terms, "a person lets it begin")
	}
	if s.Canary > 0 {
		terms = append(terms, command.Plural(s.Canary, "canary", "canaries")+" first")
	}
	if s.OnFailure != "" && s.OnFailure != rollout.OnFailureStop {
		terms = append(terms, "failures: "+onFailure(s.OnFailure, s.MaxFailures))
	}
	if len(terms) == 0 {
		return ""
	}
	return " (" + strings.Join(terms, ", ") + ")"
}

// printChanges writes each change with its statements, what they lock, and what a
// person should know before.
func printChanges(o *command.Output, v rollout.Preview) {
	told := map[string]bool{}
	for n, c := range v.Changes {
		fmt.Fprintf(o.Out, "\n%s  %s, %s, %s: %s, %s\n", o.Paint(command.Bold, "Change "+command.Clean(changeLabel(c.Version, c.Name))), command.Clean(c.Name), c.Kind, c.Engine,
			command.Plural(len(c.Statements), "statement", "statements"), command.Plural(c.Steps, "step", "steps"))
		for _, s := range c.Statements {
			alone := ""
			if s.Alone {
				alone = ", outside of a transaction"
			}
			fmt.Fprintf(o.Out, "  line %d: %s%s\n", s.Line, command.Clean(s.Tag), alone)
			for _, l := range s.Locks {
				blocks := ""
				if l.Blocks != "" {
					blocks = ", blocks " + l.Blocks
				}
				fmt.Fprintf(o.Out, "    locks %s: %s%s\n", command.Clean(l.Object), command.Clean(l.Mode), command.Clean(blocks))
			}
		}
		printWarnings(o, o.Out, sized(v, n), "  ", told)
	}
}

// who names databases, and counts those that are too many to name.
func who(names []string) string {
	if len(names) <= namedMost+1 {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:namedMost], ", "), len(names)-namedMost)
}
