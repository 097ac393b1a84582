package app

import (
	"context"

	"github.com/weirhq/weir/internal/pg"
	"github.com/weirhq/weir/schema"
)

// Migrate brings the database at url to the schema of this binary.
func Migrate(ctx context.Context, url string) (pg.Report, error) {
	return pg.Migrate(ctx, url, schema.FS)
}

// MigrationStatus says what Migrate would do.
func MigrationStatus(ctx context.Context, url string) (pg.Status, error) {
	return pg.MigrationStatus(ctx, url, schema.FS)
}
