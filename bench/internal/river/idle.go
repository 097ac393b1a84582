package river

import (
	"context"
	"errors"

	"github.com/weirhq/weir/bench/internal/queue"
)

// StartIdle starts n clients, because in River the client is what registers
// and polls; the number of handlers inside one costs nothing while idle.
func (q *Queue) StartIdle(ctx context.Context, n int) (queue.Stop, error) {
	var stops []queue.Stop
	stop := func(ctx context.Context) error {
		var errs []error
		for _, stop := range stops {
			errs = append(errs, stop(ctx))
		}
		return errors.Join(errs...)
	}
	for range n {
		one, err := q.Start(ctx, queue.WorkerConfig{Concurrency: 1, Pace: queue.Default, Handle: func(int64) {}})
		if err != nil {
			return nil, errors.Join(err, stop(ctx))
		}
		stops = append(stops, one)
	}
	return stop, nil
}

// HeartbeatStatements is empty: River's clients have no heartbeat of their own.
func (q *Queue) HeartbeatStatements() []string { return nil }
