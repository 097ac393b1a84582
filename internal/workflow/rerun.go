package workflow

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/workflow/definition"
)

// RerunRequest says which part of a job is run again. The zero value means all of it.
type RerunRequest struct {
	// From is a step: it and its dependents run again, and so does everything that was
	// not done.
	From string
	// Failed runs again what was not done, and its dependents.
	Failed bool
	// By is the user who asks; it is stored with the job's options.
	By string
	// MaySkip is called if the job left out a step, because the new one does too. Nil
	// means that the caller may.
	MaySkip MaySkip
}

// reused is a step that ends as it did in the origin, without running.
type reused struct {
	Key     string          `json:"key"`
	Outcome string          `json:"outcome"`
	Result  json.RawMessage `json:"result,omitempty"`
	Cause   string          `json:"cause,omitempty"`
}

// Rerun makes a new job that runs another one again, with the same options and the same
// version of the workflow. Its origin is the old one. Steps that are not run again end
// with the result they had.
func (s *Store) Rerun(ctx context.Context, job weir.ID, r RerunRequest) (weir.ID, error) {
	if r.From != "" && r.Failed {
		return weir.ID{}, problem.Refuse("from", "choose one of them", "from a step and only the failed ones exclude each other")
	}
	old, err := s.jobOf(ctx, job)
	if err != nil {
		return weir.ID{}, err
	}
	if old.Definition.IsZero() {
		return weir.ID{}, problem.New(problem.Conflict, "submit its tasks again", "job %s is not a run of a workflow", job)
	}
	switch old.State {
	case "done", "failed", "canceled":
	default:
		return weir.ID{}, problem.New(problem.Conflict, "wait until it has ended, or cancel it", "job %s is %s", job, old.State)
	}
	if r.Failed && old.State == "done" {
		return weir.ID{}, problem.New(problem.Conflict, "rerun all of it, or from a step", "job %s is done: nothing failed", job)
	}
	b, err := s.load(ctx, old.Definition)
	if err != nil {
		return weir.ID{}, err
	}
	if w, err := s.Of(ctx, b.id); err != nil {
		return weir.ID{}, err
	} else if w.DeletedAt != nil {
		return weir.ID{}, problem.New(problem.Conflict, "put it again and run it, or retry the job", "version %d of workflow %q was deleted", w.Version, w.Name)
	}
	if step := b.Step(r.From); r.From != "" && (step == nil || step.Key != r.From) {
		return weir.ID{}, problem.Refuse("from", "name a step of the workflow", "%s has no step %q", b.name, r.From)
	}
	options, err := old.optionsOf()
	if err != nil {
		return weir.ID{}, err
	}
	if err := r.MaySkip.Judge(options.Options); err != nil {
		return weir.ID{}, err
	}
	options.Rerun, options.By = &RerunBody{r.From, r.Failed}, r.By
	x, err := b.opening(options)
	if err != nil {
		return weir.ID{}, err
	}
	x.Origin, x.Priority, x.ScheduledAt = job, old.Priority, old.ScheduledAt
	ids, err := s.open(ctx, []opening{x})
	if err != nil {
		return weir.ID{}, fmt.Errorf("rerun job %s: %w", job, err)
	}
	return ids[0], nil
}

// reuse returns the steps of a rerun that need not run: those that were done, or were
// skipped with their dependents continuing, and that depend on no step that runs again.
func (s *Store) reuse(ctx context.Context, b *parsed, origin weir.ID, r RerunBody) ([]reused, error) {
	if r.From == "" && !r.Failed {
		return nil, nil
	}
	tasks, err := s.tasksOf(ctx, origin)
	if err != nil {
		return nil, fmt.Errorf("read job %s: %w", origin, err)
	}
	old := map[string]taskRow{}
	for _, t := range tasks {
		old[t.Key] = t
	}
	var list []reused
	for _, key := range b.keep(r.From, old) {
		t := old[key]
		list = append(list, reused{Key: key, Outcome: t.State, Result: t.Result, Cause: t.Cause})
	}
	return list, nil
}

// fine reports whether the job continues behind the task.
func (t *taskRow) fine() bool { return t.State == "done" || t.State == "skipped" && t.Passes }

// keep returns the steps that do not run again: fine as they were, not from, and with no
// need that runs again. Each comes after its needs.
func (b *parsed) keep(from string, old map[string]taskRow) []string {
	keeps, seen := map[string]bool{}, map[string]bool{}
	var order []string
	var visit func(key string) bool
	visit = func(key string) bool {
		if seen[key] {
			return keeps[key]
		}
		seen[key] = true
		was := old[key]
		kept := key != from && was.fine() && !b.Step(key).Finally // the new job has an end of its own
		for _, need := range b.Step(key).Needs {
			kept = visit(need) && kept
		}
		if keeps[key] = kept; kept {
			order = append(order, key)
		}
		return kept
	}
	for i := range b.Steps {
		visit(b.Steps[i].Key)
	}
	return order
}

// keepItems lets the items of a map that were done in the origin end as they did there,
// if the step produces the same items again, and returns their names. A map that depends
// on the step from which the job runs again starts over, and so does one whose inputs
// come from a step that ran again.
func (l *leader) keepItems(ctx context.Context, s *step, items []definition.Task) ([]string, error) {
	r := s.options.Rerun
	if r == nil || r.From == "" && !r.Failed || s.job.Origin.IsZero() || r.From != "" && s.parsed.follows(s.key, r.From) {
		return nil, nil
	}
	old, err := l.outcomes(ctx, s.job.Origin)
	if err != nil {
		return nil, err
	}
	kept := s.parsed.keep(r.From, old)
	for _, in := range s.parsed.Step(s.key).Inputs {
		if !slices.Contains(kept, in.From) {
			return nil, nil
		}
	}
	if same, err := l.sameItems(ctx, s, items); !same {
		return nil, err
	}
	var keys []string
	for i := range items {
		if old[items[i].Key].State == "done" {
			items[i].Plan, items[i].Patience = true, nil // it waits until it is ended
			keys = append(keys, items[i].Key)
		}
	}
	return keys, nil
}

// sameItems reports whether the step would produce these items too if its needs had ended
// as they did in the origin.
func (l *leader) sameItems(ctx context.Context, s *step, items []definition.Task) (bool, error) {
	reads, err := s.parsed.Reads(s.key)
	if err != nil {
		return false, nil // it has no items then
	}
	rows, err := l.facts(ctx, []weir.ID{s.job.Origin}, reads)
	if err != nil {
		return false, fmt.Errorf("read job %s: %w", s.job.Origin, err)
	}
	needs := make(map[string]definition.NeedFacts, len(rows))
	for i := range rows {
		needs[rows[i].Key] = rows[i].facts()
	}
	was, err := s.parsed.Resolve(s.key, definition.Facts{Params: s.params, Options: s.options.Options, Job: s.job.facts(s.options), Needs: needs})
	if err != nil {
		return false, nil // its needs were different
	}
	return slices.EqualFunc(was.Items, items, func(a, b definition.Task) bool {
		return bytes.Equal(a.Params, b.Params) && bytes.Equal(a.Run, b.Run)
	}), nil
}

// follows reports whether a step is another one, or comes after it.
func (b *parsed) follows(key, other string) bool {
	seen := map[string]bool{}
	var visit func(key string) bool
	visit = func(key string) bool {
		if seen[key] {
			return false
		}
		seen[key] = true
		return key == other || slices.ContainsFunc(b.Step(key).Needs, visit)
	}
	return visit(key)
}
