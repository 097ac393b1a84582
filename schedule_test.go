package weir_test

import (
	"errors"
	"testing"
	"time"

	"github.com/weirhq/weir"
)

func TestAScheduleOfAWorkflow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	s := weir.Schedule{
		Name: "nightly", Spec: "0 3 * * *", Zone: "Europe/Budapest", Workflow: "render", Options: map[string]any{"params": map[string]any{"x": 1}},
		Overlap: weir.OverlapQueueOne, CatchUp: 2 * time.Hour, Jitter: time.Minute, Missed: weir.MissedAll,
	}
	if err := w.client.SetSchedule(ctx, s); !errors.Is(err, weir.ErrInvalid) {
		t.Errorf("a schedule of a workflow that is not there: %v", err)
	}
	if _, err := w.Pool.Exec(ctx, `select weir.put_workflow('render', '{"steps": [{"key": "a", "service": "s"}]}')`); err != nil {
		t.Fatal(err)
	}
	const same = `select count(*) from weir.schedules where workflow = 'render' and task is null and options = '{"params": {"x": 1}}' and overlap = 'queue_one' and catch_up = '2 h'
		and jitter = '1 min' and missed = 'all' and zone = 'Europe/Budapest'`
	for range 2 {
		if err := w.client.SetSchedule(ctx, s); err != nil {
			t.Fatal(err)
		}
	}
	for _, paused := range []bool{true, false} {
		if err := w.client.PauseSchedule(ctx, "nightly", paused, "ada"); err != nil {
			t.Fatal(err)
		}
		if got := w.count(t, same); got != 1 {
			t.Errorf("paused %v: the schedule has changed", paused)
		}
	}
	if got := w.count(t, `select count(*) from weir.events where kind = 'schedule' and type in ('set', 'paused', 'resumed')`); got != 3 {
		t.Errorf("%d events, want 3", got)
	}
	for name, bad := range map[string]weir.Schedule{
		"overlap of a task":  {Name: "x", Spec: "@daily", Task: weir.Task{Service: "s"}, Overlap: weir.OverlapSkip},
		"unknown overlap":    {Name: "x", Spec: "@daily", Workflow: "render", Overlap: "twice"},
		"negative jitter":    {Name: "x", Spec: "@daily", Workflow: "render", Jitter: -time.Second},
		"options of no kind": {Name: "x", Spec: "@daily", Workflow: "render", Options: []int{1}},
	} {
		if err := w.client.SetSchedule(ctx, bad); !errors.Is(err, weir.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
