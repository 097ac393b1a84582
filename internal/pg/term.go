package pg

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Term is a leader's term: a statement that runs in it fails once another server leads.
type Term interface {
	QueryRow(ctx context.Context, pool *pgxpool.Pool, sql string, args []any, into ...any) error
}

// Querier is implemented by a pool and by a transaction.
type Querier interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}
