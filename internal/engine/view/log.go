package view

import (
	"cmp"
	"context"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/blob/joblog"
)

// Log is where the log of an attempt lies.
func (t Task) Log(attempt int) joblog.Log {
	if t.Job.IsZero() {
		return joblog.Log{Job: blob.NoJob, Task: t.ID.String(), Attempt: attempt}
	}
	return joblog.Log{Job: t.Job.String(), Task: cmp.Or(t.Key, t.ID.String()), Attempt: attempt}
}

// NewestLog is the log of the attempt that runs. Of a task that waits for its
// next attempt or has ended it is the last one that was kept; one that has not
// begun has the first.
func (t Task) NewestLog(ctx context.Context, bucket blob.Bucket) (joblog.Log, error) {
	l := t.Log(max(t.Attempt, 1))
	if t.State == weir.Running {
		return l, nil
	}
	kept, err := joblog.Attempts(ctx, bucket, l.Job, l.Task)
	if err == nil && len(kept) > 0 {
		l.Attempt = kept[len(kept)-1]
	}
	return l, err
}

// LogEnded says that nothing will be added to the log of an attempt.
func (s *Store) LogEnded(task weir.ID, attempt int) func(context.Context) (bool, error) {
	return func(ctx context.Context) (bool, error) {
		t, err := s.Task(ctx, task)
		state := weir.State(t.State)
		return state.Ended() || t.Attempt > attempt || t.Attempt == attempt && state != weir.Running, err
	}
}
