package weir

import (
	"context"
	"slices"
	"time"
)

// guardEvery is the longest time between two looks at the clock of leases.
const guardEvery = 250 * time.Millisecond

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
		if !w.restUntilDue(ctx, wait) {
			return
		}
		w.giveUpUnsure(w.clock()) // the answer may take until the lease ends
		batch, within := w.takeDue(w.clock())
		wait = tick
		if len(batch) > 0 {
			if err := w.renew(ctx, batch, within); err == nil {
				failures = 0
			} else if ctx.Err() == nil {
				failures++
				wait = backoff(failures, w.config.Lease/60, w.config.Lease/20)
				w.log.Warn("leases were not renewed; it is tried again", "leases", len(batch), "error", wrap("renew", err))
			}
		}
		w.giveUpUnsure(w.clock())
	}
}

// restUntilDue waits for d, or until somebody asks about leases, and reports whether
// ctx is still good. Timers stop while a machine sleeps and the clock of leases does
// not, so it looks at that clock often while a handler runs: one that wakes up with a
// lease that is over must not go on.
func (w *Worker) restUntilDue(ctx context.Context, d time.Duration) bool {
	rest := time.NewTimer(d)
	defer rest.Stop()
	guard := time.NewTicker(min(w.config.Lease/60, guardEvery))
	defer guard.Stop()
	for {
		select {
		case <-guard.C:
			w.giveUpUnsure(w.clock())
		case <-rest.C:
			return true
		case <-w.look:
			return true
		case <-ctx.Done():
			return false
		}
	}
}

// takeDue marks and returns the leases to renew now, and how long that may take.
func (w *Worker) takeDue(now time.Duration) (batch []*lease, within time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	third, sixth := w.config.Lease/3, w.config.Lease/6
	anyDue := w.held.first != nil && now-w.held.first.asked >= third
	w.held.each(func(l *lease) {
		named := slices.Contains(w.named, l.task) || slices.Contains(w.named, ID{})
		if l.renewable(now, w.config.Lease) && (named || anyDue && now-l.asked >= sixth) {
			l.renewing = true
			batch = append(batch, l)
		}
	})
	w.named = nil
	within = sixth
	if len(batch) > 0 {
		if left := batch[0].asked + w.config.Lease - w.margin() - now; left > 0 {
			within = min(within, left)
		}
	}
	return batch, within
}

// renew prolongs leases and acts on what the database says about them.
func (w *Worker) renew(ctx context.Context, batch []*lease, within time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	tasks, attempts, tokens := fences(batch)
	sent := w.clock()
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

// giveUpUnsure tells handlers to stop whose lease may soon be somebody else's.
// It trusts a clock that nobody can set and that counts sleep, from before the last
// request that was answered.
func (w *Worker) giveUpUnsure(now time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for l := w.held.first; l != nil && now-l.asked >= w.config.Lease-w.margin(); l = l.next {
		if !l.ended && l.ctx.Err() == nil {
			l.cancel(errUnsure)
			w.log.Warn("a lease could not be renewed in time; its handler is told to stop", "task", l.task, "attempt", l.attempt, "service", l.handler.service)
		}
	}
}
