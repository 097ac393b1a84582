package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir/internal/pg"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/schema"
)

// makeReady makes the partitions for the coming days, and lets a database that was
// loaded from a dump go on. That takes READ COMMITTED, whatever the default of the
// database is.
func makeReady(ctx context.Context, db interface {
	BeginTx(context.Context, pgx.TxOptions) (pgx.Tx, error)
}, days int,
) (made []string, err error) {
	err = pgx.BeginTxFunc(ctx, db, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
		return tx.QueryRow(ctx, `select weir.ensure_partitions($1) from weir.adopt_restore()`, days).Scan(&made)
	})
	return made, err
}

// Migration says what a Migrate did.
type Migration struct {
	pg.Report
	// Partitions are those that were made.
	Partitions []string
}

// Changed reports whether the database was written to.
func (m Migration) Changed() bool { return m.Report.Changed() || len(m.Partitions) > 0 }

// Migrate brings the database at url to the schema of this binary and makes the
// partitions for the coming days, so that it works before a server has started.
func Migrate(ctx context.Context, c Config, url string) (m Migration, err error) {
	if m.Report, err = pg.Migrate(ctx, url, schema.FS); err != nil {
		return m, problem.OwnerOnly(err)
	}
	conn, err := pg.Connect(ctx, url, "weir migrate")
	if err != nil {
		return m, fmt.Errorf("make partitions: %w", err)
	}
	m.Partitions, err = makeReady(ctx, conn, c.PartitionDays)
	if err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))); err != nil {
		return m, problem.OwnerOnly(fmt.Errorf("make partitions: %w", err))
	}
	return m, nil
}

// MigrationStatus says what Migrate would do to the schema.
func MigrationStatus(ctx context.Context, url string) (pg.Status, error) {
	status, err := pg.MigrationStatus(ctx, url, schema.FS)
	return status, problem.OwnerOnly(err)
}
