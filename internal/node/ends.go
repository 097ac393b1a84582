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
	// flightsMost is how many statements that end tasks are under way at once. One
	// of them holds the row of a job that many nodes work on; the next stands ready.
	flightsMost = 4
	// aboardMost is how many ends go into one of them.
	aboardMost = 200
	// flightTime is how long one may take. Whoever asked may have less patience.
	flightTime = 30 * time.Second
)

// Ends gathers what the nodes of a server say about tasks that are done. An end
// that comes while few are being written is written at once; those that come
// while enough are under way wait for one of them and go together, in one
// transaction. So a commit and the row of a common job serve many of them just when
// there are many, and nobody waits for a clock. One for all desks of a process; the
// zero value is ready. A nil Ends gathers nothing.
type Ends struct {
	mu      sync.Mutex
	flights int
	waiting []*end
}

// end is what one node says at once.
type end struct {
	desk    *Desk
	batch   []Outcome
	refused []Refusal
	err     error
	over    chan struct{}
}

// finish says it, alone or with others. If the context ends before, it may
// be said all the same: to say it again does no harm.
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

// fly writes the first end, then all that came meanwhile, until there are none.
func (e *Ends) fly(ctx context.Context, first *end) {
	for aboard := []*end{first}; len(aboard) > 0; aboard = e.next() {
		e.write(ctx, aboard)
	}
}

// next are the ends that wait, as many as fit: one that speaks of a lease that
// another one aboard speaks of has to wait, so that each has its own answer. There
// are none: a flight is over.
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

// write says what is aboard in one statement, and gives each its answer.
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
		// One that the database cannot take must not keep the others: those that
		// were taken are told so when they are said again.
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

// own is a node's name for each of n leases.
func own(node string, n int) []string { return slices.Repeat([]string{node}, n) }
