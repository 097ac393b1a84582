package fleet

import (
	"context"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/pg"
)

const (
	// tendEvery is the interval of the pass for everything that time causes.
	tendEvery = time.Second
	// tidyEvery is the interval at which jobs that the engine has deleted are looked for.
	tidyEvery = 10 * time.Minute
	// reportsEvery is the interval at which new reports of tests are looked for.
	reportsEvery = 2 * time.Second
)

// Config says on which database the loops work. Pool is required.
type Config struct {
	Pool *pgxpool.Pool
	// Bucket has the reports of tests that runs left. If nil, they are not read.
	Bucket blob.Bucket
	Log    *slog.Logger
}

// Loops returns the leader's loops for fleets during one term.
func Loops(config Config, term pg.Term) []loop.Loop {
	l := &leader{pool: config.Pool, bucket: config.Bucket, term: term, log: config.Log}
	if l.log == nil {
		l.log = slog.New(slog.DiscardHandler)
	}
	loops := []loop.Loop{
		{Name: "fleet", Tick: l.tend, Every: tendEvery, Gap: 100 * time.Millisecond},
		{Name: "fleet tidy", Tick: l.tidy, Every: tidyEvery},
	}
	if l.bucket != nil {
		loops = append(loops, loop.Loop{Name: "fleet reports", Tick: l.reports, Every: reportsEvery})
	}
	return loops
}

// leader is the one server that tends the fleet. Two leaders at once are harmless.
type leader struct {
	pool   *pgxpool.Pool
	bucket blob.Bucket
	term   pg.Term
	log    *slog.Logger
}

func (l *leader) tend(ctx context.Context, _ time.Time) (more bool, err error) {
	var offline, missed int
	if err := l.term.QueryRow(ctx, l.pool, tendSQL, nil, &offline, &missed, &more); err != nil {
		return false, err
	}
	if offline > 0 {
		l.log.Warn("devices went offline", "devices", offline)
	}
	if missed > 0 {
		l.log.Warn("a fleet job ended without devices that did not come back", "units", missed)
	}
	return more, nil
}

func (l *leader) tidy(ctx context.Context, _ time.Time) (more bool, err error) {
	var forgotten int
	err = l.term.QueryRow(ctx, l.pool, tidySQL, nil, &forgotten)
	return forgotten > 0, err
}
