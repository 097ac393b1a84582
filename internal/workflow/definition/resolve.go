package definition

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/weirhq/weir/internal/problem"
)

// NeedFacts is how an earlier step ended.
type NeedFacts struct {
	Key    string // of an item, if its map names them
	State  string // done, failed, canceled, skipped
	Result any    // in the form of json.Unmarshal, or a json.RawMessage
	Error  string
	Node   string
	// Items are those of a map. Nil means those of its result.
	Items []any
}

func (n NeedFacts) env() map[string]any {
	result := n.Result
	if raw, ok := result.(json.RawMessage); ok {
		result = nil
		if len(raw) > 0 && json.Unmarshal(raw, &result) != nil {
			result = nil
		}
	}
	result = tidy(result)
	items := n.Items
	if of, ok := result.(map[string]any); ok && items == nil {
		items, _ = of["items"].([]any)
	}
	if items == nil {
		items = []any{}
	}
	return map[string]any{"state": n.State, "result": result, "error": n.Error, "node": n.Node, "items": tidy(items)}
}

// Facts are what is known when a step is resolved. Needs contains at least what
// [Definition.Reads] names.
type Facts struct {
	Params  map[string]any
	Options Options
	Job     Job
	Needs   map[string]NeedFacts
	// Own are the params of the task itself: an item of a map over a workflow is already
	// complete.
	Own json.RawMessage
}

// Resolution is what happens to a dynamic step. One of Skip, Mapped and Workflow is set,
// or the rest is the task.
type Resolution struct {
	// Skip means that the step does not run, and its dependents continue. Because says
	// why.
	Skip    bool
	Because string

	// Mapped means that Items run in its place; there may be none.
	Mapped bool
	Items  []Task

	// Workflow runs in its place. Version 0 means the newest active one.
	Workflow string
	Version  int
	Options  Options

	Params   json.RawMessage
	Labels   map[string]string
	Run      json.RawMessage
	Hold     string
	Delay    time.Duration
	Patience *Patience
	// Ask is what the step asks for while it is held. Nil means nothing but a release.
	Ask *Ask
}

// Resolve decides what happens to a dynamic step after its needs have ended. An error
// means that the step has failed: its text is the cause.
func (d *Definition) Resolve(key string, facts Facts) (Resolution, error) {
	s := d.Step(key)
	if s == nil {
		return Resolution{}, problem.New(problem.NotFound, "the steps are "+list(d.keys()), "%s has no step %q", d.Name, key)
	}
	if s.Key != key { // an item that is a workflow
		return d.itemWorkflow(s, facts)
	}
	if facts.Options.Steps[key].Skip {
		return Resolution{Skip: true, Because: "the options of the job leave it out"}, nil
	}
	c, faults := d.compile(s)
	if len(faults) > 0 {
		return Resolution{}, faults
	}
	env := d.env(facts.Params, facts.Job, facts.Needs)
	if c.when != nil {
		yes, err := c.when.truth(env)
		if err != nil {
			return Resolution{}, stepError(s, "when", err)
		}
		if !yes {
			return Resolution{Skip: true, Because: "when is false: " + s.When}, nil
		}
	}
	if s.Map != nil {
		items, err := d.items(c, facts, env)
		return Resolution{Mapped: true, Items: items}, err
	}
	m, err := d.render(c, facts.Params, facts.Options, env)
	if err != nil {
		return Resolution{}, err
	}
	if s.Workflow != "" {
		return subWorkflow(s, m.params)
	}
	if s.Wait != nil {
		return Resolution{Hold: "event " + s.EventOf(), Ask: s.ask()}, nil
	}
	if err := d.stick(s, m, facts); err != nil {
		return Resolution{}, err
	}
	return Resolution{Params: m.params, Labels: m.labels, Run: m.run, Hold: m.hold, Delay: time.Duration(s.Delay), Patience: m.patience, Ask: s.ask()}, nil
}

func (d *Definition) itemWorkflow(s *Step, facts Facts) (Resolution, error) {
	if s.Workflow == "" {
		return Resolution{}, fmt.Errorf("resolve step %s: its items need no resolving", s.Key)
	}
	return subWorkflow(s, facts.Own)
}

func subWorkflow(s *Step, params json.RawMessage) (Resolution, error) {
	name, version, _ := strings.Cut(s.Workflow, "@")
	out := Resolution{Workflow: name, Version: parseVersion(version)}
	if len(params) > 0 {
		if err := json.Unmarshal(params, &out.Options.Params); err != nil {
			return Resolution{}, fmt.Errorf("resolve step %s: read its params: %w", s.Key, err)
		}
	}
	return out, nil
}

// stick adds the node of the step beside which this one should run.
func (d *Definition) stick(s *Step, m *made, facts Facts) error {
	if s.Sticky == nil {
		return nil
	}
	node := facts.Needs[s.Sticky.To].Node
	if node == "" {
		if s.Sticky.Hard {
			return stepError(s, "sticky", fmt.Errorf("%s ran on no node, so this cannot run beside it", s.Sticky.To))
		}
		return nil
	}
	if s.Sticky.Hard {
		m.labels = merged(m.labels, map[string]string{"node": node})
		if m.patience != nil && m.patience.Labels != nil {
			m.patience.Labels = merged(m.patience.Labels, map[string]string{"node": node})
		}
		return nil
	}
	needed := m.labels
	if m.patience != nil && m.patience.Labels != nil {
		needed = m.patience.Labels
	}
	m.labels = merged(m.labels, map[string]string{"node": node})
	m.patience = d.patience(s, m.labels, needed)
	return nil
}

// items makes a task of each item. The limit is not part of it: the caller gives them a
// pool of that size.
func (d *Definition) items(c *compiled, facts Facts, env map[string]any) ([]Task, error) {
	s := c.step
	over, err := d.over(c, env)
	if err != nil {
		return nil, err
	}
	tasks, keys := make([]Task, 0, len(over)), itemKeys(s, over)
	total := 0
	for i, one := range over {
		env["item"], env["index"] = one, int64(i)
		m, err := d.render(c, facts.Params, facts.Options, env)
		if err != nil {
			return nil, fmt.Errorf("item %d: %w", i, err)
		}
		if err := d.stick(s, m, facts); err != nil {
			return nil, err
		}
		task := Task{Key: keys[i], Service: s.service(), Priority: d.priority(s, facts.Options), Pool: s.Pool, Plan: s.Workflow != ""}
		d.tries(&task, s)
		m.fill(&task)
		if total += len(task.Params) + len(task.Run); total > maxPlan {
			return nil, tooLarge("steps."+s.Key+".map", fmt.Sprintf("step %s: the items have more than 32 MiB of params", s.Key))
		}
		tasks = append(tasks, task)
	}
	return tasks, nil
}

// over returns the list that a map iterates over.
func (d *Definition) over(c *compiled, env map[string]any) ([]any, error) {
	s := c.step
	if s.Map.Matrix != nil {
		return d.product(c, env)
	}
	var v any
	var err error
	if c.over != nil {
		if v, err = c.over.evaluate(env); err != nil {
			return nil, stepError(s, "map.over", err)
		}
	} else {
		r := &renderer{c, env, newBudget()}
		if v, err = r.value("map.over", s.Map.Over); err != nil {
			return nil, err
		}
	}
	items, ok := v.([]any)
	if !ok {
		return nil, stepError(s, "map.over", fmt.Errorf("it gives %s, not a list", word(v)))
	}
	if len(items) > maxSteps {
		return nil, stepError(s, "map.over", fmt.Errorf("%d items are over the limit of %d", len(items), maxSteps))
	}
	return items, nil
}

// maxOutcome bounds the result of a map, like that of a single task.
const maxOutcome = 8 << 20

// Outcome returns how a map ended after its items ended: its result, or the cause of its
// failure. items are in order.
func (d *Definition) Outcome(key string, items []NeedFacts) (done bool, result json.RawMessage, cause string) {
	s := d.Step(key)
	results, failed, first := make([]any, len(items)), 0, -1
	for i, one := range items {
		results[i] = one.env()["result"]
		if one.State != "done" && one.State != "skipped" {
			failed++
			if first < 0 {
				first = i
			}
		}
	}
	tolerated := 0
	if s != nil && s.Map != nil {
		tolerated = s.Map.Tolerate
	}
	result = encode(map[string]any{"items": results, "failed": failed})
	if len(result) > maxOutcome { // each item still has its own
		result = encode(map[string]any{"items": []any{}, "failed": failed, "count": len(items), "too_large": true})
	}
	if failed <= tolerated {
		return true, result, ""
	}
	cause = fmt.Sprintf("%d of %d items failed; the first is %s", failed, len(items), cmp.Or(items[first].Key, ItemKey(key, first)))
	if items[first].Error != "" {
		cause += ": " + items[first].Error
	}
	return false, result, cause
}
