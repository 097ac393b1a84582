package weir

import (
	"context"
	"slices"
	"time"
)

// renewDue renews the leases that are due.
func (w *Worker) renewDue(ctx context.Context) error {
	batch, within := w.takeDue(w.keeper.Clock())
	if len(batch) == 0 {
		return nil
	}
	err := w.renew(ctx, batch, within)
	if err != nil && ctx.Err() == nil {
		w.log.Warn("leases were not renewed; it is tried again", "leases", len(batch), "error", wrap("renew", err))
	}
	return err
}

// takeDue marks and returns the leases to renew now, and how long that may take.
func (w *Worker) takeDue(now time.Duration) (batch []*lease, within time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	anyDue := w.held.first != nil && w.keeper.Due(w.held.first.asked, now)
	w.held.each(func(l *lease) {
		named := slices.Contains(w.named, l.task) || slices.Contains(w.named, ID{})
		if l.renewable(now, w.config.Lease) && (named || anyDue && w.keeper.Ripe(l.asked, now)) {
			l.renewing = true
			batch = append(batch, l)
		}
	})
	w.named = nil
	if len(batch) > 0 {
		within = w.keeper.Within(batch[0].asked, now)
	}
	return batch, within
}

// renew prolongs leases and acts on what the database says about them.
func (w *Worker) renew(ctx context.Context, batch []*lease, within time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	tasks, attempts, tokens := fences(batch)
	sent := w.keeper.Clock()
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
func (w *Worker) prolong(l *lease, sent time.Duration) {
	l.asked = sent
	w.held.remove(l)
	w.held.push(l)
}

// stopUnsure stops handlers whose lease may soon be somebody else's.
func (w *Worker) stopUnsure(now time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for l := w.held.first; l != nil && w.keeper.Unsure(l.asked, now); l = l.next {
		if !l.ended && l.ctx.Err() == nil {
			l.cancel(errUnsure)
			w.log.Warn("a lease could not be renewed in time; its handler is told to stop", "task", l.task, "attempt", l.attempt, "service", l.handler.service)
		}
	}
}
