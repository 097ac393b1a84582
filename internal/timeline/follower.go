package timeline

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/loop"
)

// perNext is the most events that one call of Next returns, which bounds the memory of a
// follower.
const perNext = 512

// Follower is one reader of a [Hub]. It has a place and no queue: a follower that keeps
// up reads the hub's ring, one that fell behind reads the database until it is in the
// ring again. Both have the same order, so the place alone joins them. It is for one
// goroutine; Close may be called from any.
type Follower struct {
	hub    *Hub
	filter Filter
	at     place
	// session is the session of the ring in which at is known to be valid.
	session int64
	buffer  []*Event
	closed  atomic.Bool
}

// Cursor returns where a follower continues after everything that Next has returned. It
// moves also over events that the filter leaves out.
func (f *Follower) Cursor() weir.Cursor { return f.at.cursor() }

// Close ends the follower. The hub stops reading when no follower is left.
func (f *Follower) Close() {
	if !f.closed.Swap(true) {
		f.hub.leave()
	}
}

// Next waits for events and returns at least one. The slice is valid until the next call,
// the events for ever. It waits while the database is away; its error is that of ctx, or
// reports that the hub has ended, or that the database is no longer the one of the place
// (problem.Conflict).
func (f *Follower) Next(ctx context.Context) ([]*Event, error) {
	for {
		if events, err := f.Within(ctx, time.Hour); err != nil || len(events) > 0 {
			return events, err
		}
	}
}

// Within is Next with a limit: after d it returns nothing, and no error.
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

// reenter continues in a ring of a new session. If the database has been replaced, or has
// lost its end in a failover, the place has no meaning in it.
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

// take reads a part of the ring and moves the place. more reports that the ring holds
// more.
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

// catchUp reads the database once, and waits up to d for its turn. The read itself is not
// cut short, because half a result is useless.
func (f *Follower) catchUp(ctx context.Context, d time.Duration) ([]*Event, error) {
	turn, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	select {
	case <-f.hub.slots:
		defer func() { f.hub.slots <- struct{}{} }()
	case <-turn.Done():
		return nil, nil // the caller checks ctx
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
