package redishint

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/timeline"
)

const (
	// gap keeps the hints to twenty a second.
	gap = 50 * time.Millisecond
	// lookFirst and lookLast bound the time between two looks at the timeline,
	// lookBusy while tasks run: that one has ended brings no hint from PostgreSQL.
	lookFirst, lookBusy, lookLast = 100 * time.Millisecond, 250 * time.Millisecond, 2 * time.Second
	// publishWithin is how long Redis may take: the next hint says the same.
	publishWithin = 2 * time.Second
)

// Relay is the leader's loop that publishes when the timeline grew. Wake hears
// the hints of PostgreSQL; nil: it polls.
func (b *Bus) Relay(pool *pgxpool.Pool, wake <-chan struct{}) loop.Loop {
	r := &relay{bus: b, pool: pool, pause: lookFirst}
	return loop.Loop{Name: "relay", Tick: r.tick, Every: lookLast, Wake: wake, Gap: gap, Next: r.due, Timeout: 30 * time.Second}
}

type relay struct {
	bus  *Bus
	pool *pgxpool.Pool
	// last is what was published; pause grows while nothing happens.
	last  weir.Cursor
	pause time.Duration
	next  time.Time
}

func (r *relay) due() time.Time { return r.next }

func (r *relay) tick(ctx context.Context, now time.Time) (more bool, err error) {
	newest, busy, err := timeline.Newest(ctx, r.pool)
	if err != nil {
		return false, err
	}
	switch {
	case newest != r.last:
		r.pause = lookFirst
	case busy:
		r.pause = lookBusy
	default:
		r.pause = min(2*r.pause, lookLast)
	}
	r.next = now.Add(r.pause)
	if newest == r.last {
		return false, nil
	}
	within, cancel := context.WithTimeout(ctx, publishWithin)
	defer cancel()
	// That Redis is away is no failure of the loop: it is said once, and the
	// next hint makes good for this one.
	err = r.bus.publish(within, string(newest))
	r.bus.tell(ctx, "publishing", err)
	if err != nil {
		r.next = now.Add(lookLast)
		return false, nil
	}
	r.last = newest
	return false, nil
}
