package workflow

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/workflow/definition"
)

// Workflow is one version of a workflow.
type Workflow struct {
	ID      weir.ID `json:"id"`
	Name    string  `json:"name"`
	Version int     `json:"version"`
	// Active versions can be run; a run that names none takes the newest of them.
	Active     bool            `json:"active"`
	Definition json.RawMessage `json:"definition"`
	// Source is the definition as somebody wrote it, if it came as text.
	Source    string    `json:"source,omitempty"`
	By        string    `json:"by,omitempty"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	Steps     int       `json:"steps"`
	// Running and Queued count the jobs of this version that have not ended.
	Running int     `json:"running"`
	Queued  int     `json:"queued"`
	LastJob weir.ID `json:"last_job,omitzero"`
}

// PutOptions say how a definition is stored.
type PutOptions struct {
	// Inactive keeps it from being run.
	Inactive bool
}

// Put stores a definition, and sets the schedules of its block. The same
// content again is fine: created is false. Another content of the same version
// is a conflict; without a version it gets the next free one. What is wrong with
// it comes back as [definition.Faults] inside a problem.
func (s *Store) Put(ctx context.Context, by string, d *definition.Definition, source string, o PutOptions) (w Workflow, created bool, err error) {
	if err := d.Lint().Err(); err != nil {
		return w, false, &problem.Problem{Kind: problem.Invalid, Field: "definition", What: err.Error(), Err: err}
	}
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		var stored int
		if w.ID, stored, created, err = putRow(ctx, tx, d.Name, d.JSON(), d.Version, source, !o.Inactive, by); err != nil {
			return err
		}
		w.Version = stored
		return s.applySchedules(ctx, tx, d.Name, by)
	})
	if err != nil {
		return w, false, fmt.Errorf("put workflow: %w", err)
	}
	s.known.forget(d.Name)
	w, err = s.byID(ctx, w.ID)
	return w, created, err
}

// SetActive lets a version be run, or not. The schedules follow the newest one
// that is active.
func (s *Store) SetActive(ctx context.Context, by, name string, version int, active bool) error {
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if err := setActive(ctx, tx, name, version, active, by); err != nil {
			return err
		}
		return s.applySchedules(ctx, tx, name, by)
	})
	if err != nil {
		return fmt.Errorf("set workflow: %w", err)
	}
	s.known.forget(name)
	return nil
}

func limit(p view.Page) int {
	if p.Limit <= 0 {
		return 50
	}
	return min(p.Limit, 1000)
}

func unknown(name string, version int) error {
	const next = "see what there is: weir workflow list"
	if version > 0 {
		return problem.New(problem.NotFound, next, "there is no version %d of workflow %q", version, name)
	}
	return problem.New(problem.NotFound, next, "there is no workflow %q, or none of its versions is active", name)
}
