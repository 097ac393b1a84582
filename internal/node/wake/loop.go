package wake

import (
	"context"
	"sync"
	"time"

	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/pg"
)

// every is the interval at which the leader checks whether a node must be woken. Work is
// looked for five minutes ahead, so this need not be fast.
const every = 5 * time.Second

// atOnce bounds how many nodes are called at the same time.
const atOnce = 8

// Loops returns the leader's loops for sleeping nodes during one term.
func (w *Waker) Loops(term pg.Term) []loop.Loop {
	t := &ticker{waker: w, term: term}
	return []loop.Loop{{Name: "wake", Tick: t.tick, Every: every, Timeout: 2 * time.Minute}}
}

type ticker struct {
	waker *Waker
	term  pg.Term
}

// tick wakes the nodes that the database names. A failure is in the timeline and is
// retried later, so only the database's own errors are errors of the loop.
func (t *ticker) tick(ctx context.Context, _ time.Time) (more bool, err error) {
	calls, err := t.waker.plan(ctx, t.term)
	if err != nil {
		return false, err
	}
	var running sync.WaitGroup
	free := make(chan struct{}, atOnce)
	for _, c := range calls {
		free <- struct{}{}
		running.Go(func() {
			defer func() { <-free }()
			_ = t.waker.try(ctx, t.term, c) // the error is in the log and in the timeline
		})
	}
	running.Wait()
	return false, nil
}
