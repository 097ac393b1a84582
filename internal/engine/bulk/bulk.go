package bulk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/problem"
)

// Commands changes one thing at a time: the SDK's client.
type Commands interface {
	Cancel(ctx context.Context, task weir.ID, d weir.Decision) (ended bool, err error)
	CancelJob(ctx context.Context, job weir.ID, d weir.Decision) (ended, asked int, err error)
	Retry(ctx context.Context, task weir.ID, by string) error
	RetryJob(ctx context.Context, job weir.ID, d weir.Decision) (tasks int, err error)
	Skip(ctx context.Context, task weir.ID, d weir.Decision) error
	Hold(ctx context.Context, task weir.ID, d weir.Decision) error
	Approve(ctx context.Context, task weir.ID, d weir.Decision) error
	SetPriority(ctx context.Context, task weir.ID, priority int, by string) error
}

// Doer does things to many at once. It is safe for concurrent use.
type Doer struct {
	pool     *pgxpool.Pool
	commands Commands
	store    *view.Store
}

// New makes a Doer on a pool that the caller keeps.
func New(pool *pgxpool.Pool, commands Commands, store *view.Store) *Doer {
	return &Doer{pool, commands, store}
}

// ChangeTasks does it to the tasks of a filter.
func (d *Doer) ChangeTasks(ctx context.Context, f view.TaskFilter, o Order) (Result, error) {
	if err := o.check(TaskActions, f == view.TaskFilter{}); err != nil {
		return Result{}, err
	}
	read := func(p view.Page) ([]Item, string, error) {
		tasks, next, err := d.store.TaskPage(ctx, f, p)
		return items(tasks, taskItem), next, err
	}
	if o.DryRun {
		return look(read, func() (int, bool, error) { return d.store.CountTasks(ctx, f, view.CountMost) })
	}
	return d.all(ctx, "task", f, o, read, deed{
		do: func(id weir.ID) error { return d.task(ctx, id, o) },
		state: func(id weir.ID) (string, error) {
			t, err := d.store.Task(ctx, id)
			return string(t.State), err
		},
	})
}

// ChangeJobs does it to the jobs of a filter.
func (d *Doer) ChangeJobs(ctx context.Context, f view.JobFilter, o Order) (Result, error) {
	if err := o.check(JobActions, f == view.JobFilter{}); err != nil {
		return Result{}, err
	}
	read := func(p view.Page) ([]Item, string, error) {
		jobs, next, err := d.store.JobPage(ctx, f, p)
		return items(jobs, jobItem), next, err
	}
	if o.DryRun {
		return look(read, func() (int, bool, error) { return d.store.CountJobs(ctx, f, view.CountMost) })
	}
	return d.all(ctx, "job", f, o, read, deed{
		do: func(id weir.ID) error { return d.job(ctx, id, o) },
		state: func(id weir.ID) (string, error) {
			j, err := d.store.Job(ctx, id)
			return j.State, err
		},
	})
}

func items[T any](rows []T, item func(T) Item) []Item {
	out := make([]Item, len(rows))
	for i, row := range rows {
		out[i] = item(row)
	}
	return out
}

// task does it to one task.
func (d *Doer) task(ctx context.Context, id weir.ID, o Order) error {
	switch o.Action {
	case Cancel:
		_, err := d.commands.Cancel(ctx, id, o.Decision)
		return err
	case Retry:
		return d.commands.Retry(ctx, id, o.By)
	case Skip:
		return d.commands.Skip(ctx, id, o.Decision)
	case Hold:
		return d.commands.Hold(ctx, id, o.Decision)
	case Release:
		return d.commands.Approve(ctx, id, o.Decision)
	}
	return d.commands.SetPriority(ctx, id, o.Priority, o.By)
}

// job does it to one job.
func (d *Doer) job(ctx context.Context, id weir.ID, o Order) error {
	if o.Action == Retry {
		_, err := d.commands.RetryJob(ctx, id, o.Decision)
		return err
	}
	_, _, err := d.commands.CancelJob(ctx, id, o.Decision)
	return err
}

// look counts what there is and shows some of it. Where the first page of a walk
// finds nothing, it looks on.
func look(read func(view.Page) ([]Item, string, error), count func() (int, bool, error)) (r Result, err error) {
	r.Refused = []Refusal{}
	var more bool
	if r.Matched, more, err = count(); err != nil || r.Matched == 0 && !more {
		return r, err
	}
	for page := (view.Page{Limit: shown}); ; {
		found, next, err := read(page)
		if err != nil {
			return r, err
		}
		r.Sample = append(r.Sample, found...)
		page.Limit, page.After = shown-len(r.Sample), next
		if more {
			r.Next = next
		}
		if next == "" || len(r.Sample) >= min(shown, r.Matched) {
			return r, nil
		}
	}
}

// deed is what is done to one thing, and how to ask which state it is in.
type deed struct {
	do    func(weir.ID) error
	state func(weir.ID) (string, error)
}

// all does it page by page, until there were enough, it took long enough, or there
// is no more.
func (d *Doer) all(ctx context.Context, kind string, filter any, o Order, read func(view.Page) ([]Item, string, error), one deed) (r Result, err error) {
	began := time.Now()
	r.Refused, r.Next = []Refusal{}, o.After
	for {
		found, next, err := read(view.Page{Limit: o.Limit - r.Matched, After: r.Next})
		if err != nil {
			return r, errors.Join(err, d.note(ctx, kind, filter, o, r))
		}
		for i, thing := range found {
			if time.Since(began) > within {
				return r, d.note(ctx, kind, filter, o, r)
			}
			r.Matched++
			if err := r.take(thing, one); err != nil {
				return r, errors.Join(err, d.note(ctx, kind, filter, o, r))
			}
			if i < len(found)-1 {
				r.Next = thing.ID.String()
			}
		}
		if r.Next = next; next == "" || r.Matched >= o.Limit || time.Since(began) > within {
			return r, d.note(ctx, kind, filter, o, r)
		}
	}
}

// take does it to one thing. An error ends it all; a refusal does not.
func (r *Result) take(thing Item, one deed) error {
	err := one.do(thing.ID)
	var refusal *weir.Error
	switch {
	case err == nil:
		r.Changed++
		return nil
	case !errors.As(err, &refusal) || refusal.Code != "WR404" && refusal.Code != "WR409" && !strings.HasPrefix(refusal.Code, "40"):
		return err
	}
	if now, lost := one.state(thing.ID); lost == nil && now != thing.State {
		r.Moved++
		return nil
	}
	why := problem.Explain(err)
	if strings.HasPrefix(refusal.Code, "40") {
		why = problem.New(problem.Conflict, "", "somebody else is changing it just now")
	}
	r.Refused = append(r.Refused, Refusal{thing.ID, why.What})
	return nil
}

// note writes down who did what to how many. It is written also when whoever asked
// has left: what was done was done.
func (d *Doer) note(ctx context.Context, kind string, filter any, o Order, r Result) error {
	if r.Matched == 0 {
		return nil
	}
	text, err := json.Marshal(filter)
	if err != nil {
		return fmt.Errorf("write down what was done: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), within)
	defer cancel()
	_, err = d.pool.Exec(ctx, `select weir.note_bulk($1, $2, $3, $4, $5, $6, nullif($7, ''), nullif($8, ''))`, kind, o.Action, text, r.Matched, r.Changed, len(r.Refused), o.By, o.Reason)
	if err != nil {
		return fmt.Errorf("write down what was done: %w", err)
	}
	return nil
}
