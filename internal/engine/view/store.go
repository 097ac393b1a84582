package view

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Page bounds a list. The zero value is its beginning.
type Page struct {
	// Limit is at most 1000. Zero: 50.
	Limit int
	// After is the id or name of the last row of the page before.
	After string
}

func (p Page) limit() int {
	if p.Limit <= 0 {
		return 50
	}
	return min(p.Limit, 1000)
}

// Store reads from one database. It is safe for concurrent use.
type Store struct{ pool *pgxpool.Pool }

// New makes a store on a pool that the caller keeps.
func New(pool *pgxpool.Pool) *Store { return &Store{pool} }

// list runs a query; into says where the columns go.
func list[T any](ctx context.Context, s *Store, op, sql string, args []any, into func(*T) []any) ([]T, error) {
	rows, err := s.pool.Query(ctx, sql, args...)
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

// moment reads a timestamp whose NULL or infinity is the zero time.
type moment time.Time

// ScanTimestamptz implements [pgtype.TimestamptzScanner].
func (t *moment) ScanTimestamptz(v pgtype.Timestamptz) error {
	*t = moment{}
	if v.Valid && v.InfinityModifier == pgtype.Finite {
		*t = moment(v.Time)
	}
	return nil
}

// maybe reads a text whose NULL is empty.
type maybe string

// ScanText implements [pgtype.TextScanner].
func (s *maybe) ScanText(v pgtype.Text) error {
	*s = maybe(v.String)
	return nil
}

// flag reads a boolean whose NULL is false.
type flag bool

// ScanBool implements [pgtype.BoolScanner].
func (b *flag) ScanBool(v pgtype.Bool) error {
	*b = flag(v.Bool && v.Valid)
	return nil
}
