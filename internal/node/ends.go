package node

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/blame"
)

const (
	// flightsMost is how many statements that end tasks are under way at once. One of
	// them holds the row of a job that many nodes work on; the next one is ready to
	// follow.
	flightsMost = 4
	// aboardMost is how many ends one statement writes.
	aboardMost = 200
	// flightTime is the timeout of one statement. A caller may have a shorter one.
	flightTime = 30 * time.Second
)

// Ends gathers the ends of tasks that the nodes of a server report. An end that arrives
// while few are being written is written at once; ends that arrive while enough are under
// way wait for one of them and are written together, in one transaction. So one commit
// and one lock on the row of a common job serve many ends exactly when there are many,
// and no end waits for a timer. All desks of a process share one; the zero value is ready
// to use. A nil Ends gathers nothing.
type Ends struct {
	mu      sync.Mutex
	flights int
	waiting []*end
}

// end is what one node reports at once.
type end struct {
	desk    *Desk
	batch   []Outcome
	refused []Refusal
	err     error
	over    chan struct{}
}

// finish writes the ends of a batch, alone or together with others. If the context ends
// first, they may be written all the same: repeating the call does no harm.
func (e *Ends) finish(ctx context.Context, d *Desk, batch []Outcome) ([]Refusal, error) {
	if e == nil || len(batch) == 0 {
		return d.finish(ctx, own(d.node, len(batch)), batch)
	}
	mine := &end{desk: d, batch: batch, over: make(chan struct{})}
	e.mu.Lock()
	if e.flights < flightsMost {
		e.flights++
		go e.fly(context.WithoutCancel(ctx), mine)
	} else {
		e.waiting = append(e.waiting, mine)
	}
	e.mu.Unlock()
	select {
	case <-mine.over:
		return mine.refused, mine.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// fly writes the first end, then all that arrived in the meantime, until there are none.
func (e *Ends) fly(ctx context.Context, first *end) {
	for aboard := []*end{first}; len(aboard) > 0; aboard = e.next() {
		e.write(ctx, aboard)
	}
}

// next returns the waiting ends, as many as fit. An end about a lease that another end of
// the same statement is about has to wait, so that each gets its own answer. If there are
// none, the flight is over.
func (e *Ends) next() (aboard []*end) {
	e.mu.Lock()
	defer e.mu.Unlock()
	size, seen := 0, map[weir.ID]bool{}
	for _, x := range e.waiting {
		size += len(x.batch)
		if len(aboard) > 0 && (size > aboardMost || slices.ContainsFunc(x.batch, func(o Outcome) bool { return seen[o.Task] })) {
			break
		}
		for _, o := range x.batch {
			seen[o.Task] = true
		}
		aboard = append(aboard, x)
	}
	e.waiting = slices.Delete(e.waiting, 0, len(aboard))
	if len(aboard) == 0 {
		e.flights--
	}
	return aboard
}

// write writes the ends in one statement, and gives each its answer.
func (e *Ends) write(ctx context.Context, aboard []*end) {
	ctx, cancel := context.WithTimeout(ctx, flightTime)
	defer cancel()
	var nodes []string
	var batch []Outcome
	for _, x := range aboard {
		nodes = append(nodes, own(x.desk.node, len(x.batch))...)
		batch = append(batch, x.batch...)
	}
	refused, err := aboard[0].desk.finish(ctx, nodes, batch)
	if len(aboard) > 1 && blame.OneRow(err) {
		// An end that the database refuses must not block the others: ends that were
		// accepted get that answer when they are repeated.
		for _, x := range aboard {
			x.refused, x.err = x.desk.finish(ctx, own(x.desk.node, len(x.batch)), x.batch)
			close(x.over)
		}
		return
	}
	for _, x := range aboard {
		x.err = err
		for _, r := range refused {
			if slices.ContainsFunc(x.batch, func(o Outcome) bool { return o.Task == r.Task }) {
				x.refused = append(x.refused, r)
			}
		}
		close(x.over)
	}
}

// own returns the node's name for each of n leases.
func own(node string, n int) []string { return slices.Repeat([]string{node}, n) }
