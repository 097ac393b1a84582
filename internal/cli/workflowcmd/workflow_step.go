package workflowcmd

import (
	"fmt"
	"strings"

	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/workflow"
	"github.com/weirhq/weir/internal/workflow/definition"
)

// stepListing shows the steps of a definition.
var stepListing = command.Listing[definition.Step]{
	Name:  func(s definition.Step) string { return s.Key },
	Empty: []string{"It has no steps."},
	Columns: []command.Column[definition.Step]{
		{Title: "STEP", Value: func(_ *command.Output, s definition.Step) string { return s.Key }},
		{Title: "SERVICE", Value: func(_ *command.Output, s definition.Step) string {
			if s.Workflow != "" {
				return "workflow " + s.Workflow
			}
			return s.Service
		}},
		{Title: "NEEDS", Value: func(_ *command.Output, s definition.Step) string { return strings.Join(s.Needs, ",") }},
		{Title: "LABELS", Wide: true, Value: func(_ *command.Output, s definition.Step) string { return command.Labels(s.Labels) }},
		{Title: "POOL", Wide: true, Value: func(_ *command.Output, s definition.Step) string { return s.Pool }},
		{Title: "NOTE", Value: func(_ *command.Output, s definition.Step) string { return stepNote(s) }},
	},
}

// stepNote is what is special about a step.
func stepNote(s definition.Step) string {
	var notes []string
	add := func(given bool, format string, args ...any) {
		if given {
			notes = append(notes, fmt.Sprintf(format, args...))
		}
	}
	add(s.Rule != "" && s.Rule != "all_success", "rule %s", s.Rule)
	add(s.When != "", "when %s", s.When)
	add(s.Approval != nil, "waits for approval: %s", s.Approval.Words())
	add(s.Wait != nil, "waits for the event %s", s.EventOf())
	if s.Map != nil {
		add(true, "one for each of %v", s.Map.Over)
	}
	if s.Run != nil {
		add(len(s.Run.Argv) > 0, "%s", strings.Join(s.Run.Argv, " "))
		add(s.Run.Image != "", "in %s", s.Run.Image)
		add(s.Run.URL != "", "%s", s.Run.URL)
	}
	return strings.Join(notes, "; ")
}

// planListing shows what would become of steps; where is left out if nobody
// was asked.
func planListing(where bool) command.Listing[workflow.Preview] {
	l := command.Listing[workflow.Preview]{
		Name:  func(p workflow.Preview) string { return p.Key },
		Empty: []string{"It has no steps."},
		Columns: []command.Column[workflow.Preview]{
			{Title: "STEP", Value: func(_ *command.Output, p workflow.Preview) string { return p.Key }},
			{Title: "WHAT", Value: func(_ *command.Output, p workflow.Preview) string { return p.What }},
			{Title: "SERVICE", Value: func(_ *command.Output, p workflow.Preview) string { return p.Service }},
			{Title: "NEEDS", Value: func(_ *command.Output, p workflow.Preview) string { return strings.Join(p.Needs, ",") }},
			{Title: "LABELS", Wide: true, Value: func(_ *command.Output, p workflow.Preview) string { return command.Labels(p.Labels) }},
			{Title: "PARAMS", Wide: true, Value: func(_ *command.Output, p workflow.Preview) string {
				if p.Task == nil {
					return ""
				}
				return string(p.Task.Params)
			}},
		},
	}
	if where {
		l.Columns = append(l.Columns, command.Column[workflow.Preview]{Title: "WHERE", Value: func(_ *command.Output, p workflow.Preview) string { return planWhere(p) }, Paint: func(s string) string {
			if s == "nobody" {
				return command.Yellow
			}
			return command.Plain
		}})
	}
	l.Columns = append(l.Columns, command.Column[workflow.Preview]{Title: "NOTE", Value: func(_ *command.Output, p workflow.Preview) string { return planNote(p) }})
	return l
}

// runsNowhere says that a step would wait: nobody there can take it.
func runsNowhere(p workflow.Preview) bool { return len(p.Nodes) == 0 && len(p.WhyNot) > 0 }

// planWhere names the nodes that could take a step.
func planWhere(p workflow.Preview) string {
	const most = 3
	switch {
	case runsNowhere(p):
		return "nobody"
	case len(p.Nodes) > most:
		return fmt.Sprintf("%s +%d", strings.Join(p.Nodes[:most], ","), len(p.Nodes)-most)
	}
	return strings.Join(p.Nodes, ",")
}

// planNote is why a step does not simply run.
func planNote(p workflow.Preview) string {
	var notes []string
	if p.Because != "" {
		notes = append(notes, p.Because)
	}
	if p.Hold != "" {
		notes = append(notes, "held: "+p.Hold)
	}
	if p.Pool != "" {
		notes = append(notes, "pool "+p.Pool)
	}
	if runsNowhere(p) {
		notes = append(notes, p.WhyNot...)
	}
	return strings.Join(notes, "; ")
}
