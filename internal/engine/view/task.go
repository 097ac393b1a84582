package view

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/reason"
)

// Task is a row of the view weir.task.
type Task struct {
	ID          weir.ID           `json:"id"`
	State       weir.State        `json:"state"`
	Service     string            `json:"service"`
	Job         weir.ID           `json:"job,omitzero"`
	Key         string            `json:"key,omitempty"`
	Gate        weir.Gate         `json:"gate,omitempty"`
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
	// Run tells an agent how to run it.
	Run json.RawMessage `json:"run,omitempty"`
	// Plan is true while somebody has yet to say what the task is, false once
	// somebody has; nil if it needs no plan.
	Plan *bool `json:"plan,omitempty"`
	// Awaits are the tasks that it was split into.
	Awaits []weir.ID `json:"awaits,omitempty"`
	// Percent is the last progress that the running attempt reported.
	Percent *float64 `json:"percent,omitempty"`
	// HoldReason is the hold as a code, if Weir itself holds the task.
	HoldReason *reason.Coded `json:"hold_reason,omitempty"`
}

// Class is what tasks have in common that the same workers can take: service and labels.
func (t Task) Class() string { return fmt.Sprintf("%q %q", t.Service, t.Labels) }

const taskColumns = `t.id, t.state::text, t.service, t.job, t.key, t.gate::text, t.since, t.priority::int, t.attempt, t.max_attempts, t.labels, t.params, t.result, t.cause,
	t.hold, t.lane, t.rank, t.exclusive, t.pool, t.worker, t.rule::text, t.needs, t.unique_key, t.trace, t.timeout::text, t.created_at, t.run_at, t.started_at, t.until,
	t.deadline, t.cancel_at, t.finished_at, t.run, t.plan, t.awaits, t.hold_reason, ` + percent

// percent is the last progress that the running attempt reported. What a worker
// reports may be anything.
const percent = `case when t.state = 'running' then (select case when jsonb_typeof(e.data -> 'percent') = 'number' and (e.data -> 'percent')::numeric between 0 and 100
	then (e.data -> 'percent')::float8 end from weir.events e where e.task = t.id and e.type = 'progress' and e.attempt = t.attempt order by e.seq desc limit 1) end`

func taskInto(t *Task) []any {
	return []any{
		&t.ID, &t.State, &t.Service, &t.Job, (*maybe)(&t.Key), (*maybe)(&t.Gate), (*moment)(&t.Since), &t.Priority, &t.Attempt, &t.MaxAttempts, &t.Labels,
		(*[]byte)(&t.Params), (*[]byte)(&t.Result), (*maybe)(&t.Cause), (*maybe)(&t.Hold), (*maybe)(&t.Lane), &t.Rank, (*flag)(&t.Exclusive), (*maybe)(&t.Pool),
		(*maybe)(&t.Worker), (*maybe)(&t.Rule), &t.Needs, (*maybe)(&t.UniqueKey), (*maybe)(&t.Trace), (*maybe)(&t.Timeout), (*moment)(&t.CreatedAt), (*moment)(&t.RunAt),
		(*moment)(&t.StartedAt), (*moment)(&t.Until), (*moment)(&t.Deadline), (*moment)(&t.CancelAt), (*moment)(&t.FinishedAt), (*[]byte)(&t.Run), &t.Plan, &t.Awaits,
		&t.HoldReason, &t.Percent,
	}
}

// Task reads one task.
func (s *Store) Task(ctx context.Context, id weir.ID) (Task, error) {
	rows, err := list(ctx, s, "read task", `select `+taskColumns+` from weir.task t where t.id = $1`, []any{id}, taskInto)
	if err == nil && len(rows) == 0 {
		err = noSuch("task", id)
	}
	if err != nil {
		return Task{}, err
	}
	return rows[0], nil
}

// listed reads tasks in the order of their ids here. What is too long for a line
// of a list is left out of it.
func (s *Store) listed(ctx context.Context, op string, ids []weir.ID) ([]Task, error) {
	if len(ids) == 0 {
		return []Task{}, nil
	}
	return list(ctx, s, op, `select `+lineColumns+` from unnest($1::uuid[]) with ordinality u (id, n), lateral (select * from weir.task t where t.id = u.id offset 0) t order by u.n`,
		[]any{ids}, taskInto)
}

// lineColumns are those of a task without params, results and runs over 8 KiB.
var lineColumns = strings.NewReplacer("t.run,", "case when pg_column_size(t.run) <= 8192 then t.run end,", "t.params", "case when pg_column_size(t.params) <= 8192 then t.params end",
	"t.result", "case when pg_column_size(t.result) <= 8192 then t.result end").Replace(taskColumns)
