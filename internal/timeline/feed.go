package timeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype/zeronull"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/loop"
)

const (
	// batch is how many rows of the timeline one statement reads.
	batch = 1000
	// pollFirst and pollLast bound the time between two looks while nothing happens.
	pollFirst, pollLast = 50 * time.Millisecond, 2 * time.Second
	// retryLast bounds the wait between two tries while the database is away.
	retryLast = 5 * time.Second
	// readTimeout is how long one read may take.
	readTimeout = 30 * time.Second
)

// Channels are those whose hints may mean that the timeline has grown.
var Channels = []string{"weir_available", "weir_gates", "weir_cancel"}

// Filter narrows a feed. The zero value is everything.
type Filter struct {
	Job, Task weir.ID
	// Types are the types of events wanted; none: all.
	Types []string
}

// Feed reads the timeline from a cursor on. It is for one reader.
type Feed struct {
	pool   *pgxpool.Pool
	filter Filter
	wake   <-chan struct{}
	cursor weir.Cursor
}

// NewFeed begins after the cursor; the empty one is the beginning, [Tail] is
// now. Wake may be nil: then the feed polls.
func NewFeed(pool *pgxpool.Pool, after weir.Cursor, filter Filter, wake <-chan struct{}) *Feed {
	if after == "" {
		after = "0.0"
	}
	return &Feed{pool: pool, filter: filter, wake: wake, cursor: after}
}

// Tail is the cursor of now.
func Tail(ctx context.Context, pool *pgxpool.Pool) (weir.Cursor, error) {
	var tail string
	if err := pool.QueryRow(ctx, `select weir.events_tail()`).Scan(&tail); err != nil {
		return "", fmt.Errorf("read the end of the timeline: %w", err)
	}
	return weir.Cursor(tail), nil
}

// Cursor is where a new feed goes on after everything that Next has returned.
// It moves also over events that the filter leaves out.
func (f *Feed) Cursor() weir.Cursor { return f.cursor }

// Next waits for events and returns at least one. It lives through a database
// that is away; its error is that of ctx, or a refusal, such as of a cursor that
// is none.
//
// The cursor of an event is where to go on when all up to this one are dealt
// with. Events that happened to a whole batch have the one before it, but for
// the last: after a break in the middle the batch comes again.
func (f *Feed) Next(ctx context.Context) ([]weir.Event, error) {
	for poll, retry := pollFirst, pollFirst; ; {
		events, full, err := f.read(ctx)
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err != nil && !transient(err):
			return nil, fmt.Errorf("read the timeline: %w", err)
		case err != nil:
			loop.Wait(ctx, retry, nil)
			retry = min(2*retry, retryLast)
		case len(events) > 0:
			return events, nil
		case !full:
			loop.Wait(ctx, poll, f.wake)
			poll = min(2*poll, pollLast)
			// A hint comes before its transaction is old enough to be read, and
			// hints may come fast: a short rest serves both.
			loop.Wait(ctx, pollFirst/5, nil)
		}
	}
}

// read reads one batch and moves the cursor. Full says that there is more at
// once. If not, everything up to the tail of the same snapshot has been seen,
// and the cursor moves there: a narrow filter need not look at it again.
func (f *Feed) read(ctx context.Context) (events []weir.Event, full bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	rows, err := f.pool.Query(ctx, `select weir.events_tail(), e.cursor, e.seq, e.at, e.type, e.kind, e.subject, e.job, e.task, e.attempt, e.worker, e.source,
		e.level, e.message, e.data from (select 1) one left join weir.events_after($1, $2, $3, $4) e on true`, string(f.cursor), batch, f.filter.Job, f.filter.Task)
	if err != nil {
		return nil, false, err
	}
	defer rows.Close()
	var tail string
	var list []weir.Event
	for rows.Next() {
		e, err := scan(rows, &tail)
		if err != nil {
			return nil, false, err
		}
		if e.Seq > 0 { // else nothing is new: the row is there for the tail
			list = append(list, e)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, false, err
	}
	events, n := f.take(list)
	if full = n == batch; !full {
		f.cursor = weir.Cursor(tail)
	}
	return events, full, nil
}

// take moves the cursor over the lines, gives those that pass the filter their
// cursors, and counts the rows of the timeline they came from.
func (f *Feed) take(lines []weir.Event) (events []weir.Event, rows int) {
	for i, e := range lines {
		if last := i+1 == len(lines) || lines[i+1].Cursor != e.Cursor; last {
			f.cursor = e.Cursor
			rows++
		} else {
			e.Cursor = f.cursor
		}
		if len(f.filter.Types) == 0 || slices.Contains(f.filter.Types, e.Type) {
			events = append(events, e)
		}
	}
	return events, rows
}

func scan(rows pgx.Rows, tail *string) (e weir.Event, err error) {
	var seq, attempt zeronull.Int8
	var at zeronull.Timestamptz
	err = rows.Scan(tail, (*zeronull.Text)(&e.Cursor), &seq, &at, (*zeronull.Text)(&e.Type), (*zeronull.Text)(&e.Kind), (*zeronull.Text)(&e.Subject),
		&e.Job, &e.Task, &attempt, (*zeronull.Text)(&e.Worker), (*zeronull.Text)(&e.Source), (*zeronull.Text)(&e.Level), (*zeronull.Text)(&e.Message), (*[]byte)(&e.Data))
	e.Seq, e.At, e.Attempt = int64(seq), time.Time(at), int(attempt)
	return e, err
}

// transient reports whether the same read may succeed later.
func transient(err error) bool {
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
