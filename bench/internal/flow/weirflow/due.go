package weirflow

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/bench/internal/flow"
)

// yearly is the cron line of every schedule. The benchmark itself sets the next run to a
// moment from now, because cron lines have a resolution of a minute, which is too long to
// wait.
const yearly = "0 0 1 1 *"

// due makes n schedules of one instant and measures the time of each run.
func (r *runner) due(ctx context.Context) (result flow.Result, err error) {
	name := func(i int) string { return fmt.Sprintf("bench-%d", i) }
	err = flow.Each(ctx, r.n, func(ctx context.Context, i int) error {
		s := weir.Schedule{Name: name(i), Spec: yearly, Task: weir.Task{Service: service, Params: args{}}}
		if r.shape == flow.DueJobs {
			s.Task, s.Workflow = weir.Task{}, string(r.shape)
		}
		return r.client.SetSchedule(ctx, s)
	})
	if err != nil {
		return result, err
	}
	r.began.Expect(r.n)
	instant := time.Now().Add(aheadBy).Truncate(time.Millisecond)
	moved, err := r.pool.Exec(ctx, `update weir.schedules set next_at = $1 where name like 'bench-%'`, instant)
	if err != nil {
		return result, fmt.Errorf("move the schedules: %w", err)
	}
	if moved.RowsAffected() != int64(r.n) {
		return result, fmt.Errorf("%d schedules were moved, not %d", moved.RowsAffected(), r.n)
	}
	times, err := r.began.Await(ctx)
	if err != nil {
		return result, err
	}
	result.Late = flow.Late(times, instant)
	made, err := r.made(ctx, instant)
	if err != nil {
		return result, err
	}
	result.Made = flow.Late(made, instant)
	return result, flow.Each(ctx, r.n, func(ctx context.Context, i int) error { return r.client.DropSchedule(ctx, name(i), "bench") })
}

// made returns the times at which the jobs or tasks were written, and checks that there
// are n of them.
func (r *runner) made(ctx context.Context, instant time.Time) ([]time.Time, error) {
	query := `select t.created_at from weir.task t where t.created_at >= $1 and t.job is null`
	if r.shape == flow.DueJobs {
		query = `select j.created_at from weir.job j where j.created_at >= $1`
	}
	rows, err := r.pool.Query(ctx, query, instant)
	if err != nil {
		return nil, fmt.Errorf("read when the runs were made: %w", err)
	}
	times, err := pgx.CollectRows(rows, pgx.RowTo[time.Time])
	if err != nil {
		return nil, fmt.Errorf("read when the runs were made: %w", err)
	}
	if len(times) != r.n {
		return nil, fmt.Errorf("%d schedules had %d runs", r.n, len(times))
	}
	return times, nil
}
