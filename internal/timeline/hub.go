package timeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/problem"
)

// Options configure a hub. The zero value works.
type Options struct {
	// Events and Bytes limit what is kept in memory for followers that keep up. Zero
	// means 8,192 events and 16 MiB.
	Events, Bytes int
	// Gap is the least time between two reads while events flow: events in between are
	// sent together. Beyond 1,200 followers it grows with them. Zero means 100 ms.
	Gap time.Duration
	// Readers is how many followers that fell behind may read the database at the same
	// time. Zero means 2.
	Readers int
	// Mark returns the user from whom an event takes a right, or "": see Hub.Marks.
	Mark func(*Event) string
	Log  *slog.Logger
}

func (o Options) withDefaults() Options {
	o.Events = cmp.Or(o.Events, 8192)
	o.Bytes = cmp.Or(o.Bytes, 16<<20)
	o.Gap = cmp.Or(o.Gap, 100*time.Millisecond)
	o.Readers = cmp.Or(o.Readers, 2)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	return o
}

// wakesPerSecond limits how often followers are woken while events flow. Each wake is a
// write to a client, so with many followers fewer, larger writes leave more of the
// machine to the rest.
const wakesPerSecond = 12_000

// Hub reads the timeline once for all followers in this process, and only while there are
// any.
type Hub struct {
	pool    *pgxpool.Pool
	wake    <-chan struct{}
	options Options
	// ring is replaced as a whole, under mu, and read without it.
	ring atomic.Pointer[ring]
	// sessions counts how often the timeline was opened.
	sessions atomic.Int64
	// slots has a token for each follower that may read the database.
	slots chan struct{}
	// wanted has a value when the first follower arrives.
	wanted chan struct{}

	mu        sync.Mutex
	followers int
	// stop ends the reading that is under way; it is nil while there is none.
	stop context.CancelFunc
	// marks counts the names that Options.Mark returned.
	marks map[string]int64
}

// NewHub prepares a hub. wake receives hints that the timeline may have grown; if it is
// nil, the hub polls.
func NewHub(pool *pgxpool.Pool, wake <-chan struct{}, options Options) *Hub {
	options = options.withDefaults()
	h := &Hub{pool: pool, wake: wake, options: options, slots: make(chan struct{}, options.Readers), wanted: make(chan struct{}, 1), marks: map[string]int64{}}
	for range options.Readers {
		h.slots <- struct{}{}
	}
	h.ring.Store(newRing())
	return h
}

// Followers returns the number of followers.
func (h *Hub) Followers() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.followers
}

// Run reads until ctx ends. Then every follower gets an error.
func (h *Hub) Run(ctx context.Context) {
	for {
		select {
		case <-h.wanted:
			if life, ok := h.enter(ctx); ok {
				h.serve(life)
			}
		case <-ctx.Done():
			h.end(problem.New(problem.Unreachable, "connect again: another server goes on from the same place", "the server is stopping"))
			return
		}
	}
}

// enter begins to read, if there still is a follower. life ends with the last one.
func (h *Hub) enter(ctx context.Context) (life context.Context, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.followers == 0 {
		return nil, false
	}
	life, h.stop = context.WithCancel(ctx)
	return life, true
}

func (h *Hub) end(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stop != nil {
		h.stop()
		h.stop = nil
	}
	r := newRing()
	r.err = err
	h.replace(r)
}

// replace wakes all waiting followers. The caller holds mu.
func (h *Hub) replace(r *ring) { close(h.ring.Swap(r).grown) }

// publish replaces the ring, unless this reading has ended.
func (h *Hub) publish(life context.Context, r *ring) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if life.Err() == nil {
		h.replace(r)
	}
}

// serve reads until life ends, whatever happens to the database.
func (h *Hub) serve(life context.Context) {
	for said := ""; life.Err() == nil; {
		err := h.session(life)
		if life.Err() != nil {
			return
		}
		// Transient errors are handled further down.
		if err.Error() != said {
			said = err.Error()
			h.options.Log.Error("cannot read the timeline; trying again", "error", err)
		}
		loop.Wait(life, retryLast, nil)
	}
}

// session opens the ring and keeps adding to it. It ends with an error.
func (h *Hub) session(life context.Context) error {
	feed, r, err := h.open(life)
	for ; err == nil; r = h.ring.Load() {
		var events []*Event
		if events, err = feed.Next(life); err != nil {
			break
		}
		h.mark(events)
		h.publish(life, r.add(events, feed.at, h.options.Events, h.options.Bytes))
		if !feed.more {
			loop.Wait(life, h.gap(), nil)
		}
	}
	return err
}

// mark counts the users that events are about, before any follower gets the events.
func (h *Hub) mark(events []*Event) {
	if h.options.Mark == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range events {
		if name := h.options.Mark(e); name != "" {
			h.marks[name]++
		}
	}
}

// Marks returns how often Options.Mark has returned the name. It only grows, and has
// grown before a follower gets a later event.
func (h *Hub) Marks(name string) int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.marks[name]
}

// gap returns how long to pause after events were published.
func (h *Hub) gap() time.Duration {
	return max(h.options.Gap, time.Duration(h.Followers())*time.Second/wakesPerSecond)
}

// open reads the latest events, so that a client that lost its connection a moment ago
// finds all of them in memory, and then opens the ring at the end of the timeline.
func (h *Hub) open(life context.Context) (*Feed, *ring, error) {
	feed := &Feed{pool: h.pool, wake: h.wake}
	var r *ring
	for retry := retryFirst; ; retry = min(2*retry, retryLast) {
		err := h.fill(life, feed, &r)
		switch {
		case err == nil:
			h.publish(life, r)
			return feed, r, nil
		case life.Err() != nil || !transient(err):
			return nil, nil, fmt.Errorf("open the timeline: %w", err)
		}
		loop.Wait(life, retry, nil)
	}
}

func (h *Hub) fill(life context.Context, feed *Feed, r **ring) error {
	start, err := recent(life, h.pool, h.options.Events/2)
	if err != nil {
		return err
	}
	opened := newRing()
	opened.session = h.sessions.Add(1)
	if opened.since, err = origin(life, h.pool); err != nil {
		return err
	}
	feed.at, *r = start, opened.begin(start)
	for feed.more = true; feed.more; {
		found, err := feed.read(life)
		if err != nil {
			return err
		}
		*r = (*r).add(found.events, feed.at, h.options.Events, h.options.Bytes)
	}
	return nil
}

// Follow follows the timeline from a cursor on; the empty cursor is now: every event that
// commits after the call is seen. It waits for the database if need be. The cursor is
// refused if it is invalid (problem.Invalid), if history was dropped behind it
// (problem.Stale), or if it is ahead of the database or belongs to another one
// (problem.Conflict).
func (h *Hub) Follow(ctx context.Context, after weir.Cursor, filter Filter) (*Follower, error) {
	at := beginning
	if after != "" {
		var err error
		if at, err = parsePlace(after); err != nil {
			return nil, err
		}
	}
	f := &Follower{hub: h, filter: filter, at: at}
	h.join()
	r, err := h.opened(ctx)
	switch {
	case err != nil:
	case after == "":
		f.at = r.end
	case !r.holds(at) || r.end.before(at) || at.foreign(r.since):
		err = check(ctx, h.pool, at)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	f.session = r.session
	return f, nil
}

func (h *Hub) join() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.followers++; h.followers == 1 {
		select {
		case h.wanted <- struct{}{}:
		default:
		}
	}
}

func (h *Hub) leave() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.followers--; h.followers == 0 && h.stop != nil {
		h.stop()
		h.stop = nil
		h.replace(newRing())
	}
}

// opened waits until the hub reads.
func (h *Hub) opened(ctx context.Context) (*ring, error) {
	for {
		switch r := h.ring.Load(); {
		case r.err != nil:
			return nil, r.err
		case r.open:
			return r, nil
		default:
			select {
			case <-r.grown:
			case <-ctx.Done():
				return nil, errors.Join(problem.New(problem.Unreachable, "try again in a moment", "the timeline cannot be read at the moment"), context.Cause(ctx))
			}
		}
	}
}
