package pages

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir/internal/pg"
	"github.com/weirhq/weir/schema"
)

//go:embed history.sql
var historySQL string

//go:embed live.sql
var liveSQL string

const (
	// Weeks is how far the history reaches back.
	Weeks = 4
	// slice is how many jobs one statement writes. Their tasks must fit into memory.
	slice = 10_000
	// writers share the history; each has its own weeks.
	writers = 2
	// TasksPerJob is the mean: 3 to 15 in a job, and one without.
	TasksPerJob = 10
)

// Size is how much to write.
type Size struct {
	// Jobs is a multiple of 200.
	Jobs int
	// Live is the approximate number of tasks that have not ended.
	Live int
}

// Fill makes the schema and writes everything.
func Fill(ctx context.Context, pool *pgxpool.Pool, size Size) error {
	if _, err := pg.Migrate(ctx, pool.Config().ConnString(), schema.FS); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	for _, step := range []struct {
		name string
		do   func(context.Context, *pgxpool.Pool, Size) error
	}{{"prepare", prepare}, {"write the history", history}, {"submit what lives", live}, {"settle", settle}} {
		if err := step.do(ctx, pool, size); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
	}
	return nil
}

// prepare makes what the history refers to: partitions, classes, machines.
func prepare(ctx context.Context, pool *pgxpool.Pool, _ Size) error {
	return execAll(ctx, pool,
		fmt.Sprintf(`select weir.ensure_partitions(at => clock_timestamp() - interval '%d weeks', ahead => '%d weeks')`, Weeks, Weeks+2),
		`insert into weir.classes (service, priority, labels) select s, 0, '{}' from (select 'service-' || i as s, i from generate_series(1, 200) i union all values ('archive', 201), ('seldom', 202) order by 2) x`,
		`select weir.register_node('node-' || lpad(i::text, 3, '0'), jsonb_build_object('zone', 'z' || i % 3), jsonb_build_object('service-' || 1 + i % 200, 20)) from generate_series(1, 100) i`,
		`select weir.register_worker('worker-' || lpad(i::text, 3, '0'), array['service-' || 1 + (i / 4) % 200], 'node-' || lpad((1 + i / 4 % 100)::text, 3, '0')) from generate_series(1, 400) i`,
		`select weir.set_schedule('schedule-' || lpad(i::text, 3, '0'), '@daily', '{"service": "service-1"}', clock_timestamp() + interval '100 days') from generate_series(1, 100) i`,
	)
}

// history writes ended jobs and tasks, from several connections at once, each for its own
// span of time.
func history(ctx context.Context, pool *pgxpool.Pool, size Size) error {
	var end time.Time
	if err := pool.QueryRow(ctx, `select clock_timestamp() - interval '10 min'`).Scan(&end); err != nil {
		return err
	}
	start := end.AddDate(0, 0, -7*Weeks)
	gap := end.Sub(start) / time.Duration(size.Jobs)
	var group sync.WaitGroup
	var errs [writers]error
	share := size.Jobs / writers
	for w := range writers {
		group.Go(func() {
			from, last := w*share+1, (w+1)*share
			for i := from; i <= last && errs[w] == nil; i += slice {
				// A cached plan would not know how many rows there are.
				if _, err := pool.Exec(ctx, historySQL, pgx.QueryExecModeExec, i, min(i+slice-1, last), size.Jobs, start, gap); err != nil {
					errs[w] = fmt.Errorf("jobs from %d: %w", i, err)
				}
			}
		})
	}
	group.Wait()
	if err := errors.Join(errs[:]...); err != nil {
		return err
	}
	return execAll(ctx, pool,
		fmt.Sprintf(`select setval('weir.event_seq', %d), setval('weir.order_seq', %d)`, (size.Jobs+1)*32, size.Jobs*2+1000),
		`update weir.horizon set order_seq = (select last_value from weir.order_seq)`)
}

// live submits and claims through the engine.
func live(ctx context.Context, pool *pgxpool.Pool, size Size) error {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	if _, err := conn.Exec(ctx, `select set_config('bench.live', $1::int::text, false)`, size.Live); err != nil {
		return err
	}
	return execAll(ctx, conn, liveSQL,
		`select weir.lead('coordinator', 'bench', ttl => '1 day')`,
		`select count(*) from generate_series(1, 400) i, weir.claim('worker-' || lpad(i::text, 3, '0'), array['service-' || 1 + (i / 4) % 200], 10, lease => '1 day')`,
		`insert into weir.minutes (at, submitted, started, done, failed, wait_p50, wait_p95, run_p50, run_p95, waits, runs)
			select date_trunc('minute', now()) - i * interval '1 min', 250, 250, 245, 5, 1, 2, 3, 4, array_fill(1::real, array[500]), array_fill(1::real, array[500]) from generate_series(1, 8 * 1440) i`,
		`select weir.record(r.task, r.attempt, r.token, 'progress', data => '{"percent": 40}') from weir.running r`,
	)
}

// settle brings the tables into the state after the engine has run for a while.
func settle(ctx context.Context, pool *pgxpool.Pool, _ Size) error {
	return execAll(ctx, pool,
		`select brin_summarize_new_values(i.indexrelid) from pg_index i join pg_class c on c.oid = i.indexrelid join pg_am a on a.oid = c.relam and a.amname = 'brin'
			where c.relnamespace = 'weir'::regnamespace and c.relkind = 'i'`,
		`analyze`, `select weir.analyze_parents()`, `checkpoint`)
}

// executor is a pool or one of its connections.
type executor interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}

func execAll(ctx context.Context, db executor, statements ...string) error {
	for _, s := range statements {
		if _, err := db.Exec(ctx, s); err != nil {
			return err
		}
	}
	return nil
}
