package workflow

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/problem"
)

// RerunRequest says which part of a job is run again, and on which version and params. The
// zero value means all of it, on its own.
type RerunRequest struct {
	RerunBody
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

// Rerun makes a new job that runs another one again. Its origin is the old one. Steps that
// are not run again end with the result they had; the verdicts say which, and why the
// others are run.
func (s *Store) Rerun(ctx context.Context, job weir.ID, r RerunRequest) (weir.ID, []Verdict, error) {
	now, err := s.askRerun(ctx, job, r)
	if err != nil {
		return weir.ID{}, nil, err
	}
	steps, err := s.verdicts(ctx, now, job, r.RerunBody)
	if err != nil {
		return weir.ID{}, nil, err
	}
	x, err := now.parsed.opening(now.options)
	if err != nil {
		return weir.ID{}, nil, err
	}
	x.Origin, x.Priority, x.ScheduledAt = job, now.job.Priority, now.job.ScheduledAt
	ids, err := s.open(ctx, []opening{x})
	if err != nil {
		return weir.ID{}, nil, fmt.Errorf("rerun job %s: %w", job, err)
	}
	return ids[0], steps, nil
}

// PlanRerun says what a rerun would do, and does nothing.
func (s *Store) PlanRerun(ctx context.Context, job weir.ID, r RerunRequest) ([]Verdict, error) {
	now, err := s.askRerun(ctx, job, r)
	if err != nil {
		return nil, err
	}
	return s.verdicts(ctx, now, job, r.RerunBody)
}

// verdicts says which steps of a rerun are reused.
func (s *Store) verdicts(ctx context.Context, now run, job weir.ID, r RerunBody) ([]Verdict, error) {
	if r.From == "" && !r.Failed {
		out := make([]Verdict, len(now.parsed.Steps))
		for i := range out {
			out[i] = verdict(now.parsed.Steps[i].Key, "again_all", nil)
		}
		return out, nil
	}
	again, err := s.rerunOf(ctx, now, job, r.From, false)
	if err != nil {
		return nil, err
	}
	return again.judge(), nil
}

// askRerun checks what is asked for, and returns the run that it would be.
func (s *Store) askRerun(ctx context.Context, job weir.ID, r RerunRequest) (now run, err error) {
	if r.From != "" && r.Failed {
		return now, problem.Refuse("from", "choose one of them", "from a step and only the failed ones exclude each other")
	}
	if r.Newest && r.Version > 0 {
		return now, problem.Refuse("version", "choose one of them", "a version and the newest one exclude each other")
	}
	if now.job, err = s.jobOf(ctx, job); err != nil {
		return now, err
	}
	if now.job.Definition.IsZero() {
		return now, problem.New(problem.Conflict, "submit its tasks again", "job %s is not a run of a workflow", job)
	}
	switch now.job.State {
	case "done", "failed", "canceled":
	default:
		return now, problem.New(problem.Conflict, "wait until it has ended, or cancel it", "job %s is %s", job, now.job.State)
	}
	if now.parsed, err = s.edition(ctx, now.job.Definition, r); err != nil {
		return now, err
	}
	same := now.parsed.id == now.job.Definition && len(r.Params) == 0
	if r.Failed && now.job.State == "done" && same {
		return now, problem.New(problem.Conflict, "rerun all of it, or from a step", "job %s is done: nothing failed", job)
	}
	if step := now.parsed.Step(r.From); r.From != "" && (step == nil || step.Key != r.From) {
		return now, problem.Refuse("from", "name a step of the workflow", "%s has no step %q", now.parsed.name, r.From)
	}
	if now.options, err = now.job.optionsOf(); err != nil {
		return now, err
	}
	if err := r.MaySkip.Judge(now.options.Options); err != nil {
		return now, err
	}
	now.options.Params = patched(now.options.Params, r.Params)
	now.options.Rerun, now.options.By = &RerunBody{From: r.From, Failed: r.Failed}, r.By
	now.params, err = now.parsed.Input(now.options.Options)
	return now, err
}

// edition returns the version that a rerun is of: that of the job, the newest active one,
// or the one that is asked for.
func (s *Store) edition(ctx context.Context, old weir.ID, r RerunRequest) (*parsed, error) {
	w, err := s.Of(ctx, old)
	if err != nil {
		return nil, err
	}
	if r.Newest || r.Version > 0 {
		s.known.forget(w.Name)
		return s.find(ctx, w.Name, r.Version)
	}
	if w.DeletedAt != nil {
		return nil, problem.New(problem.Conflict, "put it again and run it, or retry the job", "version %d of workflow %q was deleted", w.Version, w.Name)
	}
	return s.load(ctx, old)
}

// patched returns params with others over them by name; a null takes one away.
func patched(params, over map[string]any) map[string]any {
	if len(over) == 0 {
		return params
	}
	out := maps.Clone(params)
	if out == nil {
		out = map[string]any{}
	}
	for name, value := range over {
		if value == nil {
			delete(out, name)
			continue
		}
		out[name] = value
	}
	return out
}

// fine reports whether the job continues behind the task.
func (t *taskRow) fine() bool { return t.State == "done" || t.State == "skipped" && t.Passes }

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
