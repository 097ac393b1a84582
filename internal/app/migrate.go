package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/weirhq/weir/internal/pg"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/schema"
)

// makeReady makes the partitions for the coming days, and lets a database that was
// loaded from a dump go on.
const makeReady = `select weir.ensure_partitions($1) from weir.adopt_restore()`

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
	err = conn.QueryRow(ctx, makeReady, c.PartitionDays).Scan(&m.Partitions)
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
