package engine

import (
	"context"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir/internal/listen"
	"github.com/weirhq/weir/internal/loop"
)

// Term is the leader's: a statement changes nothing once the term is over.
type Term interface {
	QueryRow(ctx context.Context, pool *pgxpool.Pool, sql string, args []any, into ...any) error
}

// Config says on which database the loops work. Pool is needed.
type Config struct {
	Pool *pgxpool.Pool
	// Gates hears of [GatesChannel]. Nil: lanes and pools wait for the next sweep.
	Gates *listen.Subscription
	// Keep is how long history is kept. Zero: for ever.
	Keep time.Duration
	// NeedExport keeps events until they are exported.
	NeedExport bool
	Log        *slog.Logger
}

// Loops are what the leader does for the engine during one term.
func Loops(config Config, term Term) []loop.Loop {
	config = withLog(config)
	tend := &tender{config: config, term: term}
	schedules := &scheduler{config: config, term: term, broken: map[string]time.Time{}}
	analyze := &analyzer{pool: config.Pool}
	var gates <-chan struct{}
	if config.Gates != nil {
		gates = config.Gates.C()
	}
	return []loop.Loop{
		{Name: "tend", Tick: tend.tick, Every: tendEvery, Next: tend.due, Wake: gates, Gap: hintGap, Timeout: 30 * time.Second},
		{Name: "schedules", Tick: schedules.tick, Every: schedulesEvery, Next: schedules.due},
		{Name: "partitions", Tick: partitions(config, term), Every: time.Hour, Timeout: 10 * time.Minute},
		{Name: "analyze", Tick: analyze.tick, Every: 5 * time.Minute, Timeout: 30 * time.Minute},
	}
}

// withLog makes sure that there is a log.
func withLog(config Config) Config {
	if config.Log == nil {
		config.Log = slog.New(slog.DiscardHandler)
	}
	return config
}
