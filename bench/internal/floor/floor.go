package floor

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir/bench/internal/queue"
)

//go:embed schema.sql
var schema string

const (
	insertBatch = 5_000
	// claimBatch and movers gave the best rate on two cores; more movers only
	// wait for each other's commits.
	claimBatch = 500
	movers     = 4
	// idlePause is how long a mover waits after it found nothing.
	idlePause = 5 * time.Millisecond
)

const insertSQL = `
with t as (
	insert into task (class, params) select 1, params from unnest($1::jsonb[]) params returning id
), a as (
	insert into available (class, priority, order_seq, id) select 1, 0, nextval('order_seq'), id from t
)
insert into event (task, type) select id, 1 from t`

// The form matters: delete by ctid and look up the parameters by LATERAL with
// OFFSET 0, or the planner sorts the backlog or joins without statistics.
const claimSQL = `
with c as materialized (
	select ctid from available where class = 1
	order by priority, order_seq limit $1 for update skip locked
), d as (
	delete from available where ctid = any (array(select ctid from c)) returning id, attempt
), r as (
	insert into running (id, attempt, token, worker, until)
	select id, attempt + 1, gen_random_uuid(), $2, now() + interval '30 s' from d
	returning id, attempt, token
), e as (
	insert into event (task, type, attempt, source) select id, 2, attempt, $2 from r
)
select r.id, r.token, t.params
from r, lateral (select params from task where task.id = r.id offset 0) t`

// Tokens are random, so "one of this batch's tokens" is as strict as pairs and keeps the
// plan an index lookup.
const finishSQL = `
with d as (
	delete from running where id = any ($1::uuid[]) and token = any ($2::uuid[]) returning id, attempt
), f as (
	insert into finished (id, outcome, attempt) select id, 3, attempt from d
)
insert into event (task, type, attempt, source) select id, 3, attempt, $3 from d`

// Queue is the bare moves in one database.
type Queue struct {
	pool *pgxpool.Pool
}

func New(pool *pgxpool.Pool) *Queue { return &Queue{pool: pool} }

func (q *Queue) Name() string    { return "floor" }
func (q *Queue) Version() string { return "bare SQL" }

func (q *Queue) Settings(queue.Pace) string {
	return fmt.Sprintf("%d connections, claim %d and finish %d in two commits, insert by %d, no concurrency limit",
		movers, claimBatch, claimBatch, insertBatch)
}

func (q *Queue) Setup(ctx context.Context) error {
	if _, err := q.pool.Exec(ctx, schema); err != nil {
		return fmt.Errorf("create the floor's tables: %w", err)
	}
	return nil
}

func (q *Queue) Reset(ctx context.Context) error {
	if _, err := q.pool.Exec(ctx, "truncate task, available, running, finished, event"); err != nil {
		return fmt.Errorf("empty the floor's tables: %w", err)
	}
	return nil
}

func (q *Queue) Insert(ctx context.Context, n int) error {
	for from := 0; from < n; from += insertBatch {
		params := make([]string, min(insertBatch, n-from))
		for i := range params {
			params[i] = fmt.Sprintf(`{"num": %d}`, from+i)
		}
		if _, err := q.pool.Exec(ctx, insertSQL, params); err != nil {
			return fmt.Errorf("insert floor jobs: %w", err)
		}
	}
	return nil
}

func (q *Queue) InsertOne(ctx context.Context, number int64) error {
	if _, err := q.pool.Exec(ctx, insertSQL, []string{fmt.Sprintf(`{"num": %d}`, number)}); err != nil {
		return fmt.Errorf("insert floor job: %w", err)
	}
	return nil
}

// Start moves jobs until stopped. Concurrency is ignored: a job is handled in
// the loop that claimed it.
func (q *Queue) Start(ctx context.Context, config queue.WorkerConfig) (queue.Stop, error) {
	ctx, cancel := context.WithCancel(ctx)
	var wait sync.WaitGroup
	errs := make(chan error, movers)
	for i := range movers {
		wait.Go(func() {
			if err := q.move(ctx, fmt.Sprintf("mover-%d", i), config.Handle); err != nil && ctx.Err() == nil {
				errs <- err
			}
		})
	}
	return func(context.Context) error {
		cancel()
		wait.Wait()
		close(errs)
		return <-errs
	}, nil
}

func (q *Queue) move(ctx context.Context, worker string, handle func(int64)) error {
	for ctx.Err() == nil {
		moved, err := q.moveBatch(ctx, worker, handle)
		if err != nil {
			return err
		}
		if moved > 0 {
			continue
		}
		select {
		case <-ctx.Done():
		case <-time.After(idlePause):
		}
	}
	return nil
}

func (q *Queue) moveBatch(ctx context.Context, worker string, handle func(int64)) (int, error) {
	rows, err := q.pool.Query(ctx, claimSQL, claimBatch, worker)
	if err != nil {
		return 0, fmt.Errorf("claim floor jobs: %w", err)
	}
	var ids, tokens [][16]byte
	var id, token [16]byte
	var params []byte
	_, err = pgx.ForEachRow(rows, []any{&id, &token, &params}, func() error {
		var job struct {
			Number int64 `json:"num"`
		}
		if err := json.Unmarshal(params, &job); err != nil {
			return err
		}
		handle(job.Number)
		ids, tokens = append(ids, id), append(tokens, token)
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("claim floor jobs: %w", err)
	}
	if len(ids) == 0 {
		return 0, nil
	}
	if _, err := q.pool.Exec(ctx, finishSQL, ids, tokens, worker); err != nil {
		return 0, fmt.Errorf("finish floor jobs: %w", err)
	}
	return len(ids), nil
}

func (q *Queue) Left(ctx context.Context) (int64, error) {
	return q.count(ctx, "select (select count(*) from available) + (select count(*) from running)")
}

func (q *Queue) Finished(ctx context.Context) (int64, error) {
	return q.count(ctx, "select count(*) from finished where outcome = 3")
}

func (q *Queue) count(ctx context.Context, query string) (int64, error) {
	var n int64
	if err := q.pool.QueryRow(ctx, query).Scan(&n); err != nil {
		return 0, fmt.Errorf("count floor jobs: %w", err)
	}
	return n, nil
}
