package definition

import (
	"fmt"
	"slices"
	"strings"
)

// Preview is what would happen to one step if the workflow ran now.
type Preview struct {
	Key     string            `json:"key"`
	What    string            `json:"what" doc:"runs, skipped, later (known once its needs have ended), items or workflow."`
	Because string            `json:"because,omitempty"`
	Needs   []string          `json:"needs,omitempty"`
	Service string            `json:"service"`
	Labels  map[string]string `json:"labels,omitempty"`
	Pool    string            `json:"pool,omitempty"`
	Hold    string            `json:"hold,omitempty"`
	Task    *Task             `json:"task,omitempty" doc:"What would be submitted, as far as it is known."`
}

// Preview returns for each step what would happen to it, as far as the params determine
// it. It needs no server.
func (d *Definition) Preview(in Input) ([]Preview, error) {
	tasks, err := d.Plan(in)
	if err != nil {
		return nil, err
	}
	previews := make([]Preview, len(tasks))
	env := d.env(in.Params, in.Job, nil)
	for i := range tasks {
		t, s := &tasks[i], &d.Steps[i]
		p := &previews[i]
		*p = Preview{Key: t.Key, What: "runs", Needs: t.Needs, Service: t.Service, Labels: t.Labels, Pool: s.Pool, Hold: t.Hold, Task: t}
		if s.Finally {
			p.Needs = s.Needs
		}
		if t.Plan {
			d.foresee(p, s, in, env)
		}
		if s.Finally && p.What != "skipped" {
			p.Because = strings.TrimSuffix("at the end, however the job ends; "+p.Because, "; ")
		}
	}
	return previews, nil
}

// foresee fills in what is known of a dynamic step before anything has run.
func (d *Definition) foresee(p *Preview, s *Step, in Input, env map[string]any) {
	if in.Options.Steps[s.Key].Skip {
		p.What, p.Because = "skipped", "the options of the job leave it out"
		return
	}
	c, _ := d.compile(s)
	if c.when != nil {
		if keys, all := needed(c.when.refs); len(keys) > 0 || all {
			p.What, p.Because = "later", fmt.Sprintf("when %s, known after %s", s.When, after(keys, s))
			return
		}
		switch yes, err := c.when.truth(env); {
		case err != nil:
			p.What, p.Because = "later", "when "+s.When+": "+err.Error()
			return
		case !yes:
			p.What, p.Because = "skipped", "when is false: "+s.When
			return
		}
	}
	switch {
	case s.Map != nil:
		p.What, p.Because = "items", d.foreseeItems(c, env)
	case s.Workflow != "":
		p.What, p.Because = "workflow", "as a job of "+s.Workflow
	case s.Wait != nil:
		p.What, p.Because = "waits", "for the event "+s.EventOf()
	case s.Sticky != nil:
		p.Because = "on the node of " + s.Sticky.To
	default:
		if keys, all := needed(c.all); len(keys) > 0 || all {
			p.Because = "its params are known after " + after(keys, s)
		}
	}
	if s.Delay > 0 {
		p.Because = strings.TrimPrefix(p.Because+", "+s.Delay.String()+" after its needs", ", ")
	}
}

func (d *Definition) foreseeItems(c *compiled, env map[string]any) string {
	m := c.step.Map
	limit := ""
	if m.Limit > 0 {
		limit = fmt.Sprintf(", %d at once", m.Limit)
	}
	if c.over != nil {
		if keys, all := needed(c.over.refs); len(keys) > 0 || all {
			return fmt.Sprintf("one for each of %s, known after %s%s", c.over.source, after(keys, c.step), limit)
		}
	}
	for _, axis := range sortedKeys(c.axes) {
		if keys, all := needed(c.axes[axis].refs); len(keys) > 0 || all {
			return fmt.Sprintf("one for each combination of %s, known after %s%s", strings.Join(sortedKeys(m.Matrix), ", "), after(keys, c.step), limit)
		}
	}
	items, err := d.over(c, env)
	if err != nil {
		return err.Error()
	}
	named := ""
	if len(m.Matrix) > 0 && len(items) > 0 {
		keys := itemKeys(c.step, items)
		named = ": " + strings.Join(keys[:min(len(keys), 6)], ", ")
		if len(keys) > 6 {
			named += " …"
		}
	}
	return fmt.Sprintf("%d items%s%s", len(items), limit, named)
}

func after(keys []string, s *Step) string {
	if len(keys) == 0 {
		keys = s.Needs
	}
	return strings.Join(keys, ", ")
}

// Explain writes the preview for a person, one step per line.
func (d *Definition) Explain(in Input) (string, error) {
	previews, err := d.Preview(in)
	if err != nil {
		return "", err
	}
	wide := 0
	for i := range previews {
		wide = max(wide, len(previews[i].Key))
	}
	var b strings.Builder
	for _, p := range previews {
		fmt.Fprintf(&b, "%-*s  %-8s", wide, p.Key, p.What)
		parts := []string{}
		if p.What != "workflow" && p.What != "skipped" && p.What != "waits" {
			parts = append(parts, where(p))
		}
		if len(p.Needs) > 0 {
			parts = append(parts, "after "+strings.Join(p.Needs, ", "))
		}
		if p.Hold != "" {
			parts = append(parts, "held for "+p.Hold)
		}
		if p.Because != "" {
			parts = append(parts, p.Because)
		}
		b.WriteString("  " + strings.Join(parts, "; ") + "\n")
	}
	return b.String(), nil
}

// where returns the class of a step: its service and labels, and its pool.
func where(p Preview) string {
	out := p.Service
	if len(p.Labels) > 0 {
		pairs := make([]string, 0, len(p.Labels))
		for key, value := range p.Labels {
			pairs = append(pairs, key+"="+value)
		}
		slices.Sort(pairs)
		out += "{" + strings.Join(pairs, ",") + "}"
	}
	if p.Pool != "" {
		out += " in pool " + p.Pool
	}
	return out
}
