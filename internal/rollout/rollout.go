package rollout

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/reason"
)

// The states of a rollout.
const (
	StateNotStarted = "not_started"
	StateRunning    = "running"
	StateWaiting    = "waiting" // for an approval or a promotion: see Waits
	StatePaused     = "paused"
	StateDone       = "done"
	StateFailed     = "failed" // stopped by a failure, or ended with one
	StateCanceled   = "canceled"
)

// States are all of them, in the order in which they are shown.
var States = []string{StateNotStarted, StateRunning, StateWaiting, StatePaused, StateDone, StateFailed, StateCanceled}

// Rollout is a plan on its way.
type Rollout struct {
	// ID is that of the engine's job, too.
	ID    weir.ID `json:"id"`
	Name  string  `json:"name"`
	State string  `json:"state"`
	// Waits says what it waits for, or why it stopped; empty: nothing to say.
	Waits string `json:"waits,omitempty"`
	// Reason is Waits for programs.
	Reason *reason.Coded `json:"reason,omitempty"`
	// Hash is that of the frozen plan: approvals hold for it alone.
	Hash string `json:"hash"`
	// Revision counts edits. An edit is a rollout of its own, linked both ways.
	Revision   int     `json:"revision"`
	Replaces   weir.ID `json:"replaces,omitzero"`
	ReplacedBy weir.ID `json:"replaced_by,omitzero"`

	Parallel   int        `json:"parallel,omitempty"`
	OutOfOrder bool       `json:"out_of_order,omitempty"`
	RunAt      *time.Time `json:"run_at,omitempty"`
	Note       string     `json:"note,omitempty"`
	By         string     `json:"by,omitempty"`
	CreatedAt  time.Time  `json:"created_at"`
	StartedAt  *time.Time `json:"started_at,omitempty"`
	StartedBy  string     `json:"started_by,omitempty"`
	PausedAt   *time.Time `json:"paused_at,omitempty"`
	PausedBy   string     `json:"paused_by,omitempty"`
	PauseNote  string     `json:"pause_note,omitempty"`
	AbortedAt  *time.Time `json:"aborted_at,omitempty"`
	AbortedBy  string     `json:"aborted_by,omitempty"`
	AbortNote  string     `json:"abort_note,omitempty"`
	FinishedAt *time.Time `json:"finished_at,omitempty"`

	Counts Counts `json:"counts"`
	// Stages, Changes and Warnings are read with one rollout, not in lists.
	Stages   []StageState  `json:"stages,omitempty"`
	Changes  []ChangeState `json:"changes,omitempty"`
	Warnings []PlanWarning `json:"warnings,omitempty"`
}

// Counts are the tasks of a rollout or a stage by status.
type Counts struct {
	Total      int `json:"total"`
	NotStarted int `json:"not_started"`
	Pending    int `json:"pending"`
	Available  int `json:"available"`
	Running    int `json:"running"`
	Done       int `json:"done"`
	Failed     int `json:"failed"`
	Canceled   int `json:"canceled"`
	Unknown    int `json:"unknown"`
	Skipped    int `json:"skipped"`
}

// StageState is a stage of a frozen plan, and how far it is.
type StageState struct {
	Name        string `json:"name"`
	Environment string `json:"environment,omitempty"`
	Databases   int    `json:"databases"`
	// State is one of States but canceled: waiting says which gate in Waits.
	State string `json:"state"`
	Waits string `json:"waits,omitempty"`
	// Reason is Waits for programs.
	Reason      *reason.Coded `json:"reason,omitempty"`
	Approvals   int           `json:"approvals"`
	Approved    []Approval    `json:"approved,omitempty"`
	Promote     string        `json:"promote"`
	PromotedAt  *time.Time    `json:"promoted_at,omitempty"`
	PromotedBy  string        `json:"promoted_by,omitempty"`
	OnFailure   string        `json:"on_failure"`
	MaxFailures int           `json:"max_failures,omitempty"`
	Canary      int           `json:"canary,omitempty"`
	Counts      Counts        `json:"counts"`
}

// Approval is one person's yes to a stage of a plan.
type Approval struct {
	By   string    `json:"by"`
	Note string    `json:"note,omitempty"`
	At   time.Time `json:"at"`
	Hash string    `json:"hash"`
}

// ChangeState is a change of a frozen plan.
type ChangeState struct {
	Version    string `json:"version,omitempty"`
	Name       string `json:"name"`
	Kind       string `json:"kind"`
	File       string `json:"file,omitempty"`
	Checksum   string `json:"checksum"`
	SQL        string `json:"sql,omitempty"`
	Statements int    `json:"statements,omitempty"`
}

// PlanWarning is what was found about a change when the plan was made. It is shown
// to whoever approves.
type PlanWarning struct {
	Change   string `json:"change"`
	Line     int    `json:"line,omitempty"`
	Code     string `json:"code"`
	What     string `json:"what"`
	Why      string `json:"why,omitempty"`
	Instead  string `json:"instead,omitempty"`
	Severity string `json:"severity"`
}

// Filter narrows a list of rollouts. Zero fields match everything.
type Filter struct {
	State    string `query:"state" enum:"not_started,running,waiting,paused,done,failed,canceled" doc:"Only rollouts in this state."`
	Search   string `query:"search" maxLength:"200" doc:"Only rollouts with this in their name."`
	Database string `query:"database" maxLength:"200" doc:"Only rollouts with a task in this database."`
}

// Rollouts lists rollouts, the newest first. After is the id of the last one of the
// page before.
func (s *Store) Rollouts(ctx context.Context, f Filter, page view.Page) ([]Rollout, error) {
	after, err := page.AfterID()
	if err != nil {
		return nil, err
	}
	list, err := s.rollouts(ctx, rolloutFilter, after, f.State, f.Search, f.Database, page.Most())
	if err != nil {
		return nil, fmt.Errorf("list rollouts: %w", err)
	}
	return list, nil
}

// Rollout reads one with its stages, changes and warnings. SQL of changes is left
// out: see [Store.Change].
func (s *Store) Rollout(ctx context.Context, id weir.ID) (Rollout, error) {
	list, err := s.rollouts(ctx, rolloutOf, id)
	if err == nil && len(list) == 0 {
		err = notFound("rollout", id.String(), "see what there is", "weir rollout list")
	}
	if err != nil {
		return Rollout{}, fmt.Errorf("read rollout: %w", err)
	}
	r := list[0]
	if r.Stages, err = s.stages(ctx, id); err != nil {
		return r, fmt.Errorf("read stages: %w", err)
	}
	if r.Changes, r.Warnings, err = s.frozen(ctx, id, ""); err != nil {
		return r, fmt.Errorf("read changes: %w", err)
	}
	return r, nil
}

// Change reads one change of a rollout with its SQL, by version or name.
func (s *Store) Change(ctx context.Context, id weir.ID, change string) (ChangeState, error) {
	list, _, err := s.frozen(ctx, id, change)
	if err == nil && len(list) == 0 {
		err = notFound("change", change+" in rollout "+id.String(), "see what it has", "weir rollout show "+id.String())
	}
	if err != nil {
		return ChangeState{}, fmt.Errorf("read change: %w", err)
	}
	return list[0], nil
}

// Plan reads the plan of a rollout back, as somebody would ask for it again: with the
// text of its changes, and with an environment where a stage has all that are in it.
// Other databases are named.
func (s *Store) Plan(ctx context.Context, id weir.ID) (Plan, error) {
	raw, note, err := s.planned(ctx, id)
	if err != nil {
		return Plan{}, fmt.Errorf("read plan: %w", err)
	}
	var frozen struct {
		Name       string         `json:"name"`
		Changes    []frozenChange `json:"changes"`
		Parallel   int            `json:"parallel"`
		OutOfOrder bool           `json:"out_of_order"`
		RunAt      *time.Time     `json:"run_at"`
	}
	if err := json.Unmarshal(raw, &frozen); err != nil {
		return Plan{}, fmt.Errorf("read plan: %w", err)
	}
	p := Plan{Name: frozen.Name, Parallel: frozen.Parallel, OutOfOrder: frozen.OutOfOrder, RunAt: frozen.RunAt, Note: note}
	stages, err := s.plannedStages(ctx, id)
	if err != nil {
		return p, fmt.Errorf("read stages: %w", err)
	}
	for _, f := range stages {
		if !f.whole {
			f.stage.Databases = f.names
		}
		p.Stages = append(p.Stages, f.stage)
	}
	texts, err := s.texts(ctx, id)
	if err != nil {
		return p, fmt.Errorf("read changes: %w", err)
	}
	for _, c := range frozen.Changes {
		p.Changes = append(p.Changes, c.change(texts[c.Checksum]))
	}
	return p, nil
}

// Create freezes a plan and makes its rollout, which waits to be started. The same
// idempotency key again gives the same rollout; empty: none.
func (s *Store) Create(ctx context.Context, by string, p Plan, idempotencyKey string) (Rollout, error) {
	return s.put(ctx, by, p, idempotencyKey, weir.ID{})
}

// Replace edits a rollout of which nothing has run: it makes a new one of the new
// plan, without approvals and not started, and cancels the old one. The same plan
// again is a conflict.
func (s *Store) Replace(ctx context.Context, by string, id weir.ID, p Plan) (Rollout, error) {
	return s.put(ctx, by, p, "", id)
}

// put freezes a plan. Warnings do not refuse it: they are kept with it, and shown to
// whoever approves.
func (s *Store) put(ctx context.Context, by string, p Plan, key string, replaces weir.ID) (Rollout, error) {
	p, err := p.read()
	if err != nil {
		return Rollout{}, err
	}
	asked, texts, err := p.asked()
	if err != nil {
		return Rollout{}, err
	}
	frozen, _, err := s.freeze(ctx, asked)
	if err != nil {
		return Rollout{}, fmt.Errorf("freeze plan: %w", err)
	}
	var plan frozenPlan
	if err := json.Unmarshal(frozen, &plan); err != nil {
		return Rollout{}, fmt.Errorf("freeze plan: %w", err)
	}
	if n := plan.tasks(); n > tasksMost {
		return Rollout{}, problem.Refuse("stages", "make several rollouts of it", "%d runs are over the limit of %d for one rollout", n, tasksMost)
	}
	warnings, err := p.warnings(plan.engines())
	if err != nil {
		return Rollout{}, err
	}
	id, err := s.create(ctx, by, asked, texts, warnings, p.Note, key, replaces)
	if err != nil {
		return Rollout{}, fmt.Errorf("create rollout: %w", err)
	}
	return s.Rollout(ctx, id)
}
