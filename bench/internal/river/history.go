package river

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// ClaimStatement matches the one statement that locks available jobs.
func (q *Queue) ClaimStatement() string { return "%locked_jobs%" }

// Preload writes the rows that River itself would have left behind. The
// indexes are dropped and built again, which is faster and leaves them better
// packed than real use would.
func (q *Queue) Preload(ctx context.Context, finished, future int) error {
	return pgx.BeginFunc(ctx, q.pool, func(tx pgx.Tx) error {
		rebuild, err := dropIndexes(ctx, tx)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `
			insert into river_job (state, attempt, max_attempts, attempted_at, created_at, finalized_at,
			                       scheduled_at, priority, args, attempted_by, kind, metadata, queue)
			select 'completed', 1, 25, now(), now(), now(), now(), 1,
			       jsonb_build_object('num', n), array['bench'], 'benchmark', '{}', 'default'
			from generate_series(1, $1::int) n`, finished); err != nil {
			return fmt.Errorf("preload finished River jobs: %w", err)
		}
		if _, err := tx.Exec(ctx, `
			insert into river_job (state, max_attempts, created_at, scheduled_at, priority, args, kind, metadata, queue)
			select 'scheduled', 25, now(), now() + interval '1 day', 1,
			       jsonb_build_object('num', n), 'benchmark', '{}', 'default'
			from generate_series(1, $1::int) n`, future); err != nil {
			return fmt.Errorf("preload future River jobs: %w", err)
		}
		for _, statement := range rebuild {
			if _, err := tx.Exec(ctx, statement); err != nil {
				return fmt.Errorf("build a River index again: %w", err)
			}
		}
		return nil
	})
}

// dropIndexes drops every index of river_job but the primary key and returns
// the statements that create them again.
func dropIndexes(ctx context.Context, tx pgx.Tx) ([]string, error) {
	rows, err := tx.Query(ctx, `
		select format('drop index %s', indexrelid::regclass), pg_get_indexdef(indexrelid)
		from pg_index where indrelid = 'river_job'::regclass and not indisprimary`)
	if err != nil {
		return nil, fmt.Errorf("list River's indexes: %w", err)
	}
	type index struct{ Drop, Create string }
	indexes, err := pgx.CollectRows(rows, pgx.RowToStructByPos[index])
	if err != nil {
		return nil, fmt.Errorf("list River's indexes: %w", err)
	}
	var create []string
	for _, index := range indexes {
		if _, err := tx.Exec(ctx, index.Drop); err != nil {
			return nil, fmt.Errorf("drop a River index: %w", err)
		}
		create = append(create, index.Create)
	}
	return create, nil
}
