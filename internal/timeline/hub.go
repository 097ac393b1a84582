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

// Options tune a hub. The zero value works.
type Options struct {
	// Events and Bytes bound what is kept in memory for those who keep up.
	// Zero: 8,192 events, 16 MiB.
	Events, Bytes int
	// Gap is the least time between two looks while events flow: what happens
	// meanwhile goes out together. Beyond 1,200 followers it grows with them.
	// Zero: 100 ms.
	Gap time.Duration
	// Readers is how many followers that fell behind may ask the database at
	// the same time. Zero: 2.
	Readers int
	// Mark names whom an event takes something from, or nobody: see Hub.Marks.
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

// wakesPerSecond bounds how often followers are woken while events flow. Each
// wake is a write to a client, so with many of them fewer, larger writes leave
// more of the machine to the rest.
const wakesPerSecond = 12_000

// Hub reads the timeline once for all who follow it in this process, and only
// while somebody does.
type Hub struct {
	pool    *pgxpool.Pool
	wake    <-chan struct{}
	options Options
	// ring is replaced whole, under mu, and read without.
	ring atomic.Pointer[ring]
	// sessions counts how often the timeline was opened.
	sessions atomic.Int64
	// slots has a token for each follower that may read the database.
	slots chan struct{}
	// wanted has a value when somebody follows and nobody did before.
	wanted chan struct{}

	mu        sync.Mutex
	followers int
	// stop ends the reading that is under way; nil while there is none.
	stop context.CancelFunc
	// marks counts what Options.Mark named.
	marks map[string]int64
}

// NewHub prepares a hub. Wake hears hints that the timeline may have grown; nil:
// it polls.
func NewHub(pool *pgxpool.Pool, wake <-chan struct{}, options Options) *Hub {
	options = options.withDefaults()
	h := &Hub{pool: pool, wake: wake, options: options, slots: make(chan struct{}, options.Readers), wanted: make(chan struct{}, 1), marks: map[string]int64{}}
	for range options.Readers {
		h.slots <- struct{}{}
	}
	h.ring.Store(newRing())
	return h
}

// Followers is how many there are.
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

// enter begins to read, if somebody still follows. Life ends with the last one.
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

// replace tells everybody who waits. The caller holds mu.
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
		// What is transient was dealt with further down.
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

// mark notes whom events are about, before anybody gets them.
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

// Marks is how often Options.Mark has named somebody. It only grows, and has
// grown before a follower gets an event that comes later.
func (h *Hub) Marks(name string) int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.marks[name]
}

// gap is how long to rest after events have gone out.
func (h *Hub) gap() time.Duration {
	return max(h.options.Gap, time.Duration(h.Followers())*time.Second/wakesPerSecond)
}

// open reads what happened last, so that who lost its connection a moment ago
// finds all of it in memory, and then opens the ring at the end of the timeline.
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

// Follow follows the timeline from a cursor on; the empty one is now: whatever
// commits after Follow was called is seen. It waits for the database if need
// be. The cursor is refused if it is none (problem.Invalid), if history was
// dropped behind it (problem.Stale), or if it is ahead of the database or of
// another one (problem.Conflict).
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
