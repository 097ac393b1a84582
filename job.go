package weir

import (
	"cmp"
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir/internal/refusal"
)

// Job is a set of tasks that belong together and may need one another.
type Job struct {
	// Name is for people.
	Name string
	// Kind groups jobs of one sort. Empty: "job".
	Kind string
	// Priority is that of its tasks that have none.
	Priority int
	// Params are kept with the job. They are not handed to its tasks.
	Params any
	// IdempotencyKey makes a repeated submission harmless.
	IdempotencyKey string
	// Trace is that of its tasks that have none. Empty: what the client's
	// [Tracer] says of the context, if it has one.
	Trace string
	// Tasks are 1 to 10,000. Their needs must not form a ring.
	Tasks []Task
}

// SubmitJob submits a job, whole or not at all, and returns its id. If there was
// a job with the same IdempotencyKey, it returns that one's id and writes
// nothing. It does not tell the two apart: [Client.Job] says when the job was
// created and what it has done since.
func (c *Client) SubmitJob(ctx context.Context, job Job) (ID, error) {
	var id ID
	err := c.again(ctx, job.IdempotencyKey != "", func(ctx context.Context) (err error) {
		id, err = c.submitJob(ctx, c.pool, job, false)
		return err
	})
	if err != nil {
		return ID{}, wrap("submit job", err)
	}
	c.announce(ctx, job.Tasks)
	return id, nil
}

// SubmitJobTx submits a job in the caller's transaction; see [Client.SubmitTx].
func (c *Client) SubmitJobTx(ctx context.Context, tx pgx.Tx, job Job) (ID, error) {
	id, err := c.submitJob(ctx, tx, job, true)
	return id, wrap("submit job", err)
}

func (c *Client) submitJob(ctx context.Context, db querier, job Job, hint bool) (ID, error) {
	tasks, err := encodeTasks(job.Tasks, "")
	if err != nil {
		return ID{}, err
	}
	params, err := encodeParams(job.Params)
	if err != nil {
		return ID{}, refused("submit job", "WR422", refusal.New("params", "%s", err))
	}
	kind := job.Kind
	if kind == "" {
		kind = "job"
	}
	var id ID
	err = db.QueryRow(ctx, `select weir.submit_job($1, $2, $3, $4, $5, nullif($6, ''), nullif($7, ''), $8)`,
		tasks, job.Name, kind, job.Priority, params, job.IdempotencyKey, cmp.Or(job.Trace, c.parent(ctx)), hint).Scan(&id)
	return id, err
}
