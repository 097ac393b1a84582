package weir

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/bench/internal/queue"
	"github.com/weirhq/weir/internal/pg"
	"github.com/weirhq/weir/schema"
)

// service is the service of every task of the benchmark.
const service = "benchmark"

// insertBatch is the same as River's.
const insertBatch = 5_000

// Queue is Weir in one database.
type Queue struct {
	pool   *pgxpool.Pool
	client *weir.Client
}

// New uses pool for everything: submitting, working and counting.
func New(pool *pgxpool.Pool) (*Queue, error) {
	client, err := weir.New(pool, &weir.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, fmt.Errorf("create Weir client: %w", err)
	}
	return &Queue{pool: pool, client: client}, nil
}

func (q *Queue) Name() string { return "weir" }

func (q *Queue) Version() string { return "this tree" }

func (q *Queue) Settings(queue.Pace) string {
	return fmt.Sprintf("the SDK's defaults, timeline on, SubmitMany by %d", insertBatch)
}

func (q *Queue) Setup(ctx context.Context) error {
	if _, err := pg.Migrate(ctx, q.pool.Config().ConnString(), schema.FS); err != nil {
		return fmt.Errorf("migrate Weir: %w", err)
	}
	if _, err := q.pool.Exec(ctx, "select weir.ensure_partitions()"); err != nil {
		return fmt.Errorf("make Weir's partitions: %w", err)
	}
	return nil
}

func (q *Queue) Reset(ctx context.Context) error {
	if err := q.truncate(ctx); err != nil {
		return fmt.Errorf("empty Weir's tables: %w", err)
	}
	if _, err := q.pool.Exec(ctx, "insert into weir.horizon (xid, order_seq) values (0, 0)"); err != nil {
		return fmt.Errorf("empty Weir's tables: %w", err)
	}
	return nil
}

// truncate locks every table in its own order, while the client that is still open tends
// them in the engine's order. If the two deadlock, PostgreSQL ends one; if it was this
// one, it is retried.
func (q *Queue) truncate(ctx context.Context) error {
	for try := 1; ; try++ {
		_, err := q.pool.Exec(ctx, `truncate weir.tasks, weir.pending, weir.available, weir.running, weir.finished, weir.events,
			weir.forgiven, weir.pools, weir.pool_moves, weir.class_moves, weir.horizon, weir.classes, weir.workers, weir.nodes, weir.node_faults, weir.pcs, weir.devices, weir.forwards, weir.device_spans`)
		var refused *pgconn.PgError
		if try == 10 || !errors.As(err, &refused) || refused.Code != "40P01" {
			return err
		}
	}
}

func (q *Queue) Insert(ctx context.Context, n int) error {
	return q.submit(ctx, n, func(int) weir.Task { return weir.Task{Service: service, Params: params{}} })
}

func (q *Queue) submit(ctx context.Context, n int, task func(i int) weir.Task) error {
	for from := 0; from < n; from += insertBatch {
		tasks := make([]weir.Task, min(insertBatch, n-from))
		for i := range tasks {
			tasks[i] = task(from + i)
		}
		if _, err := q.client.SubmitMany(ctx, tasks); err != nil {
			return fmt.Errorf("submit Weir tasks: %w", err)
		}
	}
	return nil
}

func (q *Queue) InsertOne(ctx context.Context, number int64) error {
	if _, err := q.client.Submit(ctx, weir.Task{Service: service, Params: params{Number: number}}); err != nil {
		return fmt.Errorf("submit a Weir task: %w", err)
	}
	return nil
}

func (q *Queue) Start(ctx context.Context, config queue.WorkerConfig) (queue.Stop, error) {
	worker := weir.NewWorker(q.client, weir.WorkerConfig{Concurrency: config.Concurrency})
	weir.Handle(worker, service, func(_ context.Context, run *weir.Run[params]) (any, error) {
		config.Handle(run.Args.Number)
		return nil, nil
	}, weir.Concurrency(config.Concurrency))
	ended := make(chan error, 1)
	go func() { ended <- worker.Run(context.WithoutCancel(ctx)) }()
	return func(ctx context.Context) error {
		if err := worker.Stop(ctx); err != nil {
			return err
		}
		return <-ended
	}, nil
}

func (q *Queue) Left(ctx context.Context) (int64, error) {
	return q.count(ctx, `select (select count(*) from weir.available) + (select count(*) from weir.running)
		+ (select count(*) from weir.pending where gate <> 'time' or run_at <= now())`)
}

func (q *Queue) Finished(ctx context.Context) (int64, error) {
	return q.count(ctx, "select count(*) from weir.finished where outcome = 'done'")
}

func (q *Queue) count(ctx context.Context, query string) (int64, error) {
	var n int64
	if err := q.pool.QueryRow(ctx, query).Scan(&n); err != nil {
		return 0, fmt.Errorf("count Weir tasks: %w", err)
	}
	return n, nil
}

// params are those of River's own benchmark.
type params struct {
	Number int64 `json:"num"`
}
