package cli

import (
	"fmt"
	"strings"

	"github.com/weirhq/weir/internal/workflow"
	"github.com/weirhq/weir/internal/workflow/definition"
)

// stepListing shows the steps of a definition.
var stepListing = listing[definition.Step]{
	name:  func(s definition.Step) string { return s.Key },
	empty: []string{"It has no steps."},
	columns: []column[definition.Step]{
		{title: "STEP", value: func(_ *output, s definition.Step) string { return s.Key }},
		{title: "SERVICE", value: func(_ *output, s definition.Step) string {
			if s.Workflow != "" {
				return "workflow " + s.Workflow
			}
			return s.Service
		}},
		{title: "NEEDS", value: func(_ *output, s definition.Step) string { return strings.Join(s.Needs, ",") }},
		{title: "LABELS", wide: true, value: func(_ *output, s definition.Step) string { return labels(s.Labels) }},
		{title: "POOL", wide: true, value: func(_ *output, s definition.Step) string { return s.Pool }},
		{title: "NOTE", value: func(_ *output, s definition.Step) string { return stepNote(s) }},
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
	add(s.Approval != "", "waits for approval: %s", s.Approval)
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
func planListing(where bool) listing[workflow.Preview] {
	l := listing[workflow.Preview]{
		name:  func(p workflow.Preview) string { return p.Key },
		empty: []string{"It has no steps."},
		columns: []column[workflow.Preview]{
			{title: "STEP", value: func(_ *output, p workflow.Preview) string { return p.Key }},
			{title: "WHAT", value: func(_ *output, p workflow.Preview) string { return p.What }},
			{title: "SERVICE", value: func(_ *output, p workflow.Preview) string { return p.Service }},
			{title: "NEEDS", value: func(_ *output, p workflow.Preview) string { return strings.Join(p.Needs, ",") }},
			{title: "LABELS", wide: true, value: func(_ *output, p workflow.Preview) string { return labels(p.Labels) }},
			{title: "PARAMS", wide: true, value: func(_ *output, p workflow.Preview) string {
				if p.Task == nil {
					return ""
				}
				return string(p.Task.Params)
			}},
		},
	}
	if where {
		l.columns = append(l.columns, column[workflow.Preview]{title: "WHERE", value: func(_ *output, p workflow.Preview) string { return planWhere(p) }, paint: func(s string) string {
			if s == "nobody" {
				return yellow
			}
			return plain
		}})
	}
	l.columns = append(l.columns, column[workflow.Preview]{title: "NOTE", value: func(_ *output, p workflow.Preview) string { return planNote(p) }})
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
