package weir

import (
	"context"
	"encoding/json"
	"time"

	"github.com/weirhq/weir/internal/refusal"
)

// TaskInfo is a task as it stands: a row of the view weir.task.
type TaskInfo struct {
	ID      ID
	State   State
	Job     ID
	Key     string
	Service string
	// Gate is what a pending task waits at; see [Client.Why].
	Gate string
	// Since is when it came to where it is.
	Since                time.Time
	Priority             int
	Attempt, MaxAttempts int
	Params, Result       json.RawMessage
	// Cause says why the task is not done: the error, who cancelled it, what it
	// was skipped for.
	Cause                            string
	Lane, Pool, Worker               string
	CreatedAt, StartedAt, FinishedAt time.Time
}

// Task reads a task.
func (c *Client) Task(ctx context.Context, id ID) (TaskInfo, error) {
	rows, err := c.pool.Query(ctx, `select id, state::text, job, key, service, gate::text, since, priority::int, attempt, max_attempts, params, result, cause,
		lane, pool, worker, created_at, started_at, finished_at from weir.task where id = $1`, id)
	list, err := collect("read task", rows, err, func(t *TaskInfo) []any {
		return []any{
			&t.ID, (*string)(&t.State), &t.Job, (*maybe)(&t.Key), &t.Service, (*maybe)(&t.Gate), (*instant)(&t.Since), &t.Priority, &t.Attempt, &t.MaxAttempts,
			(*[]byte)(&t.Params), (*[]byte)(&t.Result), (*maybe)(&t.Cause), (*maybe)(&t.Lane), (*maybe)(&t.Pool), (*maybe)(&t.Worker),
			(*instant)(&t.CreatedAt), (*instant)(&t.StartedAt), (*instant)(&t.FinishedAt),
		}
	})
	return only("task", id, list, err)
}

// JobInfo is a job as it stands: a row of the view weir.job.
type JobInfo struct {
	ID ID
	// State is queued, running, canceling, done, failed or canceled. A queued job
	// has no tasks yet.
	State      string
	Kind, Name string
	Priority   int
	// Total is the number of tasks; the others count those that have ended.
	Total, Done, Failed, Canceled, Skipped int
	// Cause names the first task that failed or was cancelled, and why.
	Cause                 string
	Params                json.RawMessage
	CreatedAt, FinishedAt time.Time
}

// Job reads a job.
func (c *Client) Job(ctx context.Context, id ID) (JobInfo, error) {
	rows, err := c.pool.Query(ctx, `select id, state, kind, name, priority, total, done, failed, canceled, skipped, cause, params, created_at, finished_at
		from weir.job where id = $1`, id)
	list, err := collect("read job", rows, err, func(j *JobInfo) []any {
		return []any{
			&j.ID, &j.State, &j.Kind, &j.Name, &j.Priority, &j.Total, &j.Done, &j.Failed, &j.Canceled, &j.Skipped, (*maybe)(&j.Cause),
			(*[]byte)(&j.Params), (*instant)(&j.CreatedAt), (*instant)(&j.FinishedAt),
		}
	})
	return only("job", id, list, err)
}

// only is the one row that an id stands for.
func only[T any](what string, id ID, list []T, err error) (T, error) {
	var none T
	if err != nil {
		return none, err
	}
	if len(list) == 0 {
		return none, refused("read "+what, "WR404", refusal.New("", refusal.NoSuch, what, id))
	}
	return list[0], nil
}
