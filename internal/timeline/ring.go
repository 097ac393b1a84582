package timeline

import "sort"

// ring is the newest part of the timeline: every event behind start, up to end. It is a
// value that never changes. The next ring shares its events, so readers need no lock.
type ring struct {
	start, end place
	events     []*Event
	// weight is about the memory of the events.
	weight int
	// grown is closed when a ring with more events replaces this one.
	grown chan struct{}
	// open means that the hub reads: before, there is nothing to see.
	open bool
	// session counts how often the hub has opened the timeline, because a new one may be
	// that of another cluster. since is where this cluster begins.
	session int64
	since   place
	// err is the reason why no further ring follows.
	err error
}

func newRing() *ring { return &ring{grown: make(chan struct{})} }

// begin returns a ring without events that continues from a place.
func (r *ring) begin(at place) *ring {
	return &ring{start: at, end: at, grown: make(chan struct{}), open: true, session: r.session, since: r.since}
}

// add returns the next ring, without the oldest events beyond the limits. The newest
// always stays.
func (r *ring) add(events []*Event, end place, count, weight int) *ring {
	// Older rings end before the part that is appended here, and nothing is appended to
	// them.
	next := &ring{start: r.start, end: end, events: append(r.events, events...), weight: r.weight, grown: make(chan struct{}), open: true, session: r.session, since: r.since}
	for _, e := range events {
		next.weight += e.weight()
	}
	drop := 0
	for len(next.events)-drop > 1 && (len(next.events)-drop > count || next.weight > weight) {
		next.weight -= next.events[drop].weight()
		next.start = next.events[drop].place
		drop++
	}
	next.events = next.events[drop:]
	return next
}

// holds reports whether no event behind the place is missing here.
func (r *ring) holds(p place) bool { return !p.before(r.start) }

// after returns the events behind the place.
func (r *ring) after(p place) []*Event {
	i := sort.Search(len(r.events), func(i int) bool { return p.before(r.events[i].place) })
	return r.events[i:len(r.events):len(r.events)]
}
