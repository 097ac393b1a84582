package engine

import (
	"cmp"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir/internal/listen"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/pg"
)

// PlanChannel says that a task or a job may wait for a plan: a task came to the
// gate plan, a queued job is due, a job that others wait for has ended.
const PlanChannel = "weir_plan"

// Config says on which database the loops work, and how. Pool is needed; the
// zero value of all else works.
type Config struct {
	Pool *pgxpool.Pool
	// Gates hears of [GatesChannel]. Nil: lanes and pools wait for the next sweep.
	Gates *listen.Subscription
	// TendEvery is the longest time between two looks at what is due. Zero: 1 s.
	TendEvery time.Duration
	// TendGap is the shortest one, so that a storm of hints stays few passes.
	// Zero: 50 ms.
	TendGap time.Duration
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
	tend := &tender{config: config, term: term}
	schedules := &scheduler{config: config, term: term, broken: map[string]time.Time{}}
	tally := &tallier{config: config, term: term}
	analyze := &analyzer{pool: config.Pool}
	var gates <-chan struct{}
	if config.Gates != nil {
		gates = config.Gates.C()
	}
	return []loop.Loop{
		{Name: "tend", Tick: tend.tick, Every: config.TendEvery, Next: tend.due, Wake: gates, Gap: config.TendGap, Timeout: 30 * time.Second},
		{Name: "schedules", Tick: schedules.tick, Every: schedulesEvery, Next: schedules.due},
		{Name: "partitions", Tick: partitions(config, term), Every: time.Hour, Timeout: 10 * time.Minute},
		{Name: "tally", Tick: tally.tick, Every: tallyIdle, Next: tally.due},
		{Name: "analyze", Tick: analyze.tick, Every: 5 * time.Minute, Timeout: 30 * time.Minute},
	}
}

func (c Config) withDefaults() Config {
	c.TendEvery = cmp.Or(c.TendEvery, time.Second)
	c.TendGap = cmp.Or(c.TendGap, 50*time.Millisecond)
	c.PartitionDays = cmp.Or(c.PartitionDays, 7)
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	return c
}
