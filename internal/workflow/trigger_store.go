package workflow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/problem"
)

// Triggers as the database has them; the SQL is in store.go.

func scanTrigger(row pgx.CollectableRow) (t Trigger, err error) {
	var last, until *time.Time
	var job *weir.ID
	err = row.Scan(&t.Name, &t.Kind, &t.Workflow, &t.After, &t.On, &t.When, (*[]byte)(&t.Params), &t.Paused, &t.ChangedAt, &last, &job, &t.sealed, &until)
	if last != nil {
		t.LastAt = *last
	}
	if until != nil {
		t.BeforeUntil = *until
	}
	if t.Kind == kindWebhook {
		t.Path = hookPath(t.Name)
	}
	t.LastJob = orZero(job)
	return t, err
}

// Triggers lists triggers by name: all, or those that run or follow a workflow.
func (s *Store) Triggers(ctx context.Context, workflow string, page view.Page) ([]Trigger, error) {
	rows, err := s.pool.Query(ctx, triggersSQL, page.After, page.Most(), workflow)
	if err != nil {
		return nil, fmt.Errorf("list triggers: %w", err)
	}
	return pgx.CollectRows(rows, scanTrigger)
}

// Trigger reads one trigger.
func (s *Store) Trigger(ctx context.Context, name string) (Trigger, error) {
	rows, err := s.pool.Query(ctx, triggerSQL, name)
	if err != nil {
		return Trigger{}, fmt.Errorf("read trigger: %w", err)
	}
	t, err := pgx.CollectExactlyOneRow(rows, scanTrigger)
	if errors.Is(err, pgx.ErrNoRows) {
		err = problem.New(problem.NotFound, "see what there is", "there is no trigger %q", name).Run("weir trigger list")
	}
	return t, err
}

func (s *Store) setTrigger(ctx context.Context, name string, b TriggerSpec, by string, seen time.Time) error {
	var at *time.Time
	if !seen.IsZero() {
		at = &seen
	}
	_, err := s.pool.Exec(ctx, setTriggerSQL,
		name, b.Workflow, b.After, b.On, b.When, b.Params, b.Paused, by, at)
	if err != nil {
		return fmt.Errorf("set trigger: %w", err)
	}
	return nil
}

func (s *Store) pauseTrigger(ctx context.Context, name string, paused bool, by string) error {
	if _, err := s.pool.Exec(ctx, pauseTriggerSQL, name, paused, by); err != nil {
		return fmt.Errorf("pause trigger: %w", err)
	}
	return nil
}

func (s *Store) dropTrigger(ctx context.Context, name, by string) error {
	if _, err := s.pool.Exec(ctx, dropTriggerSQL, name, by); err != nil {
		return fmt.Errorf("drop trigger: %w", err)
	}
	return nil
}

// --- webhooks

// hook reads what a delivery is checked against. A trigger that does not exist has no
// secrets.
func (s *Store) hook(ctx context.Context, name string) (h hook, err error) {
	var workflow *string
	h.Name = name
	err = s.pool.QueryRow(ctx, hookSQL, name).Scan(&h.secrets, &h.now, &workflow, &h.When, (*[]byte)(&h.Params))
	if workflow != nil {
		h.Workflow = *workflow
	}
	return h, err
}

// hookSecret stores a secret and gives it to a webhook, both or none. Nil means that the
// webhook has one and keeps it.
func (s *Store) hookSecret(ctx context.Context, by, trigger, name, value string, overlap time.Duration, fresh bool) (until *time.Time, err error) {
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if err := tx.QueryRow(ctx, hookSecretSQL, trigger, name, overlap, fresh, by).Scan(&until); err != nil || until == nil {
			return err
		}
		return s.vault.PutWithin(ctx, tx, by, name, value, "webhook of trigger "+trigger)
	})
	if err != nil {
		return nil, fmt.Errorf("set the secret of a webhook: %w", err)
	}
	return until, nil
}

// deliver writes what was decided about a delivery. If the database refuses the run, the
// delivery fails with the refusal.
func (s *Store) deliver(ctx context.Context, trigger, key string, f fire) (out Delivered, err error) {
	text, err := json.Marshal(f)
	if err != nil {
		return out, err
	}
	var job *weir.ID
	out.Delivery = key
	err = s.pool.QueryRow(ctx, deliverSQL, trigger, key, text).Scan(&out.State, &out.Reason, &out.Why.Code, &out.Why.Args, &job, &out.Again)
	out.Job = orZero(job)
	if err != nil && refused(err) && f.State != "failed" {
		return s.deliver(ctx, trigger, key, f.not("failed", map[string]any{"code": "trigger_failed", "error": said(err)}))
	}
	return out, err
}

func (s *Store) noteUnsigned(ctx context.Context, trigger, address string) error {
	_, err := s.pool.Exec(ctx, unsignedSQL, trigger, address)
	return err
}

// --- firings

func scanFiring(row pgx.CollectableRow) (f Firing, err error) {
	var source, job *weir.ID
	err = row.Scan(&f.Trigger, &f.Key, &source, &f.State, &f.Reason, &f.Why.Code, &f.Why.Args, &job, &f.At)
	f.Source, f.Job = orZero(source), orZero(job)
	return f, err
}

// Firings lists the firings of a trigger, newest first. page.After is the key of the last
// one of the previous page.
func (s *Store) Firings(ctx context.Context, trigger string, page view.Page) ([]Firing, error) {
	if _, err := s.Trigger(ctx, trigger); err != nil {
		return nil, err
	}
	rows, err := s.pool.Query(ctx, firingsSQL,
		trigger, page.After, page.Most())
	if err != nil {
		return nil, fmt.Errorf("list firings: %w", err)
	}
	return pgx.CollectRows(rows, scanFiring)
}

// FiringsOf lists what the end of a job fired.
func (s *Store) FiringsOf(ctx context.Context, job weir.ID) ([]Firing, error) {
	rows, err := s.pool.Query(ctx, firingsOfSQL, job)
	if err != nil {
		return nil, fmt.Errorf("list firings: %w", err)
	}
	return pgx.CollectRows(rows, scanFiring)
}

// pendingFiring is a firing that the leader decides about.
type pendingFiring struct {
	trigger Trigger
	key     string
	job     jobRow
	outcome string
	cause   string
	version int
}

// pendingFirings reads firings in the order in which they came.
func (s *Store) pendingFirings(ctx context.Context, most int) ([]pendingFiring, error) {
	rows, err := s.pool.Query(ctx, pendingFiringsSQL, most)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (p pendingFiring, err error) {
		g := &p.trigger
		p.job, err = scanJob(row, &p.key, &p.outcome, &p.cause, &p.version, &g.Name, &g.Kind, &g.Workflow, &g.After, &g.When, (*[]byte)(&g.Params))
		return p, err
	})
}

// fire is the decision about a firing: the JSON that weir.workflow_fire takes.
type fire struct {
	Trigger string         `json:"trigger"`
	Key     string         `json:"key"`
	State   string         `json:"state"`
	Reason  map[string]any `json:"reason,omitempty"`

	Name       string          `json:"name,omitempty"`
	Definition weir.ID         `json:"definition,omitzero"`
	Priority   int             `json:"priority"`
	Params     json.RawMessage `json:"params,omitempty"`
	Options    json.RawMessage `json:"options,omitempty"`
	Trace      string          `json:"trace,omitempty"`
}
