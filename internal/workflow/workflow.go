package workflow

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/workflow/definition"
)

// Workflow is one version of a workflow.
type Workflow struct {
	ID      weir.ID `json:"id"`
	Name    string  `json:"name"`
	Version int     `json:"version"`
	// Active versions can be run; a run without a version takes the newest of them.
	Active     bool            `json:"active"`
	Definition json.RawMessage `json:"definition"`
	// Source is the definition as its author wrote it, if it came as text.
	Source    string    `json:"source,omitempty"`
	By        string    `json:"by,omitempty"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	Steps     int       `json:"steps"`
	// Running and Queued count the jobs of this version that have not ended.
	Running int     `json:"running"`
	Queued  int     `json:"queued"`
	LastJob weir.ID `json:"last_job,omitzero"`
	// DeletedAt is set in a deleted workflow that is read for a job ([Store.Of]).
	DeletedAt *time.Time `json:"deleted_at,omitempty"`
}

// PutOptions say how a definition is stored.
type PutOptions struct {
	// Inactive keeps it from being run.
	Inactive bool
}

// Put stores a definition, and sets the schedules of its block. Storing the same content
// again is no error: created is false. Other content of the same version is a conflict;
// without a version it gets the next free one. Errors in the definition are returned as
// [definition.Faults] inside a problem.
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
	w, err = s.Of(ctx, w.ID)
	return w, created, err
}

// SetActive sets whether a version can be run. The schedules follow the newest active
// one.
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

// Check returns an error if a run of a workflow with these options would be refused, for
// callers that store the options for later.
func (s *Store) Check(ctx context.Context, workflow string, options definition.Options) error {
	s.known.forget(workflow)
	b, err := s.find(ctx, workflow, 0)
	if err == nil {
		_, err = b.Input(options)
	}
	return err
}

// CheckRun is Check for the options of a schedule. It accepts unreadable options, because
// the engine refuses them.
func (s *Store) CheckRun(ctx context.Context, who auth.Subject, workflow string, kept json.RawMessage) error {
	var options definition.Options
	if len(kept) > 0 && json.Unmarshal(kept, &options) != nil {
		return nil
	}
	may := MaySkip(func() error { return auth.Allow(who, auth.Override, auth.Object{Kind: "task"}) })
	if err := may.Judge(options); err != nil {
		return err
	}
	return s.Check(ctx, workflow, options)
}

// Delete deletes a version of a workflow, or all of them with 0, and returns how many
// versions it deleted. Jobs keep their definitions; a new definition of that name gets
// the next number. It is a conflict while jobs of it live, while a schedule outside its
// own block or a step of another workflow names it, and for the version that a run takes
// while there are others.
func (s *Store) Delete(ctx context.Context, by, name string, version int) (versions int, err error) {
	if versions, err = s.dropRows(ctx, name, version, by); err != nil {
		return 0, fmt.Errorf("delete workflow: %w", err)
	}
	s.known.forget(name)
	return versions, nil
}

// unknown returns an error that there is no such workflow, and which one may be meant.
func (s *Store) unknown(ctx context.Context, name string, version int) error {
	names, err := s.names(ctx)
	if err != nil {
		return err
	}
	next := cmp.Or(definition.Meant(name, names), "see what there is: weir workflow list")
	if slices.Contains(names, name) {
		next = "see what there is: weir workflow versions " + name
	}
	if version > 0 {
		return problem.New(problem.NotFound, next, "there is no version %d of workflow %q", version, name)
	}
	return problem.New(problem.NotFound, next, "there is no workflow %q, or none of its versions is active", name)
}
