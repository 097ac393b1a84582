package stream

import (
	"sync"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/timeline"
)

// pieceBytes is the size of one write of a stream with a filter.
const pieceBytes = 16 << 10

// pieces are shared, because a stream needs one only while it writes.
var pieces = sync.Pool{New: func() any { return new(make([]byte, 0, pieceBytes)) }}

// batches keeps the bytes of the last batches of events, for streams that send
// everything. These streams keep up with the hub together, so few are enough.
type batches struct {
	mu   sync.Mutex
	last [8]*batch
	next int
}

// batch is all events from the first to the last, without the audit for subjects who may
// not see it.
type batch struct {
	first, last *timeline.Event
	audit       bool

	once  sync.Once
	bytes []byte
}

// of encodes the events, or returns the bytes if another stream has encoded them. They
// must be all events between the first and the last.
func (c *batches) of(events []*timeline.Event, audit bool) []byte {
	b := c.find(events[0], events[len(events)-1], audit)
	b.once.Do(func() {
		size := 0
		for _, e := range events {
			size += len(e.Encoded(frameOf))
		}
		b.bytes = make([]byte, 0, size)
		for _, e := range events {
			if audit || !auth.Private(e.Kind) {
				b.bytes = append(b.bytes, e.Encoded(frameOf)...)
			}
		}
	})
	return b.bytes
}

func (c *batches) find(first, last *timeline.Event, audit bool) *batch {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, b := range c.last {
		if b != nil && b.first == first && b.last == last && b.audit == audit {
			return b
		}
	}
	b := &batch{first: first, last: last, audit: audit}
	c.last[c.next] = b
	c.next = (c.next + 1) % len(c.last)
	return b
}
