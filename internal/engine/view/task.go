package view

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/weirhq/weir"
)

// Task is a row of the view weir.task.
type Task struct {
	ID          weir.ID           `json:"id"`
	State       string            `json:"state"`
	Service     string            `json:"service"`
	Job         weir.ID           `json:"job,omitzero"`
	Key         string            `json:"key,omitempty"`
	Gate        string            `json:"gate,omitempty"`
	Since       time.Time         `json:"since,omitzero"`
	Priority    int               `json:"priority"`
	Attempt     int               `json:"attempt"`
	MaxAttempts int               `json:"max_attempts"`
	Labels      map[string]string `json:"labels,omitempty"`
	Params      json.RawMessage   `json:"params,omitempty"`
	Result      json.RawMessage   `json:"result,omitempty"`
	Cause       string            `json:"cause,omitempty"`
	Hold        string            `json:"hold,omitempty"`
	Lane        string            `json:"lane,omitempty"`
	Rank        *int64            `json:"rank,omitempty"`
	Exclusive   bool              `json:"exclusive,omitempty"`
	Pool        string            `json:"pool,omitempty"`
	Worker      string            `json:"worker,omitempty"`
	Rule        string            `json:"rule,omitempty"`
	Needs       []weir.ID         `json:"needs,omitempty"`
	UniqueKey   string            `json:"unique_key,omitempty"`
	Trace       string            `json:"trace,omitempty"`
	Timeout     string            `json:"timeout,omitempty"`
	CreatedAt   time.Time         `json:"created_at"`
	RunAt       time.Time         `json:"run_at,omitzero"`
	StartedAt   time.Time         `json:"started_at,omitzero"`
	Until       time.Time         `json:"until,omitzero"`
	Deadline    time.Time         `json:"deadline,omitzero"`
	CancelAt    time.Time         `json:"cancel_at,omitzero"`
	FinishedAt  time.Time         `json:"finished_at,omitzero"`
	// Percent is the last progress that the running attempt reported.
	Percent *float64 `json:"percent,omitempty"`
}

const taskColumns = `t.id, t.state::text, t.service, t.job, t.key, t.gate::text, t.since, t.priority::int, t.attempt, t.max_attempts, t.labels, t.params, t.result, t.cause,
	t.hold, t.lane, t.rank, t.exclusive, t.pool, t.worker, t.rule::text, t.needs, t.unique_key, t.trace, t.timeout::text, t.created_at, t.run_at, t.started_at, t.until,
	t.deadline, t.cancel_at, t.finished_at,
	case when t.state = 'running' then (select (e.data ->> 'percent')::float8 from weir.events e where e.task = t.id and e.type = 'progress' and e.attempt = t.attempt order by e.seq desc limit 1) end`

func taskInto(t *Task) []any {
	return []any{
		&t.ID, &t.State, &t.Service, &t.Job, (*maybe)(&t.Key), (*maybe)(&t.Gate), (*moment)(&t.Since), &t.Priority, &t.Attempt, &t.MaxAttempts, &t.Labels,
		(*[]byte)(&t.Params), (*[]byte)(&t.Result), (*maybe)(&t.Cause), (*maybe)(&t.Hold), (*maybe)(&t.Lane), &t.Rank, (*flag)(&t.Exclusive), (*maybe)(&t.Pool),
		(*maybe)(&t.Worker), (*maybe)(&t.Rule), &t.Needs, (*maybe)(&t.UniqueKey), (*maybe)(&t.Trace), (*maybe)(&t.Timeout), (*moment)(&t.CreatedAt), (*moment)(&t.RunAt),
		(*moment)(&t.StartedAt), (*moment)(&t.Until), (*moment)(&t.Deadline), (*moment)(&t.CancelAt), (*moment)(&t.FinishedAt), &t.Percent,
	}
}

// TaskFilter narrows a list of tasks. The zero value is everything.
type TaskFilter struct {
	State, Service, Gate, Pool, Lane string
	Job                              weir.ID
}

// States are those a task can be in; Gates those a pending task can stand at.
// Order and exclusion are two reasons to wait at the gate that is called lane.
var (
	States = []string{"pending", "available", "running", "done", "failed", "canceled", "skipped"}
	Gates  = []string{"needs", "time", "hold", "order", "exclusion", "lane", "pool"}
)

// check refuses a filter that can match nothing.
func (f *TaskFilter) check() error {
	if f.State != "" && !slices.Contains(States, f.State) {
		return fmt.Errorf("%w: state %q: choose one of %s", weir.ErrInvalid, f.State, strings.Join(States, ", "))
	}
	if f.Gate != "" && !slices.Contains(Gates, f.Gate) {
		return fmt.Errorf("%w: gate %q: choose one of %s", weir.ErrInvalid, f.Gate, strings.Join(Gates, ", "))
	}
	if f.Gate == "order" || f.Gate == "exclusion" {
		f.Gate = "lane"
	}
	if f.Gate != "" {
		if f.State != "" && f.State != "pending" {
			return fmt.Errorf("%w: gate: only pending tasks stand at one", weir.ErrInvalid)
		}
		f.State = "pending"
	}
	return nil
}

// taskSources finds the ids of tasks in a state in the table that holds it. Each
// is joined to q, the row of weir.tasks.
var taskSources = map[string]string{
	"":          `weir.tasks q`,
	"pending":   `weir.pending s, lateral (select * from weir.tasks q where q.id = s.task offset 0) q`,
	"available": `weir.available s, lateral (select * from weir.tasks q where q.id = s.task offset 0) q`,
	"running":   `weir.running s, lateral (select * from weir.tasks q where q.id = s.task offset 0) q`,
	"ended":     `weir.finished s, lateral (select * from weir.tasks q where q.id = s.task offset 0) q`,
}

// Tasks lists tasks, newest first; those of one job in its order.
func (s *Store) Tasks(ctx context.Context, f TaskFilter, page Page) ([]Task, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	source, id := f.State, "s.task"
	switch {
	case f.State == "":
		id = "q.id"
	case weir.State(f.State).Ended():
		source = "ended"
	}
	q := query{}
	if source == "ended" {
		q.where("s.outcome = %s::text::weir.state", f.State)
	}
	if f.Gate != "" {
		q.where("s.gate = %s::text::weir.gate", f.Gate)
	}
	if f.Service != "" {
		q.where("q.class in (select c.id from weir.classes c where c.service = %s)", f.Service)
	}
	if f.Pool != "" {
		q.where("q.pool = %s", f.Pool)
	}
	if f.Lane != "" {
		q.where("q.lane = %s", f.Lane)
	}
	order, beyond := "desc", "<"
	if !f.Job.IsZero() {
		order, beyond = "asc", ">"
		q.where("q.job = %s", f.Job)
	}
	if page.After != "" {
		after, err := weir.ParseID(page.After)
		if err != nil {
			return nil, fmt.Errorf("%w: after: %w", weir.ErrInvalid, err)
		}
		q.where(id+" "+beyond+" %s", after)
	}
	sql := fmt.Sprintf(`select %s from (select %s as id from %s%s order by 1 %s limit %s) x,
		lateral (select * from weir.task t where t.id = x.id offset 0) t order by t.id %s`,
		taskColumns, id, taskSources[source], q.text(), order, q.arg(page.limit()), order)
	return list(ctx, s, "list tasks", sql, q.args, taskInto)
}

// Task reads one task.
func (s *Store) Task(ctx context.Context, id weir.ID) (Task, error) {
	rows, err := list(ctx, s, "read task", `select `+taskColumns+` from weir.task t where t.id = $1`, []any{id}, taskInto)
	if err == nil && len(rows) == 0 {
		err = fmt.Errorf("%w: there is no task %s", weir.ErrNotFound, id)
	}
	if err != nil {
		return Task{}, err
	}
	return rows[0], nil
}

// query collects conditions and their arguments.
type query struct {
	conditions []string
	args       []any
}

// where adds a condition; %s in it stands for v.
func (q *query) where(format string, v any) {
	q.conditions = append(q.conditions, fmt.Sprintf(format, q.arg(v)))
}

// arg adds an argument and returns its placeholder.
func (q *query) arg(v any) string {
	q.args = append(q.args, v)
	return fmt.Sprintf("$%d", len(q.args))
}

func (q *query) text() string {
	if len(q.conditions) == 0 {
		return ""
	}
	return " where " + strings.Join(q.conditions, " and ")
}
