package weir

import (
	"context"
	"math/rand/v2"
	"runtime"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// dribble is how long a claimer waits for more than one free slot while
	// there is more work than slots: a claim of many costs little more than a
	// claim of one.
	dribble = 2 * time.Millisecond
	// pollFirst is the first wait of an idle worker. While no hints arrive it
	// doubles from there.
	pollFirst = 50 * time.Millisecond
	// pollDeaf is the longest wait while no hints arrive.
	pollDeaf = time.Second
	// abandonAfter is how long after its time a handler may take to return.
	abandonAfter = time.Second
)

// demand is what a claim asks for.
type demand struct {
	services []string
	slots    []int
	n        int
}

// claimLoop claims until the worker stops. One claim is under way at a time, so
// that the database can answer a repeated one.
func (w *Worker) claimLoop(ctx context.Context) {
	idle, failures := 0, 0
	for !closed(w.stop) && ctx.Err() == nil {
		d := w.demand()
		got := 0
		if d.n > 0 && w.active.Load() {
			var err error
			got, err = w.claim(ctx, d)
			if err != nil && ctx.Err() == nil {
				failures++
				w.log.Error("a claim failed; it is tried again", "error", wrap("claim", err))
				w.rest(demand{}, 0, backoff(failures, time.Second, 30*time.Second))
				continue
			}
			failures = 0
		}
		if idle++; got > 0 {
			idle = 0
		}
		quiet := w.config.PollFloor
		switch {
		case !w.client.listener.Healthy():
			quiet = min(quiet, pollDeaf, pollFirst<<min(idle, 20))
		case idle < 2:
			quiet = min(quiet, pollFirst) // a hint may have been under way
		}
		w.rest(d, got, quiet+rand.N(quiet/4)) // #nosec G404 -- jitter is no secret
	}
}

// demand says what there is room for.
func (w *Worker) demand() demand {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.freed, w.want = 0, 0
	d := demand{n: min(w.free(), w.config.Batch)}
	for _, s := range w.services {
		h := w.handlers[s]
		h.freed = 0
		if slots := min(h.limit-h.running, d.n); slots > 0 {
			d.services = append(d.services, s)
			d.slots = append(d.slots, slots)
		}
	}
	if len(d.services) == 0 {
		d.n = 0
	}
	return d
}

// free is how many more tasks may run. Ends that were not told yet count too,
// if there are many: else a slow database would be given ever more to do. The
// caller holds the mutex.
func (w *Worker) free() int {
	return max(0, min(w.config.Concurrency-w.running, w.config.Concurrency+2*finishLimit-w.held.size))
}

// claim takes tasks and starts them. A claim whose answer was lost is repeated
// under the same id until it is answered, so no lease is forgotten.
func (w *Worker) claim(ctx context.Context, d demand) (got int, err error) {
	id, asked, begun := newToken(), w.keeper.Clock(), time.Now()
	var taken []*lease
	err = persist(ctx, w.config.Lease/3, func(ctx context.Context) error {
		taken = taken[:0]
		rows, err := w.client.pool.Query(ctx, `select task, attempt, service, params, job, coalesce(key, ''), max_attempts, coalesce(trace, ''),
			coalesce(extract(epoch from deadline - claimed_at), 0)::float8, gated from weir.claim($1, $2, $3, $4, $5, $6)`,
			w.config.Name, d.services, d.n, d.slots, id, w.config.Lease)
		if err != nil {
			return err
		}
		var l lease
		var service string
		var timeout float64
		_, err = pgx.ForEachRow(rows, []any{&l.task, &l.attempt, &service, &l.params, &l.job, &l.key, &l.maxAttempts, &l.trace, &timeout, &l.gated}, func() error {
			one := &lease{
				task: l.task, attempt: l.attempt, token: id, params: l.params, job: l.job, key: l.key, maxAttempts: l.maxAttempts, trace: l.trace,
				gated: l.gated, handler: w.handlers[service], timeout: time.Duration(timeout * float64(time.Second)), asked: asked, claimed: begun,
			}
			taken = append(taken, one)
			return nil
		})
		return err
	})
	if err != nil {
		return 0, err
	}
	w.stats.claimed.Add(int64(len(taken)))
	w.start(taken, asked, begun)
	return len(taken), nil
}

// start runs the handlers of new leases. asked and begun are when the claim was
// sent, by the clock of leases and by that of contexts.
func (w *Worker) start(taken []*lease, asked time.Duration, begun time.Time) {
	for _, l := range taken {
		l.ctx, l.cancel = context.WithCancelCause(w.values)
		if t := l.handler.timeout; t > 0 && (l.timeout == 0 || t < l.timeout) {
			l.timeout = t
		}
		if l.timeout > 0 {
			cancel, stop := l.cancel, context.CancelFunc(nil)
			l.ctx, stop = context.WithDeadlineCause(l.ctx, begun.Add(l.timeout), errTimedOut)
			l.cancel = func(cause error) { cancel(cause); stop() }
		}
	}
	late := w.keeper.Unsure(asked, w.keeper.Clock())
	w.mu.Lock()
	for _, l := range taken {
		w.held.push(l)
		if late {
			w.end(l, ending{verdict: asReturned, cause: "the answer to the claim came too late"})
			continue
		}
		w.running++
		l.handler.running++
		l.handler.got++
	}
	w.mu.Unlock()
	if late {
		return
	}
	for _, l := range taken {
		if l.timeout > 0 {
			l.abandon = time.AfterFunc(time.Until(begun.Add(l.timeout+abandonAfter)), func() { w.giveUp(l) })
		}
		go w.serve(l)
	}
	w.mu.Lock()
	room := w.free() >= w.config.Batch
	w.mu.Unlock()
	if !room {
		// Handlers that return at once do so now, and the next claim is larger.
		runtime.Gosched()
	}
}

// rest waits until it is worth claiming again: somebody said so, slots of a
// service with more work became free, or patience is over.
func (w *Worker) rest(d demand, got int, patience time.Duration) {
	if w.settle(d, got) {
		return
	}
	short, long := time.NewTimer(dribble), time.NewTimer(patience)
	defer short.Stop()
	defer long.Stop()
	for {
		select {
		case <-w.slot:
			return
		case <-short.C:
			w.mu.Lock()
			w.want = 1 // from now on a single slot will do
			w.offerSlot()
			w.mu.Unlock()
		case <-w.woken:
			w.mu.Lock()
			room := w.free() > 0
			for _, h := range w.handlers {
				h.hungry = h.hungry || !room // claim as soon as there is room
			}
			w.mu.Unlock()
			if room {
				return
			}
		case <-long.C:
			return
		case <-w.stop:
			return
		}
	}
}

// settle notes which services have more work than we took, and reports whether
// to claim again at once.
func (w *Worker) settle(d demand, got int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	asked := map[string]int{}
	for i, s := range d.services {
		asked[s] = d.slots[i]
	}
	full, limit := d.n > 0 && got == d.n, 0
	for s, h := range w.handlers {
		h.hungry = full || h.got >= asked[s]
		if h.got = 0; h.hungry {
			w.freed += h.freed
			limit += h.limit
		}
	}
	w.want = max(1, min(w.config.Batch/2, w.config.Concurrency/2, limit/2))
	select {
	case <-w.slot: // of an earlier rest
	default:
	}
	if full && w.free() >= w.want {
		return true
	}
	w.offerSlot()
	return false
}

// offerSlot ends the claimer's rest when enough slots are free. The caller
// holds the mutex.
func (w *Worker) offerSlot() {
	if w.want > 0 && w.freed >= w.want && w.free() > 0 {
		signal(w.slot)
	}
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
