package work

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/engine/bulk"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/op"
)

// Store carries out operations on work.
type Store struct {
	// View reads, Client changes one object, Bulk all that match a filter.
	View   *view.Store
	Client *weir.Client
	Bulk   *bulk.Doer
	// turn is held by the caller that changes a definition, because reading the present
	// one and replacing it are two steps.
	turn chan struct{}
	// workflow and fleet refuse what a schedule could not run.
	workflow func(ctx context.Context, who auth.Subject, name string, options json.RawMessage) error
	fleet    func(params json.RawMessage) error
}

// New makes a store on a database and the SDK's client of it.
func New(pool *pgxpool.Pool, client *weir.Client) *Store {
	store := view.New(pool)
	return &Store{View: store, Client: client, Bulk: bulk.New(pool, client, store), turn: make(chan struct{}, 1)}
}

// Checked sets the functions of the domains of workflows and fleets that check what a
// schedule is to run.
func (s *Store) Checked(workflow func(ctx context.Context, who auth.Subject, name string, options json.RawMessage) error,
	fleet func(params json.RawMessage) error,
) *Store {
	s.workflow, s.fleet = workflow, fleet
	return s
}

// inTurn lets one caller at a time read a definition and replace it.
func (s *Store) inTurn(ctx context.Context, f func() error) error {
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-s.turn }()
	return f()
}

// lookup reads an object that may be missing.
func lookup[T any](v T, err error) (T, bool, error) {
	if errors.Is(err, weir.ErrNotFound) {
		return v, false, nil
	}
	return v, err == nil, err
}

// each converts rows.
func each[A, B any](row func(A) B) func([]A, error) ([]B, error) {
	return func(read []A, err error) ([]B, error) {
		rows := make([]B, len(read))
		for i, r := range read {
			rows[i] = row(r)
		}
		return rows, err
	}
}

// on describes an operation.
func on(noun, method, verb, path string, right auth.Verb, summary string) op.Operation {
	return op.Operation{Noun: noun, Verb: verb, Method: method, Path: path, Right: right, Summary: summary}
}
