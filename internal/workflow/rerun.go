package workflow

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/problem"
)

// RerunRequest says what of a job is done again. The zero value is all of it.
type RerunRequest struct {
	// From is a step: it and all that comes after it run again, and whatever was
	// not done.
	From string
	// Failed: what was not done runs again, and all that comes after it.
	Failed bool
	// By says who asks; it is kept with the job's options.
	By string
}

// rerun is what the options of the new job keep of it.
type rerun struct {
	From   string `json:"from,omitempty"`
	Failed bool   `json:"failed,omitempty"`
}

// reused is a step that ends as it did in the origin, without running.
type reused struct {
	Key     string          `json:"key"`
	Outcome string          `json:"outcome"`
	Result  json.RawMessage `json:"result,omitempty"`
	Cause   string          `json:"cause,omitempty"`
}

// Rerun makes a new job that does another again, with the same options and the
// same version of the workflow. Its origin is the old one. Steps that are not to
// be done again end with the result they had.
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
	if step := b.Step(r.From); r.From != "" && (step == nil || step.Key != r.From) {
		return weir.ID{}, problem.Refuse("from", "name a step of the workflow", "%s has no step %q", b.name, r.From)
	}
	options, err := old.optionsOf()
	if err != nil {
		return weir.ID{}, err
	}
	options.Rerun, options.By = &rerun{r.From, r.Failed}, r.By
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

// reuse are the steps of a rerun that need not run: those that were done, or
// were skipped so that others went on, and that come after none that runs again.
func (s *Store) reuse(ctx context.Context, b *book, origin weir.ID, r rerun) ([]reused, error) {
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
	for _, key := range b.keep(r.From, func(key string) bool {
		t := old[key]
		return t.State == "done" || t.State == "skipped" && t.Passes
	}) {
		t := old[key]
		list = append(list, reused{Key: key, Outcome: t.State, Result: t.Result, Cause: t.Cause})
	}
	return list, nil
}

// keep are the steps that do not run again: fine as they were, not from, and
// with no need that runs again. Each comes after its needs.
func (b *book) keep(from string, fine func(key string) bool) []string {
	keeps, seen := map[string]bool{}, map[string]bool{}
	var order []string
	var visit func(key string) bool
	visit = func(key string) bool {
		if seen[key] {
			return keeps[key]
		}
		seen[key] = true
		kept := key != from && fine(key)
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
