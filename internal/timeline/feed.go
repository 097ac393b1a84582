package timeline

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/problem"
)

const (
	// pollFirst and pollLast bound the time between two polls while nothing happens.
	pollFirst, pollLast = 50 * time.Millisecond, 2 * time.Second
	// pollBusy bounds it while tasks run, because the end of a task sends no hint.
	pollBusy = 250 * time.Millisecond
	// settle lets the transaction of a hint grow old enough to be read.
	settle = 10 * time.Millisecond
	// retryFirst and retryLast bound the wait between two tries while the
	// database is away.
	retryFirst, retryLast = 50 * time.Millisecond, 5 * time.Second
)

// Channels are the channels whose hints may mean that the timeline has grown.
var Channels = []string{"weir_available", "weir_gates", "weir_cancel"}

// Feed reads the timeline from a cursor on. It is for one reader; several readers share a
// [Hub].
type Feed struct {
	pool   *pgxpool.Pool
	filter Filter
	wake   <-chan struct{}
	at     place
	// more means that the last read did not reach the end.
	more bool
}

// NewFeed begins after the cursor; the empty cursor is the beginning, [Tail] is now. wake
// may be nil: then the feed polls.
func NewFeed(pool *pgxpool.Pool, after weir.Cursor, filter Filter, wake <-chan struct{}) (*Feed, error) {
	at := beginning
	if after != "" {
		var err error
		if at, err = parsePlace(after); err != nil {
			return nil, err
		}
	}
	return &Feed{pool: pool, filter: filter, wake: wake, at: at}, nil
}

// Tail returns the cursor of the current end.
func Tail(ctx context.Context, pool *pgxpool.Pool) (weir.Cursor, error) {
	var tail string
	if err := pool.QueryRow(ctx, `select weir.events_tail()`).Scan(&tail); err != nil {
		return "", fmt.Errorf("read the end of the timeline: %w", err)
	}
	return weir.Cursor(tail), nil
}

// Cursor returns where a new feed continues after everything that Next has returned. It
// moves also over events that the filter leaves out.
func (f *Feed) Cursor() weir.Cursor { return f.at.cursor() }

// Next waits for events and returns at least one. It retries while the database is away;
// its error is that of ctx, or a refusal.
func (f *Feed) Next(ctx context.Context) ([]*Event, error) {
	for poll, retry := pollFirst, retryFirst; ; {
		found, err := f.read(ctx)
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err != nil && !transient(err):
			return nil, fmt.Errorf("read the timeline: %w", err)
		case err != nil:
			loop.Wait(ctx, retry, nil)
			retry = min(2*retry, retryLast)
		case len(found.events) > 0:
			return found.events, nil
		case !found.full:
			retry = retryFirst
			if found.busy {
				poll = min(poll, pollBusy)
			}
			loop.Wait(ctx, poll, f.wake)
			loop.Wait(ctx, settle, nil)
			poll = min(2*poll, pollLast)
		}
	}
}

// read reads once and moves the place.
func (f *Feed) read(ctx context.Context) (found, error) {
	found, err := read(ctx, f.pool, f.at, &f.filter)
	if err == nil {
		f.at, f.more = found.end, found.full
	}
	return found, err
}

// transient reports whether the same read may succeed later.
func transient(err error) bool {
	if own := new(problem.Problem); errors.As(err, &own) {
		return false
	}
	var refused *pgconn.PgError
	if !errors.As(err, &refused) {
		return true
	}
	switch refused.Code[:2] {
	case "08", "40", "53", "57":
		return true
	}
	return false
}
