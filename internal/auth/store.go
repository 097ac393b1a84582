package auth

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Options configure a store. The zero value works.
type Options struct {
	// Log receives errors that do not fail a request. If nil, nothing is logged.
	Log *slog.Logger
	// At sets the clock, for tests. If nil, the database clock decides.
	At func() time.Time
}

// Store keeps users, sessions, tokens, links, join tokens and the credentials of
// nodes. It is safe for concurrent use, and several servers share one database.
type Store struct {
	pool *pgxpool.Pool
	log  *slog.Logger
	at   func() time.Time
}

// New makes a store on a pool that the caller keeps. The pool's user must own the schema,
// because no other role can access these tables.
func New(pool *pgxpool.Pool, opts Options) *Store {
	s := &Store{pool: pool, log: opts.Log, at: opts.At}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	return s
}

// Client is the origin of a request.
type Client struct {
	// Address is an IP address without a port.
	Address string
	// Agent is the client's User-Agent.
	Agent string
}

// Page selects a part of a list. The zero value is its beginning.
type Page struct {
	// Limit is at most 1000. Zero means 50.
	Limit int
	// After is the name or id of the last row of the page before.
	After string
}

func (p Page) limit() int {
	if p.Limit <= 0 {
		return 50
	}
	return min(p.Limit, 1000)
}

// querier is a pool or a transaction.
type querier interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// clock returns the first argument of every statement: null, so that the database clock
// decides, or the time that a test sets. Statements read it as coalesce($1, now()).
func (s *Store) clock() *time.Time {
	if s.at == nil {
		return nil
	}
	at := s.at()
	return &at
}

// tx runs f in a transaction and wraps an error with the operation.
func (s *Store) tx(ctx context.Context, op string, f func(tx pgx.Tx) error) error {
	if err := pgx.BeginFunc(ctx, s.pool, f); err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	return nil
}

// collect reads rows; into returns the destinations of the columns.
func collect[T any](ctx context.Context, db querier, op string, into func(*T) []any, sql string, args ...any) ([]T, error) {
	rows, err := db.Query(ctx, sql, args...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	out, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (v T, err error) {
		return v, row.Scan(into(&v)...)
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	return out, nil
}

// taken reports whether err is the violation of a unique constraint.
func taken(err error) bool {
	var state *pgconn.PgError
	return errors.As(err, &state) && state.Code == "23505"
}

// oneLine makes one line of at most most characters from text that a client sent about
// itself.
func oneLine(s string, most int) string {
	clean := make([]rune, 0, min(len(s), most))
	for _, r := range s {
		if len(clean) == most {
			break
		}
		if r < ' ' || r == 0x7f || r == '\uFFFD' {
			r = ' '
		}
		clean = append(clean, r)
	}
	return string(clean)
}
