package timeline

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/loop"
)

// perNext is how many events one call of Next returns at most: the memory of a
// follower is bounded by it.
const perNext = 512

// Follower is one reader of a [Hub]. It has a place and no queue: who keeps up
// reads the hub's ring, who fell behind reads the database until it is in the
// ring again. Both are in the same order, so the place alone makes the seam.
// It is for one goroutine; Close may come from any.
type Follower struct {
	hub    *Hub
	filter Filter
	at     place
	// session is that of the ring which at is known to fit.
	session int64
	buffer  []*Event
	closed  atomic.Bool
}

// Cursor is where a follower goes on after everything that Next has returned.
// It moves also over events that the filter leaves out.
func (f *Follower) Cursor() weir.Cursor { return f.at.cursor() }

// Close lets the hub rest when nobody else follows.
func (f *Follower) Close() {
	if !f.closed.Swap(true) {
		f.hub.leave()
	}
}

// Next waits for events and returns at least one. The slice is good until the
// next call, the events for ever. It lives through a database that is away; its
// error is that of ctx, says that the hub has ended, or that the database is no
// longer the one that the place is of (problem.Conflict).
func (f *Follower) Next(ctx context.Context) ([]*Event, error) {
	for {
		if events, err := f.Within(ctx, time.Hour); err != nil || len(events) > 0 {
			return events, err
		}
	}
}

// Within is Next for those with something else to do: after d it returns
// nothing, and no error.
func (f *Follower) Within(ctx context.Context, d time.Duration) ([]*Event, error) {
	for until := time.Now().Add(d); ; {
		r := f.hub.ring.Load()
		var events []*Event
		var more bool
		var err error
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case r.err != nil:
			return nil, r.err
		case r.open && f.session != r.session:
			err = f.reenter(ctx, r)
			more = true
		case r.open && r.holds(f.at):
			events, more = f.take(r)
		case r.open:
			events, err = f.catchUp(ctx, time.Until(until))
			more = true // in the ring, if not in the database
		}
		left := time.Until(until)
		if err != nil || len(events) > 0 || left <= 0 {
			return events, err
		}
		if !more {
			loop.Wait(ctx, left, r.grown)
		}
	}
}

// reenter goes on in a ring that was opened afresh. Where the database is another
// one by now, or has lost its end to a failover, the place means nothing in it.
func (f *Follower) reenter(ctx context.Context, r *ring) error {
	if r.end.before(f.at) || f.at.foreign(r.since) {
		switch err := check(ctx, f.hub.pool, f.at); {
		case err == nil:
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case transient(err):
			loop.Wait(ctx, retryFirst, nil)
			return nil
		default:
			return err
		}
	}
	f.session = r.session
	return nil
}

// take reads some of the ring and moves on. More says that it holds more.
func (f *Follower) take(r *ring) (events []*Event, more bool) {
	events = r.after(f.at)
	if more = len(events) > perNext; more {
		events = events[:perNext:perNext]
	}
	switch {
	case more:
		f.at = events[perNext-1].place
	case f.at.before(r.end):
		f.at = r.end
	}
	if f.filter.all() {
		return events, more
	}
	wanted := f.buffer[:0]
	for _, e := range events {
		if f.filter.wants(e) {
			wanted = append(wanted, e)
		}
	}
	f.buffer = wanted
	return wanted, more
}

// catchUp reads the database once, and waits up to d for its turn. The read
// itself is not cut short: half of it would be of no use to anybody.
func (f *Follower) catchUp(ctx context.Context, d time.Duration) ([]*Event, error) {
	turn, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	select {
	case <-f.hub.slots:
		defer func() { f.hub.slots <- struct{}{} }()
	case <-turn.Done():
		return nil, nil // the caller looks at ctx
	}
	found, err := read(ctx, f.hub.pool, f.at, &f.filter)
	switch {
	case err == nil:
		f.at = found.end
		return found.events, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case transient(err):
		loop.Wait(turn, retryFirst, nil)
		return nil, nil
	default:
		return nil, fmt.Errorf("read the timeline: %w", err)
	}
}
