package metrics

import (
	"context"
	"sync"
	"time"
)

const (
	// within bounds one reading. Prometheus gives a scrape ten seconds.
	within = 3 * time.Second
	// again is how soon a reading that failed is tried once more.
	again = 5 * time.Second
)

// reading is something that is read from the database now and then.
type reading[T any] struct {
	name  string
	every time.Duration
	read  func(context.Context) (T, error)

	mu     sync.Mutex
	at     time.Time
	took   time.Duration
	value  T
	err    error
	failed int64
}

// look returns what was read last, or reads afresh if that is too old. Those who
// come meanwhile wait for the same answer.
func (r *reading[T]) look() (value T, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fresh := r.every
	if r.err != nil {
		fresh = min(fresh, again)
	}
	if r.at.IsZero() || time.Since(r.at) >= fresh {
		// Not the scrape's own context: one that gives up must not spoil the
		// answer for the next.
		ctx, cancel := context.WithTimeout(context.Background(), within)
		defer cancel()
		start := time.Now()
		r.value, r.err = r.read(ctx)
		r.at, r.took = time.Now(), time.Since(start)
		if r.err != nil {
			r.failed++
		}
	}
	return r.value, r.err == nil
}

// tell says how reading itself goes.
func (r *reading[T]) tell(o out) (ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	o.put(readSeconds, r.took.Seconds(), r.name)
	o.put(readErrors, float64(r.failed), r.name)
	return r.err == nil
}
