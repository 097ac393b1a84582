package engine

import (
	"cmp"
	"log/slog"
	"time"
	_ "time/tzdata" // a small container has no time zones of its own

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/listen"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/pg"
	"github.com/weirhq/weir/internal/tending"
)

// PlanChannel says that a task or a job may wait for a plan: a task came to the
// gate plan, a queued job is due, a job that others wait for has ended.
const PlanChannel = "weir_plan"

// Config says on which database the loops work, and how. Pool is needed; the
// zero value of all else works.
type Config struct {
	Pool *pgxpool.Pool
	// Gates, TendEvery and TendGap are those of package tending.
	Gates              *listen.Subscription
	TendEvery, TendGap time.Duration
	// PartitionDays is how many days one partition of the history spans. Zero: 7.
	PartitionDays int
	// Keep is how long history is kept. Zero: for ever.
	Keep time.Duration
	// NeedExport keeps events until they are exported.
	NeedExport bool
	Log        *slog.Logger
}

// Loops are what the leader does for the engine during one term.
func Loops(config Config, term pg.Term) []loop.Loop {
	config = config.withDefaults()
	tend := tending.Config{
		Pool: config.Pool, Term: term, Gates: config.Gates, Every: config.TendEvery, Gap: config.TendGap, Due: due, Log: config.Log,
	}
	tally := &tallier{config: config, term: term}
	analyze := &analyzer{pool: config.Pool}
	return []loop.Loop{
		tending.New(tend).Loop(),
		tending.Schedules(tend),
		{Name: "partitions", Tick: partitions(config, term), Every: time.Hour, Timeout: 10 * time.Minute},
		{Name: "tally", Tick: tally.tick, Every: tallyIdle, Next: tally.due},
		{Name: "analyze", Tick: analyze.tick, Every: 5 * time.Minute, Timeout: 30 * time.Minute},
	}
}

func due(s tending.Schedule) (runs []time.Time, next time.Time, err error) {
	return weir.Schedule{Spec: s.Spec, Zone: s.Zone, Missed: weir.Missed(s.Missed), CatchUp: s.CatchUp}.Due(s.NextAt, s.Now)
}

func (c Config) withDefaults() Config {
	c.PartitionDays = cmp.Or(c.PartitionDays, 7)
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	return c
}
