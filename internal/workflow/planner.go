package workflow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/workflow/definition"
)

const (
	// planMost is how many steps one look takes, and planTasks how many tasks of maps one
	// transaction writes, unless a single map has more.
	planMost  = 200
	planTasks = 2000
	// depthMost is how deeply jobs may be nested, because a workflow that contains itself
	// would never end.
	depthMost = 10
)

// plan is the decision about a task at the gate plan: the JSON that weir.workflow_plan
// takes.
type plan struct {
	Task weir.ID `json:"task"`
	Job  weir.ID `json:"job"`
	Do   string  `json:"do"`

	Params   json.RawMessage   `json:"params,omitempty"`
	Labels   map[string]string `json:"labels,omitempty"`
	Run      json.RawMessage   `json:"run,omitempty"`
	Hold     string            `json:"hold,omitempty"`
	Delay    string            `json:"delay,omitempty"`
	Patience json.RawMessage   `json:"patience,omitempty"`
	Ask      *definition.Ask   `json:"ask,omitempty"`

	Outcome  string          `json:"outcome,omitempty"`
	Result   json.RawMessage `json:"result,omitempty"`
	Cause    string          `json:"cause,omitempty"`
	Passes   bool            `json:"passes,omitempty"`
	Tolerate []weir.ID       `json:"tolerate,omitempty"`

	Tasks []definition.Task `json:"tasks,omitempty"`
	Reuse []string          `json:"reuse,omitempty"`

	Name       string          `json:"name,omitempty"`
	Definition weir.ID         `json:"definition,omitzero"`
	Priority   int             `json:"priority"`
	Options    json.RawMessage `json:"options,omitempty"`
	Key        string          `json:"key,omitempty"`
	Trace      string          `json:"trace,omitempty"`

	// bound is set at the end of a map whose items had a pool.
	bound bool
}

// sight is a look at the tasks at the gate plan, with everything that their templates may
// read.
type sight struct {
	steps []step
	// needs are the ended tasks of each job by key, items those of each map.
	needs map[weir.ID]map[string]definition.NeedFacts
	items map[weir.ID][]taskRow
}

// step is a task at the gate plan with its definition. If fault is set, the definition
// cannot be read.
type step struct {
	waiting
	parsed  *parsed
	options jobOptions
	params  map[string]any
	fault   error
}

// plan decides about the tasks at the gate plan. more is set if there are others, or if
// jobs were opened.
func (l *leader) plan(ctx context.Context, now time.Time) (more bool, err error) {
	waits, err := l.planning(ctx, planMost)
	if err != nil {
		return false, fmt.Errorf("look for steps to plan: %w", err)
	}
	seen, err := l.look(ctx, waits)
	if err != nil {
		return false, err
	}
	var list []plan
	tasks, opened := 0, false
	for i := range seen.steps {
		p, err := l.decide(ctx, &seen.steps[i], seen)
		if err != nil {
			return false, err
		}
		opened = opened || p.Do == "child"
		if tasks += len(p.Tasks); len(list) > 0 && tasks > planTasks {
			if err := l.writePlans(ctx, now, list); err != nil {
				return false, err
			}
			list, tasks = nil, len(p.Tasks)
		}
		list = append(list, p)
	}
	return opened || len(waits) == planMost, l.writePlans(ctx, now, list)
}

// look reads the definitions of steps and their facts: results of needs in one statement,
// items of maps in another.
func (l *leader) look(ctx context.Context, waits []waiting) (sight, error) {
	seen := sight{needs: map[weir.ID]map[string]definition.NeedFacts{}, items: map[weir.ID][]taskRow{}}
	jobs, keys := map[weir.ID]bool{}, map[string]bool{}
	var mapJobs []weir.ID
	var mapKeys []string
	for _, w := range waits {
		if !l.broken[w.task].IsZero() {
			continue
		}
		s, err := l.openStep(ctx, w)
		if err != nil {
			return seen, err
		}
		if s.fault == nil {
			reads, err := s.parsed.Reads(w.key)
			s.fault = err
			for _, key := range reads {
				jobs[w.job.ID], keys[key] = true, true
			}
		}
		if w.split {
			mapJobs, mapKeys = append(mapJobs, w.job.ID), append(mapKeys, w.key)
		}
		seen.steps = append(seen.steps, s)
	}
	if len(keys) > 0 {
		rows, err := l.facts(ctx, list(jobs), list(keys))
		if err != nil {
			return seen, fmt.Errorf("read results of needs: %w", err)
		}
		for _, t := range rows {
			if seen.needs[t.Job] == nil {
				seen.needs[t.Job] = map[string]definition.NeedFacts{}
			}
			seen.needs[t.Job][t.Key] = t.facts()
		}
	}
	if len(mapJobs) > 0 {
		rows, err := l.items(ctx, mapJobs, mapKeys)
		if err != nil {
			return seen, fmt.Errorf("read items of maps: %w", err)
		}
		for _, t := range rows {
			seen.items[t.Job] = append(seen.items[t.Job], t)
		}
	}
	return seen, nil
}

// openStep reads the definition and the options of a step's job.
func (l *leader) openStep(ctx context.Context, w waiting) (s step, err error) {
	s.waiting = w
	if s.parsed, err = l.load(ctx, w.job.Definition); err == nil {
		if s.options, err = w.job.optionsOf(); err == nil {
			s.params, s.fault = s.parsed.Input(s.options.Options)
		}
	}
	if p := (*problem.Problem)(nil); errors.As(err, &p) {
		s.fault, err = p, nil
	}
	return s, err
}

func (t *taskRow) facts() definition.NeedFacts {
	return definition.NeedFacts{State: t.State, Result: t.Result, Error: t.Cause, Node: t.Node}
}

// decide returns what happens to a step. A fault of the step fails it; an error is the
// database's.
func (l *leader) decide(ctx context.Context, s *step, seen sight) (plan, error) {
	switch {
	case s.fault != nil:
		return s.fail(said(s.fault)), nil
	case !s.child.IsZero():
		return l.childEnded(ctx, s)
	case s.split:
		return s.itemsEnded(seen.items[s.job.ID]), nil
	}
	r, err := s.parsed.Resolve(s.key, definition.Facts{Params: s.params, Options: s.options.Options, Job: s.job.facts(s.options), Needs: seen.needs[s.job.ID], Own: s.waiting.params})
	switch {
	case err != nil:
		return s.fail(said(err)), nil
	case r.Skip:
		return s.end(plan{Outcome: "skipped", Cause: r.Because, Passes: true}), nil
	case r.Mapped:
		kept, err := l.keepItems(ctx, s, r.Items)
		return s.mapped(r.Items, kept), err
	case r.Workflow != "":
		return l.child(ctx, s, r)
	}
	p := plan{Task: s.task, Job: s.job.ID, Do: "plan", Params: r.Params, Labels: r.Labels, Run: r.Run, Hold: r.Hold, Delay: interval(r.Delay), Ask: r.Ask}
	if p.Labels == nil {
		p.Labels = map[string]string{}
	}
	p.Patience = patienceOf([]definition.Task{{Key: s.key, Patience: r.Patience}})
	return p, nil
}

func (s *step) end(p plan) plan {
	p.Task, p.Job, p.Do = s.task, s.job.ID, "end"
	return p
}

func (s *step) fail(cause string) plan { return s.end(plan{Outcome: "failed", Cause: cause}) }

// mapped splits a step into its items; kept are those that need not run. A limit is a
// pool of its own, which weir.workflow_plan makes; lint refuses it beside another pool.
func (s *step) mapped(items []definition.Task, kept []string) plan {
	if len(items) == 0 {
		return s.end(plan{Outcome: "done", Result: json.RawMessage(`{"items": [], "failed": 0}`)})
	}
	if s.parsed.Step(s.key).Map.Limit > 0 {
		for i := range items {
			items[i].Pool = mapPool(s.task)
		}
	}
	return plan{Task: s.task, Job: s.job.ID, Do: "map", Tasks: items, Reuse: kept, Patience: patienceOf(items)}
}

// mapPool returns the name of the pool that bounds a map.
func mapPool(task weir.ID) string { return "map:" + task.String() }

// itemsEnded decides about a map whose items have ended. Tolerated failures do not count
// against the job either.
func (s *step) itemsEnded(all []taskRow) plan {
	var items []definition.NeedFacts
	var failed []weir.ID
	for i := range all {
		t := &all[i]
		if !strings.HasPrefix(t.Key, s.key+"[") {
			continue
		}
		one := t.facts()
		one.Key = t.Key
		items = append(items, one)
		if t.State == "failed" {
			failed = append(failed, t.ID)
		}
	}
	bound := s.parsed.Step(s.key).Map.Limit > 0
	done, result, cause := s.parsed.Outcome(s.key, items)
	if !done {
		return s.end(plan{Outcome: "failed", Cause: cause, bound: bound})
	}
	return s.end(plan{Outcome: "done", Result: result, Tolerate: failed, bound: bound})
}

// writePlans writes plans in one transaction. If one of them is refused, it writes them
// one by one, and that step fails with the refusal.
func (l *leader) writePlans(ctx context.Context, now time.Time, list []plan) error {
	if len(list) == 0 {
		return nil
	}
	text, err := json.Marshal(list)
	if err != nil {
		return err
	}
	_, err = l.write(ctx, planSQL, text)
	switch {
	case err == nil:
		return l.dropPools(ctx, list)
	case !refused(err):
		return fmt.Errorf("plan %d steps: %w", len(list), err)
	case len(list) == 1:
		return l.refuse(ctx, now, list[0], err)
	}
	for i := range list {
		if err := l.writePlans(ctx, now, list[i:i+1]); err != nil {
			return err
		}
	}
	return nil
}

// refuse fails a step whose plan the database refuses. If even that is refused, the step
// is left alone for a while.
func (l *leader) refuse(ctx context.Context, now time.Time, p plan, cause error) error {
	l.log.Warn("a step cannot be planned", "task", p.Task, "job", p.Job, "error", cause)
	if p.Do == "end" && p.Outcome == "failed" {
		l.broken[p.Task] = now.Add(brokenFor)
		return nil
	}
	return l.writePlans(ctx, now, []plan{{Task: p.Task, Job: p.Job, Do: "end", Outcome: "failed", Cause: said(cause)}})
}

// dropPools drops the pools of maps that have ended.
func (l *leader) dropPools(ctx context.Context, list []plan) error {
	for i := range list {
		if !list[i].bound {
			continue
		}
		if err := l.did(ctx, dropPoolSQL, mapPool(list[i].Task)); err != nil {
			return fmt.Errorf("drop the pool of a map: %w", err)
		}
	}
	return nil
}

func list[K comparable](set map[K]bool) []K {
	out := make([]K, 0, len(set))
	for k := range set {
		out = append(out, k)
	}
	return out
}
