package weir

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// ClaimStatement matches the statement inside weir.claim, because the call of the
// function itself would count its rows a second time.
func (q *Queue) ClaimStatement() string { return "%from weir.claim(%" }

// Preload writes the rows that Weir itself would have left behind: each task,
// its end and its events in batches of 500, and tasks that wait for tomorrow.
func (q *Queue) Preload(ctx context.Context, finished, future int) error {
	steps := []struct {
		what, sql string
		n         int
	}{
		{"finished tasks", `
			with ids as materialized (
				select n, weir._id(now(), n) as id from generate_series(1, $1::int) n
			), c as (
				insert into weir.classes (service, priority, labels) values ('benchmark', 0, '{}')
				on conflict (service, priority, labels) do update set priority = 0 returning id
			), t as (
				insert into weir.tasks (id, order_seq, class, position, max_attempts, params)
				select ids.id, nextval('weir.order_seq'), c.id, 0, null, jsonb_build_object('num', ids.n) from ids, c
			), f as (
				insert into weir.finished (task, at, started_at, worker, attempt, outcome) select id, now(), now(), 1, 1, 'done' from ids
			)
			insert into weir.events (at, type, tasks)
			select now(), type, array_agg(id) from ids, unnest(array['submitted', 'claimed', 'done']) type group by type, n / 500`, finished},
		{"future tasks", `
			with ids as materialized (
				select n, weir._id(now(), n) as id, nextval('weir.order_seq') as seq from generate_series(1, $1::int) n
			), c as (
				select id from weir.classes where service = 'benchmark' limit 1
			), t as (
				insert into weir.tasks (id, order_seq, class, position, max_attempts, params, run_at)
				select ids.id, ids.seq, c.id, 0, null, jsonb_build_object('num', ids.n), now() + interval '1 day' from ids, c
			), p as (
				insert into weir.pending (task, order_seq, class, position, priority, attempt, gate, since, run_at)
				select ids.id, ids.seq, c.id, 0, 0, 0, 'time', now(), now() + interval '1 day' from ids, c
			)
			insert into weir.events (at, type, tasks) select now(), 'gated', array_agg(id) from ids group by n / 500`, future},
	}
	return pgx.BeginFunc(ctx, q.pool, func(tx pgx.Tx) error {
		for _, step := range steps {
			if _, err := tx.Exec(ctx, step.sql, step.n); err != nil {
				return fmt.Errorf("preload Weir's %s: %w", step.what, err)
			}
		}
		return nil
	})
}
