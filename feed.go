package weir

import (
	"context"
	"encoding/json"
	"time"
)

const (
	// feedBatch is how many rows of the timeline one statement reads.
	feedBatch = 1000
	// feedFirst and feedLast bound the time between two looks at its end.
	feedFirst, feedLast = 50 * time.Millisecond, time.Second
)

// Cursor is a place in the timeline. The empty cursor is its beginning; it can
// be stored and used again.
type Cursor string

// Event is one line of the timeline.
type Event struct {
	// Cursor is where to go on when this event has been dealt with. Events that
	// happened to a whole batch share one: after a break in the middle of it,
	// its events come again.
	Cursor Cursor
	Seq    int64
	At     time.Time
	// Type is a transition's (see [Transitions]) or a name of its own.
	Type string
	// Kind and Subject say what it is about: task, job, pool, node, …
	Kind, Subject string
	Job, Task     ID
	Attempt       int
	Worker        string
	Source        string
	Level         string
	Message       string
	Data          json.RawMessage
}

// Filter narrows a feed to one job or one task. The zero value is everything.
type Filter struct{ Job, Task ID }

// Tail is the cursor of now.
func (c *Client) Tail(ctx context.Context) (Cursor, error) {
	var tail Cursor
	err := c.pool.QueryRow(ctx, `select weir.events_tail()`).Scan((*string)(&tail))
	return tail, wrap("read the timeline", err)
}

// Follow calls f for every event after the cursor, in an order that is the same
// for every reader, and goes on with what happens until ctx ends or f returns
// an error, which it then returns. Nothing is left out, also of transactions
// that commit late; for that it stays behind the oldest one that still runs.
func (c *Client) Follow(ctx context.Context, after Cursor, filter Filter, f func(Event) error) error {
	sub := c.subscribe(channelAvailable, channelCancel)
	defer sub.Close()
	if after == "" {
		after = "0.0"
	}
	for failed, quiet := 0, feedFirst; ; {
		events, tail, full, err := c.events(ctx, after, filter)
		switch {
		case err == nil:
			failed = 0
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case !transient(err):
			return wrap("follow", err)
		default:
			failed++
			pause(ctx, backoff(failed, 100*time.Millisecond, 5*time.Second))
			continue
		}
		if len(events) > 0 {
			quiet = feedFirst
		}
		for _, e := range events {
			if err := f(e); err != nil {
				return err
			}
			after = e.Cursor
		}
		if full {
			continue
		}
		after = tail
		// Hints may come fast; a short rest lets a look find more than one event.
		if !pause(ctx, feedFirst) {
			return context.Cause(ctx)
		}
		timer := time.NewTimer(quiet)
		select {
		case <-timer.C:
			quiet = min(2*quiet, feedLast)
		case <-sub.C():
			sub.Take()
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

// events reads one batch. Full says that there is more; if not, nothing up to
// tail was left out.
func (c *Client) events(ctx context.Context, after Cursor, filter Filter) (events []Event, tail Cursor, full bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	rows, err := c.pool.Query(ctx, `select weir.events_tail(), e.cursor, e.seq, e.at, e.type, e.kind, e.subject, e.job, e.task, e.attempt, e.worker, e.source,
		e.level, e.message, e.data from (select 1) one left join weir.events_after($1, $2, $3, $4) e on true`, string(after), feedBatch, filter.Job, filter.Task)
	type row struct {
		Event
		seq     *int64
		attempt *int
	}
	list, err := collect("follow", rows, err, func(r *row) []any {
		return []any{
			(*string)(&tail), (*maybe)(&r.Cursor), &r.seq, (*instant)(&r.At), (*maybe)(&r.Type), (*maybe)(&r.Kind), (*maybe)(&r.Subject), &r.Job, &r.Task, &r.attempt,
			(*maybe)(&r.Worker), (*maybe)(&r.Source), (*maybe)(&r.Level), (*maybe)(&r.Message), (*[]byte)(&r.Data),
		}
	})
	if err != nil {
		return nil, "", false, err
	}
	n := 0
	for i, r := range list {
		if r.seq == nil {
			continue // nothing new: the row is there for the tail
		}
		if r.Seq = *r.seq; r.attempt != nil {
			r.Attempt = *r.attempt
		}
		// Only the last line of a batch may move the cursor past it.
		if i+1 < len(list) && list[i+1].Cursor == r.Cursor {
			r.Cursor = after
		} else {
			after = r.Cursor
			n++
		}
		events = append(events, r.Event)
	}
	return events, tail, n == feedBatch, nil
}
