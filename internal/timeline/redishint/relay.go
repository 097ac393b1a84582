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
	// gap limits the hints to twenty a second.
	gap = 50 * time.Millisecond
	// lookFirst and lookLast bound the time between two polls of the timeline, lookBusy
	// while tasks run, because the end of a task brings no hint from PostgreSQL.
	lookFirst, lookBusy, lookLast = 100 * time.Millisecond, 250 * time.Millisecond, 2 * time.Second
	// publishWithin is the timeout of Redis, because the next hint says the same.
	publishWithin = 2 * time.Second
)

// Relay returns the leader's loop that publishes when the timeline has grown. wake
// receives the hints of PostgreSQL; if it is nil, the loop polls.
func (b *Bus) Relay(pool *pgxpool.Pool, wake <-chan struct{}) loop.Loop {
	r := &relay{bus: b, pool: pool, pause: lookFirst}
	return loop.Loop{Name: "relay", Tick: r.tick, Every: lookLast, Wake: wake, Gap: gap, Next: r.due, Timeout: 30 * time.Second}
}

type relay struct {
	bus  *Bus
	pool *pgxpool.Pool
	// last is the last published cursor; pause grows while nothing happens.
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
	// It is no failure of the loop if Redis is away: that is logged once, and the next
	// hint makes up for this one.
	err = r.bus.publish(within, string(newest))
	r.bus.tell(ctx, "publishing", err)
	if err != nil {
		r.next = now.Add(lookLast)
		return false, nil
	}
	r.last = newest
	return false, nil
}
