package weir

import (
	"context"
	"strings"
	"sync"
	"time"
)

const (
	// hintEvery is the least time between two notifications that a client sends by
	// itself, after a commit. Inside a hot transaction each one costs as much as the
	// work itself, and holds a lock of the whole server until the commit is on disk.
	hintEvery = 50 * time.Millisecond
	// hintLimit is what fits into a notification, with room to spare. A longer
	// list becomes the empty one, which means everybody.
	hintLimit = 7000
	// channelAvailable carries a comma-separated list of services.
	channelAvailable = "weir_available"
	// channelCancel carries the id of a running task that should stop.
	channelCancel = "weir_cancel"
)

// hinter tells workers everywhere that there may be work, which must be committed
// already: who looks before finds nothing, and is not told again. It merges what is
// said within hintEvery into one notification and never loses the last word:
// what is said while it waits goes out when the wait is over.
type hinter struct {
	send func(ctx context.Context, payload string) error
	// done ends the wait, so that Close need not.
	done chan struct{}

	mu       sync.Mutex
	services set
	all      bool
	last     time.Time
	active   bool
	closed   bool
	group    sync.WaitGroup
}

func newHinter(send func(context.Context, string) error) *hinter {
	return &hinter{send: send, done: make(chan struct{}), services: set{}}
}

// say adds services to the next notification; none means all of them.
func (h *hinter) say(services ...string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.add(services)
}

func (h *hinter) add(services []string) {
	h.all = h.all || len(services) == 0
	for _, s := range services {
		h.services[s] = struct{}{}
	}
	if !h.active && !h.closed {
		h.active = true
		h.group.Go(h.run)
	}
}

// run sends until there is nothing left to say.
func (h *hinter) run() {
	for {
		h.mu.Lock()
		wait := time.Until(h.last.Add(hintEvery))
		if wait <= 0 {
			if !h.all && len(h.services) == 0 {
				h.active = false
				h.mu.Unlock()
				return
			}
			payload := h.take()
			h.last = time.Now()
			h.mu.Unlock()
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			_ = h.send(ctx, payload) // who missed it polls
			cancel()
			continue
		}
		h.mu.Unlock()
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-h.done:
			timer.Stop()
			h.mu.Lock()
			h.last = time.Time{}
			h.mu.Unlock()
		}
	}
}

// take is the payload of what was said, which is then forgotten.
func (h *hinter) take() string {
	payload := strings.Join(h.services.list(), ",")
	if h.all || len(payload) > hintLimit {
		payload = ""
	}
	h.all = false
	clear(h.services)
	return payload
}

// close sends what is left and returns when that is done.
func (h *hinter) close() {
	h.mu.Lock()
	if !h.closed {
		h.closed = true
		close(h.done)
	}
	h.mu.Unlock()
	h.group.Wait()
}
