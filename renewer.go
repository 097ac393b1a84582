package weir

import (
	"context"
	"slices"
	"time"
)

// margin is how long before the end of its lease an attempt that could not be
// renewed is told to stop: time to stop, before anybody else may start the task.
func (w *Worker) margin() time.Duration { return w.config.Lease / 6 }

// renewLoop keeps leases alive. Leases older than a third of their length are
// renewed, with all that are older than a sixth: so there is about one statement
// per third, and none for tasks that are quick.
func (w *Worker) renewLoop(ctx context.Context) {
	tick := w.config.Lease / 6
	wait, failures := tick, 0
	for {
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-w.look:
			timer.Stop()
		case <-ctx.Done():
			timer.Stop()
			return
		}
		w.giveUpUnsure(time.Now()) // the answer may take until the lease ends
		batch, until := w.takeDue(time.Now())
		wait = tick
		if len(batch) > 0 {
			if err := w.renew(ctx, batch, until); err == nil {
				failures = 0
			} else if ctx.Err() == nil {
				failures++
				wait = backoff(failures, w.config.Lease/60, w.config.Lease/20)
				w.log.Warn("leases were not renewed; it is tried again", "leases", len(batch), "error", wrap("renew", err))
			}
		}
		w.giveUpUnsure(time.Now())
	}
}

// takeDue marks and returns the leases to renew now, and how long that may take.
func (w *Worker) takeDue(now time.Time) (batch []*lease, until time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	third, sixth := w.config.Lease/3, w.config.Lease/6
	anyDue := w.held.first != nil && now.Sub(w.held.first.asked) >= third
	w.held.each(func(l *lease) {
		named := slices.Contains(w.named, l.task) || slices.Contains(w.named, ID{})
		if l.renewable(now, w.config.Lease) && (named || anyDue && now.Sub(l.asked) >= sixth) {
			l.renewing = true
			batch = append(batch, l)
		}
	})
	w.named = nil
	until = now.Add(sixth)
	if len(batch) > 0 {
		if end := batch[0].asked.Add(w.config.Lease - w.margin()); end.After(now) && end.Before(until) {
			until = end
		}
	}
	return batch, until
}

// renew prolongs leases and acts on what the database says about them.
func (w *Worker) renew(ctx context.Context, batch []*lease, until time.Time) error {
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	tasks, attempts, tokens := fences(batch)
	sent := time.Now()
	rows, err := w.client.pool.Query(ctx, `select task, attempt, refusal from weir.renew($1, $2, $3, $4, $5)`, w.config.Name, tasks, attempts, tokens, w.config.Lease)
	refused, err := readRefused(rows, err)

	w.mu.Lock()
	for _, l := range batch {
		l.renewing = false
		switch {
		case l.lost || l.ended && l.ending.verdict == dropped:
		case l.untold && gone(refused[l.fence()]):
			l.lost, l.untold = true, false
			w.held.remove(l)
			w.stats.lost.Add(1)
			w.log.Warn("a lease was lost before its end could be told", "task", l.task, "attempt", l.attempt, "service", l.handler.service)
		case l.ended: // while we asked, or before
			if err == nil {
				w.prolong(l, sent)
			}
			l.untold = false
			w.tell(l)
		case err == nil:
			w.prolong(l, sent)
		}
	}
	w.mu.Unlock()

	for _, l := range batch {
		switch answer := refused[l.fence()]; {
		case answer == "cancel":
			l.cancel(ErrCanceled)
		case gone(answer):
			w.lose(l)
		}
	}
	return err
}

// gone reports whether the answer to a renewal says that the lease is lost.
func gone(answer string) bool { return answer != "" && answer != "cancel" }

// prolong notes that a lease counts from then. The caller holds the mutex.
func (w *Worker) prolong(l *lease, sent time.Time) {
	l.asked = sent
	w.held.remove(l)
	w.held.push(l)
}

// giveUpUnsure tells handlers to stop whose lease may soon be somebody else's.
// It trusts its own monotonic clock, counted from before the last request that
// was answered.
func (w *Worker) giveUpUnsure(now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for l := w.held.first; l != nil && now.Sub(l.asked) >= w.config.Lease-w.margin(); l = l.next {
		if !l.ended && l.ctx.Err() == nil {
			l.cancel(errUnsure)
			w.log.Warn("a lease could not be renewed in time; its handler is told to stop", "task", l.task, "attempt", l.attempt, "service", l.handler.service)
		}
	}
}
