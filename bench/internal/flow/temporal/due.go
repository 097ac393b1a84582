package temporal

import (
	"context"
	"fmt"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/weirhq/weir/bench/internal/flow"
)

const (
	// sampleSize is how many schedules are set to measure how long that takes.
	sampleSize = 20
	// aheadBy is how far the instant is ahead of the last schedule, at least.
	aheadBy = 5 * time.Second
)

// due sets n schedules of one instant and measures the time of each run.
func (r *runner) due(ctx context.Context) (result flow.Result, err error) {
	r.round++
	// The instant is a part of each schedule, so it must be known before.
	start := time.Now()
	if err := r.set(ctx, "sample", sampleSize, start.AddDate(1, 0, 0)); err != nil {
		return result, err
	}
	each := time.Since(start) / sampleSize
	r.began.Expect(r.n)
	instant := time.Now().Add(2*each*time.Duration(r.n) + aheadBy).Truncate(time.Second).Add(time.Second).UTC()
	if err := r.set(ctx, "due", r.n, instant); err != nil {
		return result, err
	}
	if late := time.Since(instant); late > 0 {
		return result, fmt.Errorf("setting %d schedules took longer than thought, by %s: the run does not count", r.n, late)
	}
	times, err := r.began.Await(ctx)
	if err != nil {
		return result, err
	}
	result.Late = flow.Late(times, instant)
	return result, nil
}

// set makes n schedules that are due once.
func (r *runner) set(ctx context.Context, name string, n int, instant time.Time) error {
	at := func(n int) []client.ScheduleRange { return []client.ScheduleRange{{Start: n}} }
	spec := client.ScheduleSpec{Calendars: []client.ScheduleCalendarSpec{{
		Second: at(instant.Second()), Minute: at(instant.Minute()), Hour: at(instant.Hour()),
		DayOfMonth: at(instant.Day()), Month: at(int(instant.Month())), Year: at(instant.Year()),
		DayOfWeek: []client.ScheduleRange{{Start: 0, End: 6}},
	}}}
	err := flow.Each(ctx, n, func(ctx context.Context, i int) error {
		id := fmt.Sprintf("%s-%d-%d", name, r.round, i)
		_, err := r.client.ScheduleClient().Create(ctx, client.ScheduleOptions{
			ID: id, Spec: spec, Action: &client.ScheduleWorkflowAction{ID: id, Workflow: oneName, TaskQueue: r.queue},
		})
		return err
	})
	if err != nil {
		return fmt.Errorf("set Temporal schedules: %w", err)
	}
	return nil
}
