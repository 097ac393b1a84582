package remote_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/work"
)

// full is a task with every field set.
func full() work.TaskSpec {
	return work.TaskSpec{
		Service: "x", Params: json.RawMessage(`{"a": [1, 2]}`), Priority: 7, Labels: map[string]string{"zone": "a"},
		RunAt: time.Date(2040, 1, 2, 3, 4, 5, 6000, time.UTC), Hold: "me", Lane: "l", Rank: weir.Rank(-5), Exclusive: true, Pool: "p",
		MaxAttempts: weir.Size(9), Timeout: op.Period(1500 * time.Millisecond), Backoff: op.Period(2 * time.Second),
		BackoffCap: op.Period(26 * time.Hour), Orphan: string(weir.OrphanStop), UniqueKey: "u", Trace: "00-trace",
	}
}

// last returns the error of a call.
func last[T any](_ T, err error) error { return err }

func to(id weir.ID, priority int) *work.Prioritizing {
	in := &work.Prioritizing{NamedTask: *named(id)}
	in.Body.Priority = priority
	return in
}

// The same commands over a server and on the database have the same effect.
func TestSameCommands(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := r.as(auth.Maintainer)
	ctx := t.Context()
	after := map[string]string{}
	for name, x := range map[string]op.Caller{"server": c, "database": r.stored()} {
		if err := putPool(ctx, x, "p", work.PoolSpec{Size: weir.Size(3), Rate: weir.Size(5), Per: op.Period(90 * time.Second), Note: "n"}); err != nil {
			t.Fatalf("%s: set pool: %v", name, err)
		}
		if err := putPool(ctx, x, "p", work.PoolSpec{Size: weir.Size(4)}); err != nil {
			t.Fatalf("%s: change pool: %v", name, err)
		}
		task := full()
		task.UniqueKey = name
		receipt, err := submit(ctx, x, task)
		if err != nil || receipt.Existed {
			t.Fatalf("%s: submit: %+v, %v", name, receipt, err)
		}
		if again, err := submit(ctx, x, task); err != nil || !again.Existed || again.ID != receipt.ID {
			t.Errorf("%s: submit again: %+v, %v", name, again, err)
		}
		job, err := submitJob(ctx, x, work.JobSpec{Name: "j", Kind: "k", Priority: 3, Params: json.RawMessage(`{"x": 1}`), IdempotencyKey: name, Trace: "t", Tasks: []work.TaskSpec{
			{Service: "a", Key: "a"}, {Service: "b", Key: "b", Needs: []string{"a"}, Rule: string(weir.AllDone)},
		}})
		if err != nil {
			t.Fatalf("%s: submit job: %v", name, err)
		}
		for what, err := range map[string]error{
			"release":  last(work.ReleaseTask.Call(ctx, x, deciding(receipt.ID, ""))),
			"hold":     last(work.HoldTask.Call(ctx, x, deciding(receipt.ID, "wait"))),
			"priority": last(work.SetPriority.Call(ctx, x, to(receipt.ID, 9))),
		} {
			if err != nil && what != "hold" { // the order is the map's: a held task cannot be held again
				t.Errorf("%s: %s: %v", name, what, err)
			}
		}
		reasons, err := work.WhyTask.Call(ctx, x, named(receipt.ID))
		if err != nil || len(reasons.Items) == 0 {
			t.Errorf("%s: why: %v, %v", name, reasons, err)
		}
		s := work.ScheduleSpec{Spec: "@daily", Zone: "Europe/Vienna", Missed: "all", Task: &work.TaskSpec{Service: "x", Timeout: op.Period(time.Minute)}}
		if err := putSchedule(ctx, x, name, s); err != nil {
			t.Errorf("%s: set schedule: %v", name, err)
		}
		s.Spec = "@hourly"
		if err := errors.Join(putSchedule(ctx, x, name, s), pauseSchedule(ctx, x, name)); err != nil {
			t.Errorf("%s: change schedule: %v", name, err)
		}
		after[name] = state(t, r, receipt.ID, job, name)
		canceled, err := work.CancelJob.Call(ctx, x, decidingJob(job, "r"))
		if canceled != (work.CancelJobOutput{Ended: 2}) || err != nil {
			t.Errorf("%s: cancel job: %+v, %v", name, canceled, err)
		}
		if done, err := work.CancelTask.Call(ctx, x, deciding(receipt.ID, "r")); !done.Ended || err != nil {
			t.Errorf("%s: cancel: %v, %v", name, done, err)
		}
		if err := errors.Join(last(work.RetryTask.Call(ctx, x, named(receipt.ID))), last(work.SkipTask.Call(ctx, x, deciding(receipt.ID, "r"))), dropSchedule(ctx, x, name), dropPool(ctx, x, "p", true)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if after["server"] != after["database"] {
		t.Errorf("by server: %s\nby database: %s", after["server"], after["database"])
	}
}

func putPool(ctx context.Context, c op.Caller, name string, spec work.PoolSpec) error {
	in := work.PuttingPool{NamedPool: work.NamedPool{Pool: name}, Body: spec}
	_, err := op.Over(ctx, c, work.PutPool, &in, &in.Matched)
	return err
}

func dropPool(ctx context.Context, c op.Caller, name string, force bool) error {
	_, err := work.DropPool.Call(ctx, c, &work.DroppingPool{NamedPool: work.NamedPool{Pool: name}, Force: force})
	return err
}

func putSchedule(ctx context.Context, c op.Caller, name string, spec work.ScheduleSpec) error {
	in := work.PuttingSchedule{NamedSchedule: work.NamedSchedule{Schedule: name}, Body: spec}
	_, err := op.Over(ctx, c, work.PutSchedule, &in, &in.Matched)
	return err
}

func pauseSchedule(ctx context.Context, c op.Caller, name string) error {
	_, err := work.PauseSchedule.Call(ctx, c, &work.NamedSchedule{Schedule: name})
	return err
}

func dropSchedule(ctx context.Context, c op.Caller, name string) error {
	_, err := work.DropSchedule.Call(ctx, c, &work.DroppingSchedule{NamedSchedule: work.NamedSchedule{Schedule: name}})
	return err
}

// state returns the effect of commands, without values that differ by nature.
func state(t *testing.T, r *rig, task, job weir.ID, schedule string) string {
	t.Helper()
	ctx := t.Context()
	a, err := r.store.Task(ctx, task)
	if err != nil {
		t.Fatal(err)
	}
	a.ID, a.CreatedAt, a.Since, a.UniqueKey, a.Hold, a.Gate = weir.ID{}, time.Time{}, time.Time{}, "", "", ""
	b, err := r.store.Job(ctx, job)
	if err != nil {
		t.Fatal(err)
	}
	b.ID, b.CreatedAt = weir.ID{}, time.Time{}
	tasks, err := r.store.Tasks(ctx, view.TaskFilter{Job: job}, view.Page{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range tasks {
		x := &tasks[i]
		x.ID, x.Job, x.CreatedAt, x.Since, x.Needs = weir.ID{}, weir.ID{}, time.Time{}, time.Time{}, nil
	}
	p, err := r.store.Pool(ctx, "p")
	if err != nil {
		t.Fatal(err)
	}
	p.ResizedAt = time.Time{}
	s, err := r.store.Schedule(ctx, schedule)
	if err != nil {
		t.Fatal(err)
	}
	s.Name, s.ChangedAt = "", time.Time{}
	return plain(t, []any{a, b, tasks, p, s})
}

// The server refuses with the same words as the database.
func TestSameRefusals(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := r.as(auth.Maintainer)
	done, err := r.sdk.Submit(t.Context(), weir.Task{Service: "x"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.sdk.Cancel(t.Context(), done.ID, weir.Decision{}); err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]func(context.Context, op.Caller) error{
		"no pool": func(ctx context.Context, x op.Caller) error {
			_, err := submitJob(ctx, x, work.JobSpec{Name: "j", Tasks: []work.TaskSpec{{Service: "x", Pool: "gpu"}}})
			return err
		},
		"ring": func(ctx context.Context, x op.Caller) error {
			_, err := submitJob(ctx, x, work.JobSpec{Name: "j", Tasks: []work.TaskSpec{{Service: "x", Key: "a", Needs: []string{"a"}}}})
			return err
		},
		"no task": func(ctx context.Context, x op.Caller) error {
			return last(work.CancelTask.Call(ctx, x, deciding(none, "")))
		},
		"no job": func(ctx context.Context, x op.Caller) error {
			return last(work.CancelJob.Call(ctx, x, decidingJob(none, "")))
		},
		"ended": func(ctx context.Context, x op.Caller) error {
			return last(work.ReleaseTask.Call(ctx, x, deciding(done.ID, "")))
		},
		"no reason": func(ctx context.Context, x op.Caller) error {
			return last(work.SkipTask.Call(ctx, x, deciding(none, "")))
		},
		"why not":      func(ctx context.Context, x op.Caller) error { return last(work.WhyTask.Call(ctx, x, named(none))) },
		"empty pool":   func(ctx context.Context, x op.Caller) error { return putPool(ctx, x, "p", work.PoolSpec{}) },
		"drop no pool": func(ctx context.Context, x op.Caller) error { return dropPool(ctx, x, "ghost", false) },
		"no schedule":  func(ctx context.Context, x op.Caller) error { return pauseSchedule(ctx, x, "ghost") },
		"bad cron": func(ctx context.Context, x op.Caller) error {
			return putSchedule(ctx, x, "s", work.ScheduleSpec{Spec: "never", Task: &work.TaskSpec{Service: "x"}})
		},
		"no node": func(ctx context.Context, x op.Caller) error {
			in := work.SettingMode{NamedNode: work.NamedNode{Node: "ghost"}, Body: work.ModeBody{Mode: "paused"}}
			_, err := work.SetMode.Call(ctx, x, &in)
			return err
		},
		"wrong retry": func(ctx context.Context, x op.Caller) error {
			return last(work.RetryTask.Call(ctx, x, named(none)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			x, y := problem.Explain(f(t.Context(), c)), problem.Explain(f(t.Context(), r.stored()))
			if x.Kind != y.Kind || x.What != y.What {
				t.Errorf("by server: %s: %s\nby database: %s: %s", x.Kind.Code(), x.What, y.Kind.Code(), y.What)
			}
		})
	}
}
