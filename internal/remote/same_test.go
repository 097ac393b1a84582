package remote_test

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/account"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/work"
)

// life is SQL that creates some objects of every kind.
var life = []string{
	`select weir.set_pool('p', size => 1, rate => 3, per => '90 s', note => 'a "note" <&>')`, `select weir.set_pool('q', size => 0)`,
	`select weir.register_node('n1', '{"zone": "a"}', '{"a.done": 2}')`, `select weir.register_node('n2')`,
	`select weir.submit('a.done', '{"n": 1.50, "text": "ä <b>", "deep": {"list": [1, null, true]}}')`, `select weir.submit('a.failed', max_attempts => 1)`, `select weir.submit('a.running', labels => '{}')`,
	`select weir.finish(task, attempt, token, '{"n": 1}') from weir.claim('w', array['a.done'])`,
	`select weir.fail(task, attempt, token, 'no') from weir.claim('w', array['a.failed'])`,
	`select weir.record(task, attempt, token, 'progress', data => '{"percent": 40}') from weir.claim('w', array['a.running'])`,
	`select weir.cancel(weir.submit('a.canceled'), 'ada', 'why not')`, `select weir.skip(weir.submit('a.skipped'), 'no need')`,
	`select weir.submit('a.time', run_at => clock_timestamp() + interval '1 h')`, `select weir.submit('a.hold', hold => 'me')`,
	`select weir.submit('a.lane', lane => 'l', rank => 1, exclusive => true, timeout => '90 s')`, `select weir.submit('a.pool', pool => 'q', priority => -7)`,
	`select weir.submit_job('[{"service": "a.first", "key": "first"}, {"service": "a.needs", "key": "second", "needs": ["first"]}]', 'pair', params => '{"x": "y"}')`,
	`select weir.submit_job('[{"service": "b", "key": "only"}]', 'single', 'other')`,
	`select weir.set_schedule('s', '@daily', '{"service": "a.daily"}', '2030-01-01', 'Europe/Vienna')`,
}

// found are objects that the tests ask for.
type found struct{ running, pooled, job weir.ID }

func (r *rig) live() found {
	r.t.Helper()
	for _, sql := range life {
		if _, err := r.db.Pool.Exec(r.t.Context(), sql); err != nil {
			r.t.Fatalf("%s: %v", sql, err)
		}
	}
	r.db.Settle(r.t)
	tasks, err := r.store.Tasks(r.t.Context(), view.TaskFilter{}, view.Page{})
	if err != nil {
		r.t.Fatal(err)
	}
	var f found
	for _, task := range tasks {
		switch task.Service {
		case "a.running":
			f.running = task.ID
		case "a.pool":
			f.pooled = task.ID
		case "a.needs":
			f.job = task.Job
		}
	}
	return f
}

// plain returns a value in a form in which equal values have the same text.
func plain(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var any any
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&any); err != nil {
		t.Fatal(err)
	}
	if text, err = json.MarshalIndent(sameTimes(any), "", " "); err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// sameTimes converts times to one zone.
func sameTimes(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, inner := range v {
			v[name] = sameTimes(inner)
		}
	case []any:
		for i, inner := range v {
			v[i] = sameTimes(inner)
		}
	case string:
		if at, err := time.Parse(time.RFC3339Nano, v); err == nil {
			return at.UTC().Format(time.RFC3339Nano)
		}
	}
	return v
}

// Every reading method returns the same over the server as from the database itself: the
// same values, or an error of the same kind with the same words.
func TestSameAnswers(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	f := r.live()
	c := r.as(auth.Admin)
	if _, err := c.Me(t.Context()); err != nil { // records the use of the token, which the list of tokens shows
		t.Fatal(err)
	}
	if err := r.client("").Login(t.Context(), "a-admin", password); err != nil {
		t.Fatal(err)
	}
	bound := auth.Bound{Labels: map[string]string{"zone": "a"}, Services: map[string]int{"a.done": 2}}
	if _, err := r.auth.CreateJoin(t.Context(), system, auth.NewJoin{Node: "n1", Bound: bound}); err != nil {
		t.Fatal(err)
	}
	all := taskReadings(f)
	maps.Copy(all, jobReadings(f))
	maps.Copy(all, machineReadings(r))
	maps.Copy(all, peopleReadings())
	for name, read := range all {
		t.Run(name, func(t *testing.T) {
			want, wantErr := read(t.Context(), r.stored())
			got, err := read(t.Context(), c)
			if (err == nil) != (wantErr == nil) {
				t.Fatalf("by server: %v; by database: %v", err, wantErr)
			}
			if err != nil {
				x, y := problem.Explain(err), problem.Explain(wantErr)
				if x.Kind != y.Kind || x.What != y.What || x.Advice() != y.Advice() {
					t.Errorf("by server: %s: %s (%s)\nby database: %s: %s (%s)", x.Kind.Code(), x.What, x.Advice(), y.Kind.Code(), y.What, y.Advice())
				}
				return
			}
			if x, y := plain(t, got), plain(t, want); x != y {
				t.Errorf("by server: %s\nby database: %s", x, y)
			}
		})
	}
}

// reading is one call of a method that reads.
type reading = func(context.Context, op.Caller) (any, error)

// none is an id that does not exist.
var none = weir.ID{1}

// taskReadings are about tasks.
func taskReadings(f found) map[string]reading {
	return map[string]reading{
		"task": func(ctx context.Context, x op.Caller) (any, error) {
			return work.ShowTask.Call(ctx, x, named(f.running))
		},
		"no task": func(ctx context.Context, x op.Caller) (any, error) { return work.ShowTask.Call(ctx, x, named(none)) },
		"task id": func(ctx context.Context, x op.Caller) (any, error) {
			return work.ShowTask.Call(ctx, x, &work.NamedTask{Task: f.running.String()[20:]})
		},
		"task id, whole": func(ctx context.Context, x op.Caller) (any, error) {
			return work.ShowTask.Call(ctx, x, &work.NamedTask{Task: none.String()})
		},
		"no task id": func(ctx context.Context, x op.Caller) (any, error) {
			return work.ShowTask.Call(ctx, x, &work.NamedTask{Task: "000000000000"})
		},
		"bad task id": func(ctx context.Context, x op.Caller) (any, error) {
			return work.ShowTask.Call(ctx, x, &work.NamedTask{Task: "x/../y?z"})
		},
		"tasks": func(ctx context.Context, x op.Caller) (any, error) {
			return op.Full(ctx, x, work.ListTasks, work.ListingTasks{Paged: op.Paged{}, TaskFilter: work.TasksOf(view.TaskFilter{})})
		},
		"tasks, page": func(ctx context.Context, x op.Caller) (any, error) {
			return op.Full(ctx, x, work.ListTasks, work.ListingTasks{Paged: op.Paged{Limit: 3, After: f.pooled.String()}, TaskFilter: work.TasksOf(view.TaskFilter{})})
		},
		"tasks, state": func(ctx context.Context, x op.Caller) (any, error) {
			return op.Full(ctx, x, work.ListTasks, work.ListingTasks{Paged: op.Paged{}, TaskFilter: work.TasksOf(view.TaskFilter{State: "failed"})})
		},
		"tasks, gate": func(ctx context.Context, x op.Caller) (any, error) {
			return op.Full(ctx, x, work.ListTasks, work.ListingTasks{Paged: op.Paged{}, TaskFilter: work.TasksOf(view.TaskFilter{Gate: "order"})})
		},
		"tasks, service": func(ctx context.Context, x op.Caller) (any, error) {
			return op.Full(ctx, x, work.ListTasks, work.ListingTasks{Paged: op.Paged{}, TaskFilter: work.TasksOf(view.TaskFilter{Service: "a.done"})})
		},
		"tasks, pool": func(ctx context.Context, x op.Caller) (any, error) {
			return op.Full(ctx, x, work.ListTasks, work.ListingTasks{Paged: op.Paged{}, TaskFilter: work.TasksOf(view.TaskFilter{Pool: "q"})})
		},
		"tasks, lane": func(ctx context.Context, x op.Caller) (any, error) {
			return op.Full(ctx, x, work.ListTasks, work.ListingTasks{Paged: op.Paged{}, TaskFilter: work.TasksOf(view.TaskFilter{Lane: "l"})})
		},
		"tasks, key": func(ctx context.Context, x op.Caller) (any, error) {
			return op.Full(ctx, x, work.ListTasks, work.ListingTasks{Paged: op.Paged{}, TaskFilter: work.TasksOf(view.TaskFilter{Key: "second"})})
		},
		"tasks, job": func(ctx context.Context, x op.Caller) (any, error) {
			return op.Full(ctx, x, work.ListTasks, work.ListingTasks{Paged: op.Paged{Limit: 1}, TaskFilter: work.TasksOf(view.TaskFilter{Job: f.job})})
		},
		"tasks, bad state": func(ctx context.Context, x op.Caller) (any, error) {
			return op.Full(ctx, x, work.ListTasks, work.ListingTasks{Paged: op.Paged{}, TaskFilter: work.TasksOf(view.TaskFilter{State: "asleep"})})
		},
		"tasks, bad page": func(ctx context.Context, x op.Caller) (any, error) {
			return op.Full(ctx, x, work.ListTasks, work.ListingTasks{Paged: op.Paged{After: "x"}, TaskFilter: work.TasksOf(view.TaskFilter{})})
		},
		"task events": func(ctx context.Context, x op.Caller) (any, error) {
			return work.TaskEvents.Call(ctx, x, named(f.running))
		},
		"no task events": func(ctx context.Context, x op.Caller) (any, error) { return work.TaskEvents.Call(ctx, x, named(none)) },
	}
}

// jobReadings are about jobs and the timeline.
func jobReadings(f found) map[string]reading {
	return map[string]reading{
		"job":    func(ctx context.Context, x op.Caller) (any, error) { return work.ShowJob.Call(ctx, x, ofJob(f.job)) },
		"no job": func(ctx context.Context, x op.Caller) (any, error) { return work.ShowJob.Call(ctx, x, ofJob(none)) },
		"job id": func(ctx context.Context, x op.Caller) (any, error) {
			return work.ShowJob.Call(ctx, x, &work.NamedJob{Job: f.job.String()[26:]})
		},
		"no job id": func(ctx context.Context, x op.Caller) (any, error) {
			return work.ShowJob.Call(ctx, x, &work.NamedJob{Job: "000000000000"})
		},
		"jobs": func(ctx context.Context, x op.Caller) (any, error) {
			return op.Full(ctx, x, work.ListJobs, work.ListingJobs{Paged: op.Paged{}, JobFilter: work.JobsOf(view.JobFilter{})})
		},
		"jobs, filter": func(ctx context.Context, x op.Caller) (any, error) {
			return op.Full(ctx, x, work.ListJobs, work.ListingJobs{Paged: op.Paged{Limit: 9}, JobFilter: work.JobsOf(view.JobFilter{State: "running", Kind: "other", Name: "single"})})
		},
		"jobs, bad state": func(ctx context.Context, x op.Caller) (any, error) {
			return op.Full(ctx, x, work.ListJobs, work.ListingJobs{Paged: op.Paged{}, JobFilter: work.JobsOf(view.JobFilter{State: "asleep"})})
		},
		"events":      func(ctx context.Context, x op.Caller) (any, error) { return work.LastEvents(ctx, x, weir.ID{}, 7) },
		"events, job": func(ctx context.Context, x op.Caller) (any, error) { return work.LastEvents(ctx, x, f.job, 100) },
		"events after": func(ctx context.Context, x op.Caller) (any, error) {
			return work.EventsAfter(ctx, x, "0.0", weir.ID{}, weir.ID{}, 1000)
		},
		"events after, job": func(ctx context.Context, x op.Caller) (any, error) {
			return work.EventsAfter(ctx, x, "0.0", f.job, weir.ID{}, 2)
		},
		"events after, task": func(ctx context.Context, x op.Caller) (any, error) {
			return work.EventsAfter(ctx, x, "0.0", weir.ID{}, f.running, 1000)
		},
		"events after, wrong": func(ctx context.Context, x op.Caller) (any, error) {
			return work.EventsAfter(ctx, x, "x", weir.ID{}, weir.ID{}, 10)
		},
	}
}

// called returns a call of an operation that reads.
func called[S, In, Out any](o *op.Op[S, In, Out], in In) reading {
	return func(ctx context.Context, x op.Caller) (any, error) { return o.Call(ctx, x, &in) }
}

// peopleReadings are about accounts.
func peopleReadings() map[string]reading {
	return map[string]reading{
		"user":        called(account.ShowUser, account.NamedUser{User: "A-Admin"}),
		"no user":     called(account.ShowUser, account.NamedUser{User: "ghost/of ?"}),
		"users":       called(account.ListUsers, op.Paged{}),
		"users, page": called(account.ListUsers, op.Paged{Limit: 1}),
		"joins":       called(account.ListJoins, struct{}{}),
		"no join":     called(account.RevokeJoin, account.NamedJoin{Join: none.String()}),
		"no node's":   called(account.RevokeNode, account.NamedNode{Node: "ghost"}),
		"a join":      called(account.CreateJoin, account.CreatingJoin{Body: account.JoinBody{Labels: map[string]string{}, Any: true}}),
		"tokens":      called(account.ListTokens, account.ListingTokens{}),
		"sessions":    called(account.ListSessions, account.ListingSessions{All: true}),
		"his":         called(account.ListSessions, account.ListingSessions{User: "a-admin"}),
		"nobody's":    called(account.ListSessions, account.ListingSessions{User: "ghost"}),
	}
}

// machineReadings are about everything else.
func machineReadings(r *rig) map[string]reading {
	return map[string]reading{
		"node":            called(work.ShowNode, work.NamedNode{Node: "n1"}),
		"no node":         called(work.ShowNode, work.NamedNode{Node: "ghost/of ?"}),
		"nodes":           called(work.ListNodes, op.Paged{}),
		"nodes, page":     called(work.ListNodes, op.Paged{Limit: 1, After: "n1"}),
		"pool":            called(work.ShowPool, work.NamedPool{Pool: "p"}),
		"no pool":         called(work.ShowPool, work.NamedPool{Pool: "ghost"}),
		"pools":           called(work.ListPools, op.Paged{}),
		"schedule":        called(work.ShowSchedule, work.NamedSchedule{Schedule: "s"}),
		"no schedule":     called(work.ShowSchedule, work.NamedSchedule{Schedule: "ghost"}),
		"schedules":       called(work.ListSchedules, op.Paged{}),
		"worker":          called(work.ShowWorker, work.NamedWorker{Worker: "w"}),
		"no worker":       called(work.ShowWorker, work.NamedWorker{Worker: "ghost"}),
		"workers":         called(work.ListWorkers, work.ListingWorkers{}),
		"workers, filter": called(work.ListWorkers, work.ListingWorkers{Node: "n1", Service: "a.done", All: true}),
		"overview":        called(work.ShowOverview, struct{}{}),
		"rates":           called(work.ListRates, work.ListingRates{Since: "1h"}),
		"rates, too far":  called(work.ListRates, work.ListingRates{Since: "8d"}),
		"search":          called(work.Search, work.Searching{Text: "a."}),
		"doctor": func(ctx context.Context, x op.Caller) (any, error) {
			report, err := work.Doctor.Call(ctx, x, &work.Examining{Deep: true})
			return report.Items, err
		},
	}
}
