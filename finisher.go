package weir

import (
	"context"
	"runtime"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir/internal/blame"
)

const (
	// finishLimit is how many ends one statement tells.
	finishLimit = 1000
	// finishFlights is how many such statements are under way at once.
	finishFlights = 2
	// finishSecond is how many ends must wait before a second one begins: while
	// one is under way, waiting makes the next one larger.
	finishSecond = 200
	// finishTry is how long one try may take.
	finishTry = 10 * time.Second
	// splitLimit is how often one report halves a batch that was not taken: one bad
	// row in finishLimit takes ten, and if all are bad it must end.
	splitLimit = 32
)

// end notes how an attempt ended and has it told. The caller holds the mutex.
func (w *Worker) end(l *lease, e ending) {
	l.ended, l.ending = true, e
	if e.verdict == dropped {
		w.held.remove(l)
		return
	}
	if !l.renewing { // else the renewer does this when it has its answer
		w.tell(l)
	}
}

// tell queues the end of a lease. Like a group commit: alone it goes out at
// once, else with all that came up meanwhile. The caller holds the mutex.
func (w *Worker) tell(l *lease) {
	w.queue = append(w.queue, l)
	if w.flushing == 0 || w.flushing < finishFlights && len(w.queue) >= finishSecond {
		w.flushing++
		w.group.Go(w.flush)
	}
}

// flush tells ends until there are none.
func (w *Worker) flush() {
	for {
		// Handlers that are about to return go first; their ends come along.
		runtime.Gosched()
		w.mu.Lock()
		batch := w.queue
		if len(batch) > finishLimit {
			batch, w.queue = batch[:finishLimit:finishLimit], batch[finishLimit:]
		} else {
			w.queue = nil
		}
		if len(batch) == 0 {
			w.flushing--
			if w.flushing == 0 {
				signal(w.quiet)
			}
			w.mu.Unlock()
			return
		}
		w.mu.Unlock()
		w.report(w.life, batch)
	}
}

// report tells the database how attempts ended and lets go of their leases. Ends
// that could not be told stay; see postpone.
func (w *Worker) report(ctx context.Context, batch []*lease) {
	var done, failed, rest []*lease
	for _, l := range batch {
		switch l.ending.verdict {
		case asDone:
			done = append(done, l)
		case asFailed:
			failed = append(failed, l)
		default:
			rest = append(rest, l)
		}
	}
	r := reporting{splits: splitLimit}
	w.reportDone(ctx, done, &r)
	w.reportFailed(ctx, failed, &r)
	for _, l := range rest {
		w.reportOther(ctx, l, &r)
	}
	r.log(w)
	gated := w.config.Node != ""
	w.mu.Lock()
	for _, l := range r.untold {
		l.untold = true
	}
	for _, l := range batch {
		if !l.untold {
			gated = gated || l.gated
			w.held.remove(l)
		}
	}
	if len(r.untold) > 0 {
		w.refusals++
		signal(w.again)
	} else {
		w.refusals = 0
	}
	w.offerSlot()
	w.mu.Unlock()
	w.client.waiters.nudge()
	if gated {
		w.opened()
	}
}

// opened says that ends may have let other tasks through, here and elsewhere.
func (w *Worker) opened() {
	w.wake()
	w.client.say()
}

func (w *Worker) reportDone(ctx context.Context, batch []*lease, r *reporting) {
	if len(batch) == 0 {
		return
	}
	var results [][]byte
	for i, l := range batch {
		if l.ending.result != nil && results == nil {
			results = make([][]byte, len(batch))
		}
		if results != nil {
			results[i] = l.ending.result
		}
	}
	err := w.ask(ctx, "finish", batch, `select task, attempt, refusal from weir.finish_many($1, $2, $3, $4, hint => false)`, results)
	switch {
	case err == nil:
		w.stats.done.Add(int64(len(batch)))
	case r.split(batch, err):
		w.reportDone(ctx, batch[:len(batch)/2], r)
		w.reportDone(ctx, batch[len(batch)/2:], r)
	case len(batch) == 1 && blame.Of(err) == blame.Value:
		batch[0].ending = ending{verdict: asFailed, cause: "the result was refused: " + text(err), final: true}
		w.reportFailed(ctx, batch, r)
	default:
		w.postpone(r, batch, wrap("finish", err))
	}
}

func (w *Worker) reportFailed(ctx context.Context, batch []*lease, r *reporting) {
	if len(batch) == 0 {
		return
	}
	causes, final, after := make([]string, len(batch)), make([]bool, len(batch)), make([]*time.Duration, len(batch))
	reasons := make([]*string, len(batch))
	for i, l := range batch {
		causes[i], final[i] = l.ending.cause, l.ending.final
		if l.ending.reason != "" {
			reasons[i] = &l.ending.reason
		}
		if l.ending.setAfter {
			after[i] = &l.ending.after
		}
	}
	err := w.ask(ctx, "fail", batch, `select task, attempt, refusal from weir.fail_many($1, $2, $3, $4, $5,
		array(select clock_timestamp() + d from unnest($6::interval[]) with ordinality u (d, n) order by n), hint => false,
		reasons => $7)`, causes, final, after, reasons)
	switch {
	case err == nil:
	case r.split(batch, err):
		w.reportFailed(ctx, batch[:len(batch)/2], r)
		w.reportFailed(ctx, batch[len(batch)/2:], r)
		return
	case len(batch) == 1 && blame.Of(err) == blame.Value && batch[0].ending.setAfter:
		// The only value that a handler chooses here is the time of the next attempt.
		batch[0].ending = ending{verdict: asFailed, cause: batch[0].ending.cause + "; the time to try again was refused: " + text(err), final: batch[0].ending.final}
		w.reportFailed(ctx, batch, r)
		return
	default:
		w.postpone(r, batch, wrap("fail", err))
		return
	}
	w.stats.failed.Add(int64(len(batch)))
	// Not before the database has it: who looks too early looks in vain.
	for i, l := range batch {
		switch {
		case after[i] == nil:
		case *after[i] > 0:
			w.client.tender.due(*after[i])
		default:
			w.client.say(l.handler.service)
		}
	}
}

// reportOther tells the rarer ends, one at a time.
func (w *Worker) reportOther(ctx context.Context, l *lease, r *reporting) {
	one := []*lease{l}
	var err error
	switch e := l.ending; e.verdict {
	case asCanceled:
		err = w.ask(ctx, "confirm cancel", one, `select ($1::uuid[])[1], ($2::int[])[1], weir.confirm_cancel(($1::uuid[])[1], ($2::int[])[1], ($3::uuid[])[1], nullif($4, ''), hint => false)`, e.cause)
		if err == nil {
			w.stats.canceled.Add(1)
		}
	case asSnoozed:
		err = w.ask(ctx, "snooze", one, `select task, attempt, refusal from weir.give_back_many($1, $2, $3, clock_timestamp() + $4::interval, $5, hint => false)`, e.after, e.cause)
		if err == nil {
			w.stats.returned.Add(1)
			w.client.tender.due(e.after)
		}
	case asReturned:
		err = w.ask(ctx, "hand back", one, `select task, attempt, refusal from weir.give_back_many($1, $2, $3, null, $4, hint => false)`, e.cause)
		if err == nil {
			w.stats.returned.Add(1)
			w.client.say(l.handler.service)
		}
	}
	switch blame.Of(err) {
	case blame.Nobody:
	case blame.Value, blame.State:
		l.ending = ending{verdict: asFailed, cause: "the end was refused: " + text(err)}
		w.reportFailed(ctx, one, r)
	default:
		w.postpone(r, one, wrap("end", err))
	}
}

// reporting is one try to tell a batch of ends.
type reporting struct {
	// splits is how often a batch may still be halved.
	splits int
	// untold are ends to tell again, gone counts those that are not; err is why, of
	// the first of them.
	untold []*lease
	gone   int
	err    error
}

// split reports whether the halves of a batch are worth sending by themselves,
// because one row must not keep the others.
func (r *reporting) split(batch []*lease, err error) bool {
	if len(batch) < 2 || !blame.OneRow(err) || r.splits == 0 {
		return false
	}
	r.splits--
	return true
}

// postpone keeps ends that could not be told, for another try. The work is not
// to blame, so it is not written down as failed. A lease that is no longer renewed
// and has run out goes to somebody else; when a person must change something first,
// there is no use in telling its end after that.
func (w *Worker) postpone(r *reporting, batch []*lease, err error) {
	passes := blame.Of(err) != blame.Setup && blame.Of(err) != blame.State
	if r.err == nil {
		r.err = err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, l := range batch {
		now := w.keeper.Clock()
		if l.endedAt == 0 {
			l.endedAt = now
		}
		l.refused = blame.NotDone(err)
		if passes || now-l.asked < w.config.Lease {
			r.untold = append(r.untold, l)
		} else {
			r.gone++
		}
	}
}

// log says what became of the ends that could not be told.
func (r *reporting) log(w *Worker) {
	if len(r.untold) > 0 {
		w.log.Warn("the end of tasks could not be told; it is tried again", "tasks", len(r.untold), "error", r.err)
	}
	if r.gone > 0 {
		w.stats.lost.Add(int64(r.gone))
		w.log.Error("the end of tasks could not be told before their leases ran out; they run again", "tasks", r.gone, "error", r.err)
	}
}

// retellLoop tells again what could not be told, less and less often.
func (w *Worker) retellLoop(ctx context.Context) {
	for {
		select {
		case <-w.again:
		case <-ctx.Done():
			return
		}
		w.mu.Lock()
		n := w.refusals
		w.mu.Unlock()
		if !pause(ctx, backoff(n, 50*time.Millisecond, min(2*time.Second, w.config.Lease/6))) {
			return
		}
		w.mu.Lock()
		w.held.each(func(l *lease) {
			if l.untold && !l.renewing { // else the renewer does this when it has its answer
				l.untold = false
				w.tell(l)
			}
		})
		w.mu.Unlock()
	}
}

// ask sends the ends of leases once, and notes those that were refused. An end
// that was told before and whose answer was lost is "repeated", which is as good
// as accepted.
func (w *Worker) ask(ctx context.Context, op string, batch []*lease, sql string, args ...any) error {
	ctx, cancel := context.WithTimeout(ctx, finishTry)
	defer cancel()
	tasks, attempts, tokens := fences(batch)
	rows, err := w.client.pool.Query(ctx, sql, append([]any{tasks, attempts, tokens}, args...)...)
	refused, err := readRefused(rows, err)
	if err != nil {
		return err
	}
	for f, answer := range refused {
		if err := answered(op, answer); err != nil {
			w.stats.lost.Add(1)
			w.log.Warn("the end of an attempt was refused", "task", f.task, "attempt", f.attempt, "error", err)
		}
	}
	return nil
}

// readRefused reads task, attempt, refusal.
func readRefused(rows pgx.Rows, err error) (map[fence]string, error) {
	if err != nil {
		return nil, err
	}
	refused := map[fence]string{}
	var f fence
	var answer string
	_, err = pgx.ForEachRow(rows, []any{&f.task, &f.attempt, &answer}, func() error {
		refused[f] = answer
		return nil
	})
	return refused, err
}

// fences are the three columns that every write of a worker carries.
func fences(batch []*lease) (tasks []ID, attempts []int, tokens []ID) {
	tasks, attempts, tokens = make([]ID, len(batch)), make([]int, len(batch)), make([]ID, len(batch))
	for i, l := range batch {
		tasks[i], attempts[i], tokens[i] = l.task, l.attempt, l.token
	}
	return tasks, attempts, tokens
}
