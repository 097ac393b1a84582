package weir

import (
	"context"
	"time"
)

const (
	// settleFor is how long handlers may take to return once their contexts
	// have ended.
	settleFor = 5 * time.Second
	// flushFor is how long the last ends may take to be told.
	flushFor = 10 * time.Second
)

// windDown lets handlers run on for the grace, then takes their contexts away,
// and waits until all ends are told. Handlers that still do not return are left
// behind: what they return is refused.
func (w *Worker) windDown(claiming <-chan struct{}) {
	idle := func() bool { return w.running == 0 }
	grace, endGrace := context.WithTimeout(w.life, w.config.Grace)
	defer endGrace()
	go func() {
		select {
		case <-w.hurry:
			endGrace()
		case <-grace.Done():
		}
	}()
	select {
	case <-claiming: // the last claim has its answer
	case <-grace.Done():
	}
	if !w.waitFor(grace, idle) {
		w.mu.Lock()
		w.held.each(func(l *lease) {
			if !l.ended {
				l.cancel(ErrStopped)
			}
		})
		w.mu.Unlock()
		settle, cancel := context.WithTimeout(w.life, settleFor)
		defer cancel()
		w.waitFor(settle, idle)
	}
	flush, cancel := context.WithTimeout(w.life, flushFor)
	defer cancel()
	w.waitFor(flush, func() bool {
		told := w.flushing == 0
		w.held.each(func(l *lease) { told = told && !l.ended })
		return told
	})
}

// waitFor waits until ok, which is asked under the mutex. It returns false when
// ctx ends first.
func (w *Worker) waitFor(ctx context.Context, ok func() bool) bool {
	for {
		w.mu.Lock()
		good := ok()
		w.mu.Unlock()
		if good {
			return true
		}
		select {
		case <-w.quiet:
		case <-ctx.Done():
			return false
		}
	}
}

// leave says goodbye: what the worker still holds goes back at once, also what
// a claim took whose answer never came.
func (w *Worker) leave() {
	w.mu.Lock()
	left := 0
	w.held.each(func(l *lease) {
		if !l.ended {
			l.lost = true
			w.held.remove(l)
			left++
		}
	})
	w.mu.Unlock()
	if left > 0 {
		w.log.Warn("handlers did not stop; their tasks are handed back and what they return is refused", "tasks", left)
	}
	ctx, cancel := context.WithTimeout(w.life, 5*time.Second)
	defer cancel()
	if w.twin.Load() != nil {
		return // the name is another one's now, and so are the tasks it holds
	}
	if _, err := w.client.pool.Exec(ctx, `select weir.stop_worker($1, $2)`, w.config.Name, w.holder); err != nil {
		w.log.Warn("the worker could not say goodbye; what it holds runs out", "error", wrap("stop worker", err))
		return
	}
	w.client.say(w.services...)
}
