package tending

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir/internal/listen"
)

// Term is the time in which this process tends: a statement that runs in it fails once
// another tends.
type Term interface {
	QueryRow(ctx context.Context, pool *pgxpool.Pool, sql string, args []any, into ...any) error
}

// Config says on which database the loops work, and how. Pool and Term are needed, and
// Due by [Schedules].
type Config struct {
	Pool *pgxpool.Pool
	Term Term
	// Gates hears of [GatesChannel]. Nil: lanes and pools wait for the next sweep.
	Gates *listen.Subscription
	// Every is the longest time between two passes. Zero: 1 s.
	Every time.Duration
	// Gap is the shortest one, so that a storm of hints stays few passes. Zero: 50 ms.
	Gap time.Duration
	// Due says which runs of a schedule to submit now, and when the one after is; zero:
	// there is none.
	Due func(Schedule) (runs []time.Time, next time.Time, err error)
	// Ready hears that there may be work for workers of this process. Nil: it has none.
	Ready func()
	Log   *slog.Logger
}

func (c Config) withDefaults() Config {
	c.Every = cmp.Or(c.Every, time.Second)
	c.Gap = cmp.Or(c.Gap, 50*time.Millisecond)
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	if c.Ready == nil {
		c.Ready = func() {}
	}
	return c
}

func (c Config) act(ctx context.Context, sql string, args []any, into ...any) error {
	return c.Term.QueryRow(ctx, c.Pool, sql, args, into...)
}
