package node

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/listen"
	"github.com/weirhq/weir/internal/loop"
)

const (
	channelAvailable = "weir_available" // comma-separated services; empty: any
	channelCancel    = "weir_cancel"    // the id of a running task
	// sayEvery is the shortest time between two notifications.
	sayEvery = 50 * time.Millisecond
	// remembered is how many cancellation requests are kept for claims that were not
	// waiting at that moment.
	remembered = 256
)

// Hints receives and sends the notifications of the desks of a process. It receives
// through one listener that all desks share, and merges what they send. A nil Hints does
// nothing.
type Hints struct {
	pool     *pgxpool.Pool
	listener *listen.Listener
	sub      *listen.Subscription
	done     chan struct{}
	group    sync.WaitGroup

	mu      sync.Mutex
	waiters map[*waiter]struct{}
	// cancels are the tasks for which cancellation was last requested, oldest first.
	cancels []weir.ID
	// saying is set while a notification is under way; more is set if another must
	// follow.
	saying, more, closed bool
}

// NewHints starts to receive notifications. The listener may be nil; the caller runs it.
// Close the Hints when the last desk is gone.
func NewHints(pool *pgxpool.Pool, listener *listen.Listener) *Hints {
	h := &Hints{pool: pool, listener: listener, done: make(chan struct{}), waiters: map[*waiter]struct{}{}}
	if listener != nil {
		h.sub = listener.Listen(channelAvailable, channelCancel)
		h.group.Go(h.hear)
	}
	return h
}

// Close stops receiving and waits for the notification under way.
func (h *Hints) Close() {
	if h == nil {
		return
	}
	h.mu.Lock()
	if !h.closed {
		h.closed = true
		close(h.done)
	}
	h.mu.Unlock()
	if h.sub != nil {
		h.sub.Close()
	}
	h.group.Wait()
}

// Hearing reports whether notifications arrive at the moment.
func (h *Hints) Hearing() bool { return h != nil && h.listener != nil && h.listener.Healthy() }

func (h *Hints) hear() {
	for {
		select {
		case <-h.sub.C():
		case <-h.done:
			return
		}
		hint := h.sub.Take()
		h.mu.Lock()
		for _, note := range hint.Notes {
			if id, err := weir.ParseID(note.Payload); note.Channel == channelCancel && err == nil {
				if h.cancels = append(h.cancels, id); len(h.cancels) > remembered {
					h.cancels = slices.Delete(h.cancels, 0, len(h.cancels)-remembered)
				}
			}
		}
		for w := range h.waiters {
			w.tell(hint)
		}
		h.mu.Unlock()
	}
}

// say notifies every worker that there may be work. It does not wait.
func (h *Hints) say() {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.more = true
	if !h.saying && !h.closed {
		h.saying = true
		h.group.Go(h.speak)
	}
}

func (h *Hints) speak() {
	for {
		h.mu.Lock()
		if !h.more {
			h.saying = false
			h.mu.Unlock()
			return
		}
		h.more = false
		h.mu.Unlock()
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		_, _ = h.pool.Exec(ctx, `select pg_notify('weir_available', '')`) // workers that miss it poll
		loop.Wait(ctx, sayEvery, h.done)
		cancel()
	}
}

// waiter is one waiting claim.
type waiter struct {
	hints    *Hints
	services []string
	held     []weir.ID
	c        chan struct{}
	// The mutex of hints guards look.
	look bool
}

// wait begins to collect hints for a claim.
func (h *Hints) wait(services []string, held []weir.ID) *waiter {
	w := &waiter{hints: h, services: services, held: held, c: make(chan struct{}, 1)}
	if h == nil {
		return w
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.waiters[w] = struct{}{}
	w.look = slices.ContainsFunc(h.cancels, func(id weir.ID) bool { return slices.Contains(held, id) })
	return w
}

func (w *waiter) leave() {
	if w.hints == nil {
		return
	}
	w.hints.mu.Lock()
	defer w.hints.mu.Unlock()
	delete(w.hints.waiters, w)
}

// looks reports whether cancellation was requested for a task that the agent holds.
func (w *waiter) looks() bool {
	if w.hints == nil {
		return false
	}
	w.hints.mu.Lock()
	defer w.hints.mu.Unlock()
	return w.look
}

// tell wakes the claim if the hint concerns it. The caller holds the mutex.
func (w *waiter) tell(hint listen.Hint) {
	woken := hint.All
	w.look = w.look || hint.All && len(w.held) > 0
	for _, note := range hint.Notes {
		switch note.Channel {
		case channelAvailable:
			woken = woken || note.Payload == "" || slices.ContainsFunc(strings.Split(note.Payload, ","), func(s string) bool { return slices.Contains(w.services, s) })
		case channelCancel:
			id, err := weir.ParseID(note.Payload)
			w.look = w.look || err == nil && slices.Contains(w.held, id)
		}
	}
	if woken || w.look {
		select {
		case w.c <- struct{}{}:
		default:
		}
	}
}
