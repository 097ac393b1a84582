package pg

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/multitracer"
	"github.com/jackc/pgx/v5/pgxpool"
)

// These errors are the reasons why a database that answers takes no writes.
var (
	// ErrReadOnly means that sessions are read-only: a standby, or a primary that an
	// operator made read-only.
	ErrReadOnly = errors.New("the database is read-only")
	// ErrNoSpace means that PostgreSQL has no disk space left.
	ErrNoSpace = errors.New("the database has no disk space left")
)

// codeDiskFull is the SQLSTATE of a file that PostgreSQL cannot extend.
const codeDiskFull = "53100"

// Writes tracks whether a database takes writes. The zero value is ready.
//
// A full disk shows only in a write, and an idle server should not write just to find
// out. So the watched pools record a write that was refused for lack of space; only from
// then on does Check try a write itself, until one works.
type Writes struct{ full atomic.Bool }

// Watch records the outcome of the statements of a pool. It is for [Options.Configure],
// after any other tracer was set there.
func (w *Writes) Watch(config *pgxpool.Config) {
	if other := config.ConnConfig.Tracer; other != nil {
		config.ConnConfig.Tracer = multitracer.New(other, watcher{w})
		return
	}
	config.ConnConfig.Tracer = watcher{w}
}

// Check returns nil if the database answers and takes writes.
func (w *Writes) Check(ctx context.Context, pool *pgxpool.Pool) error {
	var readOnly bool
	err := pool.QueryRow(ctx, `select pg_catalog.pg_is_in_recovery() or pg_catalog.current_setting('transaction_read_only')::bool`).Scan(&readOnly)
	switch {
	case err != nil:
		return err
	case readOnly:
		return ErrReadOnly
	case !w.full.Load():
		return nil
	}
	switch err := extend(ctx, pool); {
	case codeIn(err, codeDiskFull):
		return ErrNoSpace
	case err != nil:
		return err
	}
	w.full.Store(false)
	return nil
}

// extend allocates new space on the disk of the database, and gives it back. An update
// would not be enough, because it may find room in an existing page.
func extend(ctx context.Context, pool *pgxpool.Pool) error {
	tx, err := pool.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // everything is rolled back
	if _, err = tx.Exec(ctx, `set local temp_tablespaces = ''`); err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `create temporary table weir_space as select n, repeat('x', 1000) as filler from generate_series(1, 250) n`)
	return err
}

// watcher is the tracer of Writes.
type watcher struct{ writes *Writes }

func (w watcher) note(err error) {
	if codeIn(err, codeDiskFull) {
		w.writes.full.Store(true)
	}
}

// TraceQueryStart does nothing.
func (w watcher) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return ctx
}

// TraceQueryEnd records how a statement ended.
func (w watcher) TraceQueryEnd(_ context.Context, _ *pgx.Conn, data pgx.TraceQueryEndData) {
	w.note(data.Err)
}

// TraceBatchStart does nothing.
func (w watcher) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return ctx
}

// TraceBatchQuery records how a statement of a batch ended.
func (w watcher) TraceBatchQuery(_ context.Context, _ *pgx.Conn, data pgx.TraceBatchQueryData) {
	w.note(data.Err)
}

// TraceBatchEnd records how a batch ended.
func (w watcher) TraceBatchEnd(_ context.Context, _ *pgx.Conn, data pgx.TraceBatchEndData) {
	w.note(data.Err)
}

// TraceCopyFromStart does nothing.
func (w watcher) TraceCopyFromStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceCopyFromStartData) context.Context {
	return ctx
}

// TraceCopyFromEnd records how a COPY ended.
func (w watcher) TraceCopyFromEnd(_ context.Context, _ *pgx.Conn, data pgx.TraceCopyFromEndData) {
	w.note(data.Err)
}
