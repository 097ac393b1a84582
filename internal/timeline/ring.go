package timeline

import "sort"

// ring is the newest part of the timeline: every event behind start, up to end.
// It is a value that never changes. The next one shares its events, so readers
// need no lock.
type ring struct {
	start, end place
	events     []*Event
	// weight is about the memory of the events.
	weight int
	// grown is closed when a ring with more events takes the place of this one.
	grown chan struct{}
	// open says that the hub reads: before, there is nothing to see.
	open bool
	// session counts how often the hub has opened the timeline: a new one may be
	// that of another cluster. since is where this cluster begins.
	session int64
	since   place
	// err is why there will be no further one.
	err error
}

func newRing() *ring { return &ring{grown: make(chan struct{})} }

// begin makes a ring without events that goes on from a place.
func (r *ring) begin(at place) *ring {
	return &ring{start: at, end: at, grown: make(chan struct{}), open: true, session: r.session, since: r.since}
}

// add makes the next ring, without the oldest events beyond the limits. The
// newest always stays.
func (r *ring) add(events []*Event, end place, count, weight int) *ring {
	// Older rings end before what is appended here, and nobody appends to them.
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

// holds says that nothing behind the place is missing here.
func (r *ring) holds(p place) bool { return !p.before(r.start) }

// after are the events behind the place.
func (r *ring) after(p place) []*Event {
	i := sort.Search(len(r.events), func(i int) bool { return p.before(r.events[i].place) })
	return r.events[i:len(r.events):len(r.events)]
}
