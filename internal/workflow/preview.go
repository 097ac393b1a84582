package workflow

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/weirhq/weir/internal/workflow/definition"
)

// Preview is what would happen to one step if the workflow ran now, and where.
type Preview struct {
	definition.Preview
	Nodes []string `json:"nodes,omitempty" doc:"Those that live and could take it."`
	// WhyNot says what keeps the other nodes that offer the service from taking the step,
	// or that no node offers it, and which pools, secrets, workflows and users do not exist.
	WhyNot []string `json:"why_not,omitempty" doc:"What is in the way of the others."`
}

// whyNotMost is how many nodes that cannot take a step are named.
const whyNotMost = 5

// Plan returns what would run, where, and what would not and why. It changes nothing.
func (s *Store) Plan(ctx context.Context, workflow string, version int, options definition.Options) ([]Preview, error) {
	w, err := s.Workflow(ctx, workflow, version)
	if err != nil {
		return nil, err
	}
	b, err := s.read(w, false)
	if err != nil {
		return nil, err
	}
	return s.PlanDefinition(ctx, b.Definition, options)
}

// PlanDefinition is Plan for a definition that is not stored.
func (s *Store) PlanDefinition(ctx context.Context, d *definition.Definition, options definition.Options) ([]Preview, error) {
	params, err := d.Input(options)
	if err != nil {
		return nil, err
	}
	steps, err := d.Preview(definition.Input{Params: params, Options: options, Job: definition.Job{Name: d.Name, ScheduledAt: time.Now()}})
	if err != nil {
		return nil, err
	}
	machines, err := s.machines(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]Preview, len(steps))
	for i, p := range steps {
		out[i].Preview = p
		if p.What != "skipped" && d.Step(p.Key).Workflow == "" && d.Step(p.Key).Wait == nil {
			out[i].Nodes, out[i].WhyNot = placed(p.Service, p.Labels, machines)
		}
	}
	return out, s.missing(ctx, d, out)
}

// missing adds what the steps name and the database does not have: pools, secrets,
// workflows, users.
func (s *Store) missing(ctx context.Context, d *definition.Definition, steps []Preview) error {
	named := func(step *definition.Step) [][2]string {
		var out [][2]string
		if step.Pool != "" {
			out = append(out, [2]string{"pool", step.Pool})
		}
		for _, secrets := range []map[string]string{step.Secrets, step.Files} {
			for _, key := range slices.Sorted(maps.Keys(secrets)) {
				out = append(out, [2]string{"secret", secrets[key]})
			}
		}
		if step.Workflow != "" && step.Workflow != d.Name {
			out = append(out, [2]string{"workflow", step.Workflow})
		}
		for _, name := range step.Users() {
			out = append(out, [2]string{"user", name})
		}
		return out
	}
	all := map[string][]string{}
	for i := range steps {
		for _, n := range named(d.Step(steps[i].Key)) {
			all[n[0]] = append(all[n[0]], n[1])
		}
	}
	if len(all) == 0 {
		return nil
	}
	gone, err := s.absent(ctx, all)
	if err != nil {
		return err
	}
	for i := range steps {
		for _, n := range named(d.Step(steps[i].Key)) {
			if gone[n] && steps[i].What != "skipped" {
				steps[i].WhyNot = append(steps[i].WhyNot, fmt.Sprintf("there is no %s %s", n[0], n[1]))
			}
		}
	}
	return nil
}

// warnings returns what is likely not meant in a definition and only the database knows.
func (s *Store) warnings(ctx context.Context, d *definition.Definition) (definition.Faults, error) {
	var named, gone []string
	for i := range d.Steps {
		named = append(named, d.Steps[i].Users()...)
	}
	if len(named) == 0 {
		return nil, nil
	}
	found, err := s.absent(ctx, map[string][]string{"user": named})
	for n := range found {
		gone = append(gone, n[1])
	}
	return d.WarnOfUsers(gone), err
}

// placed returns which machines could take a class, and what keeps the others from it.
func placed(service string, labels map[string]string, machines []machine) (nodes, whyNot []string) {
	for _, m := range machines {
		if !slices.Contains(m.Services, service) || slices.Contains(nodes, m.Node) {
			continue
		}
		if why := m.lacks(labels); why == "" {
			nodes = append(nodes, m.Node)
		} else if text := m.Node + ": " + why; !slices.Contains(whyNot, text) {
			whyNot = append(whyNot, text)
		}
	}
	if len(nodes) == 0 && len(whyNot) == 0 {
		whyNot = []string{fmt.Sprintf("no live worker offers %s", service)}
	}
	if over := len(whyNot) - whyNotMost; over > 0 {
		whyNot = append(whyNot[:whyNotMost], fmt.Sprintf("and %d others", over))
	}
	return nodes, whyNot
}

// lacks returns what keeps a machine that offers the service from taking the step.
func (m *machine) lacks(labels map[string]string) string {
	if m.State != "active" && m.State != "live" {
		return "is " + m.State
	}
	var missing []string
	for key, want := range labels {
		switch got, ok := m.Labels[key]; {
		case !ok:
			missing = append(missing, fmt.Sprintf("has no label %s (wants %s)", key, want))
		case got != want:
			missing = append(missing, fmt.Sprintf("has %s=%s (wants %s)", key, got, want))
		}
	}
	slices.Sort(missing)
	return strings.Join(missing, ", ")
}
