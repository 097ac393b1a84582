package remote_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/work"
)

// full is a task with everything that a task can have.
func full() weir.Task {
	return weir.Task{
		Service: "x", Params: map[string]any{"a": []int{1, 2}}, Priority: 7, Labels: map[string]string{"zone": "a"}, RunAt: time.Date(2040, 1, 2, 3, 4, 5, 6000, time.UTC), Hold: "me", Lane: "l",
		Rank: weir.Rank(-5), Exclusive: true, Pool: "p", MaxAttempts: 9, Timeout: 1500 * time.Millisecond, Backoff: 2 * time.Second, BackoffCap: 26 * time.Hour, Orphan: weir.OrphanStop,
		UniqueKey: "u", Trace: "00-trace",
	}
}

// The same commands by way of the server and on the database leave the same.
func TestSameCommands(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := r.as(auth.Maintainer)
	ctx := t.Context()
	after := map[string]string{}
	for name, x := range map[string]app.Commander{"server": c, "database": r.sdk} {
		y := r.caller(x)
		if err := putPool(ctx, y, "p", work.PoolSpec{Size: weir.Size(3), Rate: weir.Size(5), Per: op.Period(90 * time.Second), Note: "n"}); err != nil {
			t.Fatalf("%s: set pool: %v", name, err)
		}
		if err := putPool(ctx, y, "p", work.PoolSpec{Size: weir.Size(4)}); err != nil {
			t.Fatalf("%s: change pool: %v", name, err)
		}
		task := full()
		task.UniqueKey = name
		receipt, err := x.Submit(ctx, task)
		if err != nil || receipt.Existed {
			t.Fatalf("%s: submit: %+v, %v", name, receipt, err)
		}
		if again, err := x.Submit(ctx, task); err != nil || !again.Existed || again.ID != receipt.ID {
			t.Errorf("%s: submit again: %+v, %v", name, again, err)
		}
		job, err := x.SubmitJob(ctx, weir.Job{Name: "j", Kind: "k", Priority: 3, Params: json.RawMessage(`{"x": 1}`), IdempotencyKey: name, Trace: "t", Tasks: []weir.Task{
			{Service: "a", Key: "a"}, {Service: "b", Key: "b", Needs: []string{"a"}, Rule: weir.AllDone},
		}})
		if err != nil {
			t.Fatalf("%s: submit job: %v", name, err)
		}
		for what, err := range map[string]error{
			"release":  x.Release(ctx, receipt.ID, "ada"),
			"hold":     x.Hold(ctx, receipt.ID, weir.Decision{By: "ada", Reason: "wait"}),
			"priority": x.SetPriority(ctx, receipt.ID, 9, "ada"),
		} {
			if err != nil && what != "hold" { // the order is the map's: a held task cannot be held again
				t.Errorf("%s: %s: %v", name, what, err)
			}
		}
		reasons, err := x.Why(ctx, receipt.ID)
		if err != nil || len(reasons) == 0 {
			t.Errorf("%s: why: %v, %v", name, reasons, err)
		}
		s := weir.Schedule{Name: name, Spec: "@daily", Zone: "Europe/Vienna", Missed: weir.MissedAll, Task: weir.Task{Service: "x", Timeout: time.Minute}}
		if err := x.SetSchedule(ctx, s); err != nil {
			t.Errorf("%s: set schedule: %v", name, err)
		}
		s.Spec = "@hourly"
		if err := errors.Join(x.SetSchedule(ctx, s), x.PauseSchedule(ctx, name, true, "ada")); err != nil {
			t.Errorf("%s: change schedule: %v", name, err)
		}
		after[name] = state(t, r, receipt.ID, job, name)
		ended, asked, err := x.CancelJob(ctx, job, weir.Decision{Reason: "r"})
		if ended != 2 || asked != 0 || err != nil {
			t.Errorf("%s: cancel job: %d, %d, %v", name, ended, asked, err)
		}
		if done, err := x.Cancel(ctx, receipt.ID, weir.Decision{Reason: "r"}); !done || err != nil {
			t.Errorf("%s: cancel: %v, %v", name, done, err)
		}
		if err := errors.Join(x.Retry(ctx, receipt.ID, "ada"), x.Skip(ctx, receipt.ID, weir.Decision{Reason: "r"}), x.DropSchedule(ctx, name, "ada"), dropPool(ctx, y, "p", true)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if after["server"] != after["database"] {
		t.Errorf("by server: %s\nby database: %s", after["server"], after["database"])
	}
}

// caller carries operations out where x changes things.
func (r *rig) caller(x any) op.Caller {
	if c, ok := x.(op.Caller); ok {
		return c
	}
	return op.Local{Stores: []any{work.New(r.db.Pool, r.sdk)}, Who: func(context.Context) auth.Subject { return auth.System("ada") }}
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

// state is what commands left, without what differs by nature.
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

// What the database refuses, the server refuses with the same words.
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
	for name, f := range map[string]func(context.Context, app.Commander) error{
		"no pool": func(ctx context.Context, x app.Commander) error {
			_, err := x.SubmitJob(ctx, weir.Job{Name: "j", Tasks: []weir.Task{{Service: "x", Pool: "gpu"}}})
			return err
		},
		"ring": func(ctx context.Context, x app.Commander) error {
			_, err := x.SubmitJob(ctx, weir.Job{Name: "j", Tasks: []weir.Task{{Service: "x", Key: "a", Needs: []string{"a"}}}})
			return err
		},
		"no task": func(ctx context.Context, x app.Commander) error {
			_, err := x.Cancel(ctx, none, weir.Decision{})
			return err
		},
		"no job": func(ctx context.Context, x app.Commander) error {
			_, _, err := x.CancelJob(ctx, none, weir.Decision{})
			return err
		},
		"ended":     func(ctx context.Context, x app.Commander) error { return x.Release(ctx, done.ID, "") },
		"no reason": func(ctx context.Context, x app.Commander) error { return x.Skip(ctx, none, weir.Decision{}) },
		"why not":   func(ctx context.Context, x app.Commander) error { _, err := x.Why(ctx, none); return err },
		"empty pool": func(ctx context.Context, x app.Commander) error {
			return putPool(ctx, r.caller(x), "p", work.PoolSpec{})
		},
		"drop no pool": func(ctx context.Context, x app.Commander) error {
			return dropPool(ctx, r.caller(x), "ghost", false)
		},
		"no schedule": func(ctx context.Context, x app.Commander) error { return x.PauseSchedule(ctx, "ghost", true, "ada") },
		"bad cron": func(ctx context.Context, x app.Commander) error {
			return x.SetSchedule(ctx, weir.Schedule{Name: "s", Spec: "never", Task: weir.Task{Service: "x"}})
		},
		"no node": func(ctx context.Context, x app.Commander) error {
			return x.SetNodeMode(ctx, "ghost", weir.Paused, time.Time{}, weir.Decision{})
		},
		"wrong retry": func(ctx context.Context, x app.Commander) error {
			return x.Retry(ctx, none, "")
		},
		"params broken": func(ctx context.Context, x app.Commander) error {
			_, err := x.Submit(ctx, weir.Task{Service: "x", Params: func() {}})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			x, y := problem.Explain(f(t.Context(), c)), problem.Explain(f(t.Context(), r.sdk))
			if x.Kind != y.Kind || name != "params broken" && x.What != y.What {
				t.Errorf("by server: %s: %s\nby database: %s: %s", x.Kind.Code(), x.What, y.Kind.Code(), y.What)
			}
		})
	}
}
