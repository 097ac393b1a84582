package weir

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/weirhq/weir/internal/leasing"
)

// errUnsure is the cause of a context whose lease could not be renewed in time.
// It may still hold: the fence decides when the handler reports.
var errUnsure = fmt.Errorf("%w: it could not be renewed in time", ErrLeaseLost)

// lease is one task that the worker has claimed, from the claim to the answer
// to its end. The worker's mutex guards the fields below the line.
type lease struct {
	task, job            ID
	token                ID
	attempt, maxAttempts int
	key, trace           string
	params               []byte
	// timeout bounds the attempt; zero: not at all.
	timeout time.Duration
	// gated: the end of this task may open others.
	gated   bool
	handler *handler
	// claimed is when the claim was sent.
	claimed time.Time
	ctx     context.Context
	cancel  context.CancelCauseFunc
	// reported is when progress was last written.
	reported atomic.Int64
	// abandon fires when the handler has ignored the end of its time.
	abandon *time.Timer

	// ---
	prev, next *lease
	// asked is when the request was sent that gave the lease its present end:
	// the database counted from then at the earliest, so asked plus the lease's
	// length is never later than the end it knows.
	// By the clock of internal/uptime, because leases go on while a machine sleeps.
	asked time.Duration
	// renewing: a renewal is under way that names this lease. Its end is not
	// sent before the answer, else the renewal would find it gone and the
	// timeline would tell of a stale worker.
	renewing bool
	// ended: the handler returned (or was given up) and how is known.
	ended bool
	// lost: the database has refused the token. Say no more about it. A lease
	// is ended or lost, never both: either takes it off the list once.
	lost   bool
	ending ending
	// untold: the end could not be told; it is told again in a while. If the database
	// said that it did not take it (refused), the lease is renewed until then, counted
	// from endedAt (see [leasing.Untold]). Else it may have taken it, and a renewal would
	// find the lease gone.
	untold, refused bool
	endedAt         time.Duration
}

// renewable reports whether the lease is still worth having at that time.
func (l *lease) renewable(now, length time.Duration) bool {
	return !l.ended || l.untold && l.refused && now-l.endedAt < leasing.Untold*length
}

// fence names a lease in the answers of the database. The task alone would not
// do: a worker that lost a task may claim it again while the handler of the lost
// attempt still runs.
type fence struct {
	task    ID
	attempt int
}

func (l *lease) fence() fence { return fence{l.task, l.attempt} }

// leases is a list ordered by asked: a claim or a renewal puts its leases at
// the end, so the first one is always the next to run out.
type leases struct {
	first, last *lease
	size        int
}

func (q *leases) push(l *lease) {
	l.prev, l.next = q.last, nil
	if q.last == nil {
		q.first = l
	} else {
		q.last.next = l
	}
	q.last = l
	q.size++
}

func (q *leases) remove(l *lease) {
	if l.prev == nil {
		q.first = l.next
	} else {
		l.prev.next = l.next
	}
	if l.next == nil {
		q.last = l.prev
	} else {
		l.next.prev = l.prev
	}
	l.prev, l.next = nil, nil
	q.size--
}

func (q *leases) each(f func(*lease)) {
	for l := q.first; l != nil; {
		next := l.next // f may move it
		f(l)
		l = next
	}
}
