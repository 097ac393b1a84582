package river

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"github.com/weirhq/weir/bench/internal/queue"
)

// insertBatch is the batch of River's own benchmark.
const insertBatch = 5_000

// River's own benchmark uses these; they have an outsized effect on its rate.
const (
	fastCooldown = 2 * time.Millisecond
	fastPoll     = 20 * time.Millisecond
)

// Queue is River in one database.
type Queue struct {
	pool *pgxpool.Pool
	// insert is a client that never works jobs.
	insert *river.Client[pgx.Tx]
}

// New uses pool for everything: inserting, working and counting.
func New(pool *pgxpool.Pool) (*Queue, error) {
	client, err := river.NewClient(riverpgxv5.New(pool), &river.Config{
		Logger:        slog.New(slog.DiscardHandler),
		FetchCooldown: fastCooldown,
	})
	if err != nil {
		return nil, fmt.Errorf("create River client: %w", err)
	}
	return &Queue{pool: pool, insert: client}, nil
}

func (q *Queue) Name() string { return "river" }

func (q *Queue) Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, module := range info.Deps {
		if module.Path == "github.com/riverqueue/river" {
			return module.Version
		}
	}
	return "unknown"
}

func (q *Queue) Settings(pace queue.Pace) string {
	if pace == queue.Default {
		return fmt.Sprintf("FetchCooldown %s, FetchPollInterval %s (River's defaults)",
			river.FetchCooldownDefault, river.FetchPollIntervalDefault)
	}
	return fmt.Sprintf("FetchCooldown %s, FetchPollInterval %s (River's own benchmark), InsertManyFast by %d",
		fastCooldown, fastPoll, insertBatch)
}

func (q *Queue) Setup(ctx context.Context) error {
	migrator, err := rivermigrate.New(riverpgxv5.New(q.pool), &rivermigrate.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return fmt.Errorf("create River migrator: %w", err)
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return fmt.Errorf("migrate River: %w", err)
	}
	return nil
}

func (q *Queue) Reset(ctx context.Context) error {
	if _, err := q.pool.Exec(ctx, "truncate river_job"); err != nil {
		return fmt.Errorf("empty river_job: %w", err)
	}
	return nil
}

func (q *Queue) Insert(ctx context.Context, n int) error {
	for from := 0; from < n; from += insertBatch {
		params := make([]river.InsertManyParams, min(insertBatch, n-from))
		for i := range params {
			params[i].Args = args{}
		}
		if _, err := q.insert.InsertManyFast(ctx, params); err != nil {
			return fmt.Errorf("insert River jobs: %w", err)
		}
	}
	return nil
}

func (q *Queue) InsertOne(ctx context.Context, number int64) error {
	if _, err := q.insert.Insert(ctx, args{Number: number}, nil); err != nil {
		return fmt.Errorf("insert River job: %w", err)
	}
	return nil
}

func (q *Queue) Start(ctx context.Context, config queue.WorkerConfig) (queue.Stop, error) {
	workers := river.NewWorkers()
	river.AddWorker(workers, &worker{handle: config.Handle})
	settings := &river.Config{
		Logger:  slog.New(slog.DiscardHandler),
		Queues:  map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: config.Concurrency}},
		Workers: workers,
	}
	if config.Pace == queue.Fast {
		settings.FetchCooldown, settings.FetchPollInterval = fastCooldown, fastPoll
	}
	client, err := river.NewClient(riverpgxv5.New(q.pool), settings)
	if err != nil {
		return nil, fmt.Errorf("create River worker: %w", err)
	}
	if err := client.Start(ctx); err != nil {
		return nil, fmt.Errorf("start River worker: %w", err)
	}
	return client.Stop, nil
}

func (q *Queue) Left(ctx context.Context) (int64, error) {
	return q.count(ctx, "select count(*) from river_job where state in ('available', 'running', 'retryable')")
}

func (q *Queue) Finished(ctx context.Context) (int64, error) {
	return q.count(ctx, "select count(*) from river_job where state = 'completed'")
}

func (q *Queue) count(ctx context.Context, query string) (int64, error) {
	var n int64
	if err := q.pool.QueryRow(ctx, query).Scan(&n); err != nil {
		return 0, fmt.Errorf("count River jobs: %w", err)
	}
	return n, nil
}

// args are the arguments of River's own benchmark. There the number is 0 in every job of
// a bulk insert, which saves River's index on arguments one new key per job: 7 % of its
// WAL. This adapter does the same.
type args struct {
	Number int64 `json:"num"`
}

func (args) Kind() string { return "benchmark" }

type worker struct {
	river.WorkerDefaults[args]
	handle func(number int64)
}

func (w *worker) Work(_ context.Context, job *river.Job[args]) error {
	w.handle(job.Args.Number)
	return nil
}
