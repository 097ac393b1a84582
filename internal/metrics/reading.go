package metrics

import (
	"context"
	"sync"
	"time"
)

const (
	// within is the timeout of one reading. Prometheus gives a scrape ten seconds.
	within = 3 * time.Second
	// again is how soon a failed reading is retried.
	again = 5 * time.Second
)

// reading is something that is read from the database at intervals.
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

// look returns the last value, or reads again if that is too old. Concurrent callers wait
// for the same answer.
func (r *reading[T]) look() (value T, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fresh := r.every
	if r.err != nil {
		fresh = min(fresh, again)
	}
	if r.at.IsZero() || time.Since(r.at) >= fresh {
		// The scrape's own context is not used, because a scrape that gives up must not
		// spoil the answer for the next.
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

// tell exports how the reading itself went.
func (r *reading[T]) tell(o out) (ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	o.put(readSeconds, r.took.Seconds(), r.name)
	o.put(readErrors, float64(r.failed), r.name)
	return r.err == nil
}
