package weir

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/weirhq/weir/internal/blame"
)

// submitLimit is how many tasks one statement takes.
const submitLimit = 1000

// submitTries is how often a submission is sent when the connection fails and
// sending it again is safe.
const submitTries = 4

// Receipt says which task a submission led to.
type Receipt struct {
	ID ID
	// Existed says that a task with the same idempotency key or unique key was
	// there already. Nothing was written.
	Existed bool
}

// querier is what a pool and a transaction have in common.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// Submit submits one task. When it returns without error, the task is durable.
//
// After a lost connection it tries again only if the task has an
// IdempotencyKey; else it returns the error, and the task may exist or not.
func (c *Client) Submit(ctx context.Context, task Task) (Receipt, error) {
	receipts, err := c.SubmitMany(ctx, []Task{task})
	if err != nil {
		return Receipt{}, err
	}
	return receipts[0], nil
}

// SubmitMany submits all the tasks or none, and returns their receipts in the
// same order.
func (c *Client) SubmitMany(ctx context.Context, tasks []Task) ([]Receipt, error) {
	var receipts []Receipt
	safe := !slices.ContainsFunc(tasks, func(t Task) bool { return t.IdempotencyKey == "" })
	err := c.again(ctx, safe, func(ctx context.Context) (err error) {
		if len(tasks) <= submitLimit {
			receipts, err = c.submitMany(ctx, c.pool, tasks, false)
			return err
		}
		return pgx.BeginFunc(ctx, c.pool, func(tx pgx.Tx) (err error) {
			receipts, err = c.submitMany(ctx, tx, tasks, false)
			return err
		})
	})
	if err != nil {
		return nil, wrap("submit", err)
	}
	c.announce(ctx, tasks)
	return receipts, nil
}

// SubmitTx submits tasks in the caller's transaction: they exist if it commits.
// Workers are told in the same moment, because the notification is part of the
// transaction. That has its price: commits with a notification follow one another.
// Who commits more than some hundred times a second submits with
// [Client.SubmitMany], if that can be.
func (c *Client) SubmitTx(ctx context.Context, tx pgx.Tx, tasks ...Task) ([]Receipt, error) {
	receipts, err := c.submitMany(ctx, tx, tasks, true)
	return receipts, wrap("submit", err)
}

func (c *Client) submitMany(ctx context.Context, db querier, tasks []Task, hint bool) ([]Receipt, error) {
	trace := c.parent(ctx)
	receipts := make([]Receipt, 0, len(tasks))
	for chunk := range slices.Chunk(tasks, submitLimit) {
		text, err := encodeTasks(chunk, trace)
		if err != nil {
			return nil, err
		}
		rows, err := db.Query(ctx, `select task, existed from weir.submit_many($1, $2) order by n`, text, hint)
		if err != nil {
			return nil, err
		}
		var r Receipt
		if _, err := pgx.ForEachRow(rows, []any{&r.ID, &r.Existed}, func() error {
			receipts = append(receipts, r)
			return nil
		}); err != nil {
			return nil, err
		}
	}
	return receipts, nil
}

// again calls f, and calls it again when the connection failed and that is
// safe: because the server cannot have seen the statement or has undone it, or
// because f may be done twice.
func (c *Client) again(ctx context.Context, idempotent bool, f func(context.Context) error) error {
	for try := 1; ; try++ {
		err := f(ctx)
		if try == submitTries || ctx.Err() != nil || !transient(err) || !idempotent && !pgconn.SafeToRetry(err) && !blame.Undone(err) {
			return err
		}
		if !pause(ctx, backoff(try, 100*time.Millisecond, time.Second)) {
			return errors.Join(err, ctx.Err())
		}
	}
}

// announce tells the workers of tasks that are now committed. It opens the
// gates of exactly the keys they stand at. All of it is a hint: what fails here
// the next sweep does.
func (c *Client) announce(ctx context.Context, tasks []Task) {
	names, lanes, pools := set{}, set{}, set{}
	now := time.Now()
	for i := range tasks {
		t := &tasks[i]
		switch {
		case len(t.Needs) > 0 || t.Hold != "":
		case t.RunAt.After(now):
			c.tender.due(t.RunAt.Sub(now))
		case t.Lane != "":
			lanes[t.Lane] = struct{}{}
		case t.Pool != "":
			pools[t.Pool] = struct{}{}
		default:
			names[t.Service] = struct{}{}
		}
	}
	if len(names) > 0 {
		c.say(names.list()...)
	}
	if len(lanes)+len(pools) > 0 {
		c.openGates(ctx, lanes.list(), pools.list())
	}
}

// openGates opens lanes and pools and tells the workers if that let something
// through.
func (c *Client) openGates(ctx context.Context, lanes, pools []string) {
	var opened int
	err := c.pool.QueryRow(ctx, `select weir.open_gates($1, $2, hint => false)`, lanes, pools).Scan(&opened)
	if err != nil {
		c.log.Warn("gates were not opened at once; the next sweep does it", "error", err)
	}
	if opened > 0 {
		c.say()
	}
}

type set map[string]struct{}

// list is never nil: to SQL an empty list and NULL are different things.
func (s set) list() []string { return slices.AppendSeq(make([]string, 0, len(s)), maps.Keys(s)) }
