package queue

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Pace is how eagerly workers look for work.
type Pace int

const (
	// Fast is the setting the system's authors use for their own benchmark.
	Fast Pace = iota
	// Default is what a user gets without any setting.
	Default
)

func (p Pace) String() string {
	if p == Default {
		return "default settings"
	}
	return "fast settings"
}

// WorkerConfig describes one worker process of a system.
type WorkerConfig struct {
	// Concurrency is how many handlers may run at once.
	Concurrency int
	Pace        Pace
	// Handle runs once for each job, with the job's number. It is called from
	// many goroutines.
	Handle func(number int64)
}

// Stop ends what a Start began. It returns when nothing of it runs anymore.
type Stop func(ctx context.Context) error

// Queue is one system under test, in its own database.
type Queue interface {
	// Name is the short name in tables and figures.
	Name() string
	// Version is the version of the system's package.
	Version() string
	// Settings describes in one line how the adapter drives the system.
	Settings(pace Pace) string

	// Setup creates the schema in an empty database.
	Setup(ctx context.Context) error
	// Reset empties every table.
	Reset(ctx context.Context) error
	// Insert adds n jobs that can run at once, by the fastest public way to
	// insert in bulk. All are committed when it returns.
	Insert(ctx context.Context, n int) error
	// InsertOne adds one job with this number, as an application would, and
	// returns when it is committed.
	InsertOne(ctx context.Context, number int64) error
	// Start runs a worker until Stop.
	Start(ctx context.Context, config WorkerConfig) (Stop, error)

	// Left counts committed jobs that are neither finished nor due in the
	// future. It is polled while the clock runs, so it must stay cheap.
	Left(ctx context.Context) (int64, error)
	// Finished counts jobs whose successful end is committed. It may scan.
	Finished(ctx context.Context) (int64, error)
}

// Preloader can have a long history without having run it.
type Preloader interface {
	// Preload adds finished jobs and jobs due tomorrow.
	Preload(ctx context.Context, finished, future int) error
	// ClaimStatement is a LIKE pattern for the claim in pg_stat_statements.
	ClaimStatement() string
}

// Idler can show the cost of many waiting workers.
type Idler interface {
	// StartIdle registers n workers that wait for work with default settings.
	StartIdle(ctx context.Context, n int) (Stop, error)
	// HeartbeatStatements are LIKE patterns of statements that only report "still alive";
	// a system without such statements returns none.
	HeartbeatStatements() []string
}

// Gated is a system whose jobs can wait behind gates.
type Gated interface {
	// InsertGated adds n jobs spread evenly over lanes and pools that never
	// stay closed, so that every job passes both gates and all can finish.
	InsertGated(ctx context.Context, n, lanes, pools int) error
	// InsertBlocked adds n jobs behind one pool that is full and stays full.
	InsertBlocked(ctx context.Context, n int) error
	// OpenGates makes one full pass on this connection and returns how many
	// jobs it let through.
	OpenGates(ctx context.Context, conn *pgx.Conn) (int64, error)
}
