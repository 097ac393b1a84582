package queue

import (
	"context"
	"errors"
)

// StartEach starts n workers with one handler each, which do nothing, because the worker
// registers and polls, not the handler.
func StartEach(ctx context.Context, q Queue, n int) (Stop, error) {
	var stops []Stop
	stop := func(ctx context.Context) error {
		var errs []error
		for _, stop := range stops {
			errs = append(errs, stop(ctx))
		}
		return errors.Join(errs...)
	}
	for range n {
		one, err := q.Start(ctx, WorkerConfig{Concurrency: 1, Pace: Default, Handle: func(int64) {}})
		if err != nil {
			return nil, errors.Join(err, stop(ctx))
		}
		stops = append(stops, one)
	}
	return stop, nil
}
