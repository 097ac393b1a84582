package meter

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// RowsWritten counts rows inserted, updated and deleted in all tables of the connection's
// database since their statistics began. The connection first flushes its own counts,
// which Postgres would otherwise hold back for up to a second, so the measured statement
// must run on the same connection. Tables that other sessions write to in the meantime
// can be left out.
func RowsWritten(ctx context.Context, conn *pgx.Conn, except ...string) (int64, error) {
	if _, err := conn.Exec(ctx, "select pg_stat_force_next_flush()"); err != nil {
		return 0, fmt.Errorf("flush table statistics: %w", err)
	}
	var written int64
	err := conn.QueryRow(ctx, `
		select coalesce(sum(n_tup_ins + n_tup_upd + n_tup_del), 0)::bigint
		from pg_stat_user_tables where relname <> all (coalesce($1::text[], '{}'))`, except).Scan(&written)
	if err != nil {
		return 0, fmt.Errorf("read table statistics: %w", err)
	}
	return written, nil
}
