package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/pg"
)

// partitions makes partitions ahead of time and drops those that are older than
// the retention.
func partitions(config Config, term pg.Term) loop.Tick {
	return func(ctx context.Context, _ time.Time) (bool, error) {
		var names []string
		if err := term.QueryRow(ctx, config.Pool, `select weir.ensure_partitions($1)`, []any{config.PartitionDays}, &names); err != nil {
			return false, fmt.Errorf("make partitions: %w", err)
		}
		if len(names) > 0 {
			config.Log.Info("made partitions", "names", names)
		}
		if config.Keep <= 0 {
			return false, nil
		}
		if err := term.QueryRow(ctx, config.Pool, `select weir.drop_partitions($1, $2)`, []any{config.Keep, config.NeedExport}, &names); err != nil {
			return false, fmt.Errorf("drop partitions: %w", err)
		}
		if len(names) > 0 {
			config.Log.Info("dropped partitions", "names", names)
		}
		return false, nil
	}
}

const (
	analyzeEvery = time.Hour
	// analyzeLeast is how many events make a difference to the planner.
	analyzeLeast = 10_000
)

// analyzer keeps the statistics of the partitioned tables. It writes nothing of
// ours, so it needs no term, and it takes too long to hold one up.
type analyzer struct {
	pool *pgxpool.Pool
	// seen is the last number of the timeline at the last ANALYZE, at when that was.
	seen int64
	at   time.Time
}

func (a *analyzer) tick(ctx context.Context, now time.Time) (bool, error) {
	var last int64
	if err := a.pool.QueryRow(ctx, `select last_value from weir.event_seq`).Scan(&last); err != nil {
		return false, fmt.Errorf("read the number of events: %w", err)
	}
	if !a.wants(last, now) {
		return false, nil
	}
	if _, err := a.pool.Exec(ctx, `select weir.analyze_parents()`); err != nil {
		return false, fmt.Errorf("analyze: %w", err)
	}
	a.seen, a.at = last, now
	return false, nil
}

// wants reports whether the tables have changed enough: at all in an hour, or
// twice as much as there was.
func (a *analyzer) wants(last int64, now time.Time) bool {
	grown := last - a.seen
	return grown > 0 && now.Sub(a.at) >= analyzeEvery || grown >= max(a.seen, analyzeLeast)
}
