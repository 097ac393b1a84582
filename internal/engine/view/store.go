package view

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/problem"
)

// Page bounds a list. The zero value is its beginning.
type Page struct {
	// Limit is at most 1000. Zero: 50.
	Limit int
	// After is the id or name of the last row of the page before.
	After string
}

// Most is how many rows a page has at most.
func (p Page) Most() int {
	if p.Limit <= 0 {
		return 50
	}
	return min(p.Limit, 1000)
}

// AfterID is After, where rows are named by ids; nil: from the beginning.
func (p Page) AfterID() (*weir.ID, error) {
	if p.After == "" {
		return nil, nil
	}
	id, err := weir.ParseID(p.After)
	if err != nil {
		return nil, problem.Refuse("after", "use the id of the last row of the page before", "%.80q is not an id", p.After)
	}
	return &id, nil
}

// Store reads from one database. It is safe for concurrent use.
type Store struct {
	pool *pgxpool.Pool
	// look is how many rows a page walks over for a filter that no index answers,
	// lookUp how many when each is looked up in another table as well, few how many
	// an index may find for a page to be made from them. Each takes some 40 ms.
	look, lookUp, few int
	// lines is how many lines of what a task said are read.
	lines int
	// shallow and deep are the last reports of the doctor.
	shallow, deep *checkup
}

// New makes a store on a pool that the caller keeps.
func New(pool *pgxpool.Pool) *Store {
	return &Store{pool: pool, look: 50_000, lookUp: 6_000, few: 5_000, lines: LinesMost, shallow: &checkup{}, deep: &checkup{}}
}

// list runs a query; into says where the columns go.
func list[T any](ctx context.Context, s *Store, op, sql string, args []any, into func(*T) []any) ([]T, error) {
	return read(ctx, s, op, plain, sql, args, into)
}

// inOrder runs a query that must follow the order of an index and stop early.
// Where the planner takes few rows for none, it would rather sort them all.
func inOrder[T any](ctx context.Context, s *Store, op, sql string, args []any, into func(*T) []any) ([]T, error) {
	return read(ctx, s, op, ordered, sql, args, into)
}

// The settings of a query. The compiler of PostgreSQL is off: it would take
// seconds for a query over many partitions that takes milliseconds.
const (
	plain   = `select set_config('jit', 'off', true)`
	ordered = `select set_config('jit', 'off', true), set_config('enable_sort', 'off', true)`
)

func read[T any](ctx context.Context, s *Store, op, settings, sql string, args []any, into func(*T) []any) ([]T, error) {
	var both pgx.Batch // one transaction, one trip
	both.Queue(settings)
	both.Queue(sql, args...)
	results := s.pool.SendBatch(ctx, &both)
	out, err := collect(results, into)
	if err := errors.Join(err, results.Close()); err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	return out, nil
}

func collect[T any](results pgx.BatchResults, into func(*T) []any) ([]T, error) {
	if _, err := results.Exec(); err != nil {
		return nil, err
	}
	rows, err := results.Query()
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (v T, err error) {
		return v, row.Scan(into(&v)...)
	})
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
