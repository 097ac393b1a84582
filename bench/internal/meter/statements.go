package meter

import (
	"context"
	"fmt"
	"math"

	"github.com/jackc/pgx/v5"
)

// Statements counts what pg_stat_statements saw in one database.
type Statements struct {
	// Calls are all statements, and Excluded those that match a pattern.
	Calls, Excluded int64
}

// CountStatements counts calls in the connection's database since the last
// ResetStatements. Statements of the benchmark itself carry the mark "bench:probe" in a
// comment inside the statement, which survives normalization, and are left out.
func CountStatements(ctx context.Context, conn *pgx.Conn, exclude []string) (Statements, error) {
	var s Statements
	err := conn.QueryRow(ctx, `
		select /* bench:probe */ coalesce(sum(calls), 0)::bigint,
		       coalesce(sum(calls) filter (where query like any ($1::text[])), 0)::bigint
		from pg_stat_statements
		where toplevel and dbid = (select oid from pg_database where datname = current_database())
		  and query not like '%bench:probe%'`,
		exclude).Scan(&s.Calls, &s.Excluded)
	if err != nil {
		return Statements{}, fmt.Errorf("count statements (is pg_stat_statements preloaded?): %w", err)
	}
	return s, nil
}

// StatementCost returns milliseconds per call and microseconds per returned row
// of the statements that match pattern, NaN when there were none.
func StatementCost(ctx context.Context, conn *pgx.Conn, pattern string) (perCall, perRow float64, err error) {
	var calls, rows int64
	var total float64
	err = conn.QueryRow(ctx, `
		select /* bench:probe */ coalesce(sum(calls), 0)::bigint, coalesce(sum(rows), 0)::bigint, coalesce(sum(total_exec_time), 0)
		from pg_stat_statements
		where toplevel and dbid = (select oid from pg_database where datname = current_database())
		  and query like $1 and query not like '%bench:probe%'`, pattern).Scan(&calls, &rows, &total)
	if err != nil {
		return 0, 0, fmt.Errorf("read statement times (is pg_stat_statements preloaded?): %w", err)
	}
	if calls == 0 || rows == 0 {
		return math.NaN(), math.NaN(), nil
	}
	return total / float64(calls), total * 1000 / float64(rows), nil
}

// ResetStatements forgets all statements seen so far.
func ResetStatements(ctx context.Context, conn *pgx.Conn) error {
	if _, err := conn.Exec(ctx, "select /* bench:probe */ pg_stat_statements_reset()"); err != nil {
		return fmt.Errorf("reset pg_stat_statements: %w", err)
	}
	return nil
}
