package workflow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/workflow/definition"
)

const (
	// fireMost is how many firings one look takes.
	fireMost = 200
	// chainMost is how many runs triggers may start one after the other. A ring is refused
	// when a trigger is set; this bounds one that was written past that.
	chainMost = 20
)

// StartedBy says in the options of a job which trigger started it, and why.
type StartedBy struct {
	Trigger string `json:"trigger"`
	Key     string `json:"key,omitempty"`
	// Source is the job whose end it followed.
	Source weir.ID `json:"source,omitzero"`
	// Chain is how many runs triggers started in a row, this one included.
	Chain int `json:"chain,omitempty"`
}

// UnmarshalJSON reads nothing from another form, because plain SQL may write any options.
func (b *StartedBy) UnmarshalJSON(text []byte) error {
	type plain StartedBy
	var read plain
	if json.Unmarshal(text, &read) == nil {
		*b = StartedBy(read)
	}
	return nil
}

// StartedByOf reads from the options of a job which trigger started it. Nil means none.
func StartedByOf(options json.RawMessage) *StartedBy {
	var o struct {
		By    *StartedBy      `json:"started_by"`
		Rerun json.RawMessage `json:"rerun"`
	}
	// A rerun keeps the options of its origin, but a person started it.
	if json.Unmarshal(options, &o) != nil || o.Rerun != nil || o.By == nil || o.By.Trigger == "" {
		return nil
	}
	return o.By
}

// fire decides about pending firings. A firing that cannot start a run fails alone.
func (l *leader) fire(ctx context.Context, _ time.Time) (more bool, err error) {
	pending, err := l.pendingFirings(ctx, fireMost)
	if err != nil {
		return false, fmt.Errorf("look for firings: %w", err)
	}
	list := make([]fire, 0, len(pending))
	for i := range pending {
		f, err := l.judgeFiring(ctx, &pending[i])
		if err != nil {
			return false, err
		}
		list = append(list, f)
	}
	// A look that finds firings is followed by another one, because the runs are queued.
	return len(list) > 0, l.writeFires(ctx, list)
}

// judgeFiring returns what a firing starts. A fault of the trigger fails the firing; an
// error is the database's.
func (l *leader) judgeFiring(ctx context.Context, p *pendingFiring) (fire, error) {
	f := fire{Trigger: p.trigger.Name, Key: p.key, State: "started", Trace: p.job.Trace}
	by := StartedBy{Trigger: p.trigger.Name, Key: p.key, Source: p.job.ID, Chain: 1}
	if before := StartedByOf(p.job.Options); before != nil {
		by.Chain = max(before.Chain, 0) + 1
	}
	if by.Chain > chainMost {
		return f.not("failed", map[string]any{"code": "trigger_chain", "most": chainMost}), nil
	}
	m, err := definition.ParseMapping(p.trigger.When, p.trigger.Params, runRoots...)
	if err != nil {
		return f.failed(err)
	}
	facts, err := l.runFacts(ctx, p, m.Steps())
	if err != nil {
		return f, err
	}
	holds, params, err := m.Evaluate(facts)
	if err != nil {
		return f.failed(err)
	}
	if !holds {
		return f.not("ignored", map[string]any{"code": "trigger_condition", "condition": p.trigger.When}), nil
	}
	return l.openFor(ctx, f, p.trigger.Workflow, params, by)
}

// openFor adds to a firing the job that it opens.
func (s *Store) openFor(ctx context.Context, f fire, workflow string, params map[string]any, by StartedBy) (fire, error) {
	s.known.forget(workflow) // no later check finds out whether it is the newest
	b, err := s.find(ctx, workflow, 0)
	if err != nil {
		return f.failed(err)
	}
	x, err := b.opening(jobOptions{Options: definition.Options{Params: params}, By: "trigger " + by.Trigger, StartedBy: &by})
	if err != nil {
		return f.failed(err)
	}
	f.Name, f.Definition, f.Priority, f.Params, f.Options = x.Name, x.Definition, x.Priority, x.Params, x.Options
	return f, nil
}

// not returns a firing that starts nothing.
func (f fire) not(state string, why map[string]any) fire {
	f.State, f.Reason = state, why
	return f
}

// failed returns a firing that fails with a problem. Any other error is the database's.
func (f fire) failed(err error) (fire, error) {
	if p := (*problem.Problem)(nil); !errors.As(err, &p) {
		return f, err
	}
	return f.not("failed", map[string]any{"code": "trigger_failed", "error": said(err)}), nil
}

// runFacts returns what a trigger reads of the run that ended.
func (l *leader) runFacts(ctx context.Context, p *pendingFiring, keys []string) (map[string]any, error) {
	steps := map[string]definition.NeedFacts{}
	if len(keys) > 0 {
		rows, err := l.facts(ctx, []weir.ID{p.job.ID}, keys)
		if err != nil {
			return nil, fmt.Errorf("read the steps of job %s: %w", p.job.ID, err)
		}
		for i := range rows {
			steps[rows[i].Key] = rows[i].facts()
		}
	}
	params := map[string]any{}
	if len(p.job.Params) > 0 && json.Unmarshal(p.job.Params, &params) != nil {
		params = map[string]any{} // plain SQL may have written something else than an object
	}
	return map[string]any{
		"params": params, "steps": definition.StepValues(steps),
		"run": map[string]any{"id": p.job.ID.String(), "workflow": p.trigger.After, "version": p.version, "outcome": p.outcome, "error": p.cause},
	}, nil
}

// writeFires writes decisions in one transaction. If one of them is refused, it writes
// them one by one, and that firing fails with the refusal.
func (l *leader) writeFires(ctx context.Context, list []fire) error {
	if len(list) == 0 {
		return nil
	}
	text, err := json.Marshal(list)
	if err != nil {
		return err
	}
	_, err = l.write(ctx, fireSQL, text)
	switch {
	case err == nil:
		return nil
	case !refused(err):
		return fmt.Errorf("write %d firings: %w", len(list), err)
	case len(list) == 1 && list[0].State == "failed":
		return fmt.Errorf("fail firing %s of trigger %s: %w", list[0].Key, list[0].Trigger, err)
	case len(list) == 1:
		l.log.Warn("a trigger cannot start a run", "trigger", list[0].Trigger, "key", list[0].Key, "error", err)
		return l.writeFires(ctx, []fire{
			list[0].not("failed", map[string]any{"code": "trigger_failed", "error": said(err)}),
		})
	}
	for i := range list {
		if err := l.writeFires(ctx, list[i:i+1]); err != nil {
			return err
		}
	}
	return nil
}
