package weir

import (
	"context"
	"errors"

	"github.com/weirhq/weir/bench/internal/queue"
)

// StartIdle starts n workers of one process, each registered on its own.
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

// HeartbeatStatements are the calls that only say "still alive".
func (q *Queue) HeartbeatStatements() []string { return []string{"%weir.heartbeat(%"} }
