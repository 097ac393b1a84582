package chaos

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Client makes the calls of a worker or a submitter, and only those that the SQL API
// offers. It logs every call.
type Client struct {
	Name  string
	Pool  *pgxpool.Pool
	Log   Log
	Lease time.Duration
	// Patience is the timeout of each call. Zero means two seconds.
	Patience time.Duration
}

// Spec is a task to submit, with the fields of weir.task_spec.
type Spec map[string]any

// Leased is a task that a claim returned.
type Leased struct {
	Item
	Params Params
}

// Params tell an agent what to do with a task.
type Params struct {
	// WorkMS is how long the work takes.
	WorkMS int `json:"work_ms,omitempty"`
	// Fails is how many attempts fail before one succeeds.
	Fails int `json:"fails,omitempty"`
	// Poison kills the agent.
	Poison bool `json:"poison,omitempty"`
}

// newID returns a random UUID: a claim's id, an idempotency key.
func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// do makes one call: it logs its beginning and its end, applies the timeout, and returns
// whether its outcome is known.
func (c *Client) do(ctx context.Context, call Call, f func(context.Context) ([]Item, error)) ([]Item, Outcome, error) {
	id := c.Log.Begin(call)
	patience := c.Patience
	if patience == 0 {
		patience = 2 * time.Second
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	items, err := f(ctx)
	out := outcome(err)
	reply := Reply{Out: out, Items: items}
	if err != nil {
		reply.Items, reply.Err = nil, err.Error()
	}
	c.Log.End(id, reply)
	return items, out, err
}

// outcome decides whether a failed call can have taken effect. Only an answer of the
// server, or the certainty that nothing was sent, rules it out.
func outcome(err error) Outcome {
	var answer *pgconn.PgError
	var connect *pgconn.ConnectError
	switch {
	case err == nil:
		return OK
	case errors.As(err, &connect), pgconn.SafeToRetry(err):
		return Fail
	case errors.As(err, &answer) && !strings.HasPrefix(answer.Code, "57") && !strings.HasPrefix(answer.Code, "08"):
		return Fail
	default:
		return Unknown
	}
}

// Submit submits tasks; each has an idempotency key, so that the checker can find out the
// result of a call without an answer.
func (c *Client) Submit(ctx context.Context, specs ...Spec) ([]Item, Outcome, error) {
	asked := make([]Item, len(specs))
	for i, s := range specs {
		if s["idempotency_key"] == nil {
			s["idempotency_key"] = newID()
		}
		asked[i].Key = s["idempotency_key"].(string)
	}
	text, err := json.Marshal(specs)
	if err != nil {
		return nil, Fail, err
	}
	return c.do(ctx, Call{Op: "submit", Items: asked}, func(ctx context.Context) ([]Item, error) {
		rows, err := c.Pool.Query(ctx, `select task::text, case when existed then 'existed' else 'ok' end from weir.submit_many($1) order by n`, text)
		if err != nil {
			return nil, err
		}
		items, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (i Item, err error) { return i, row.Scan(&i.Task, &i.Value) })
		for n := range items {
			items[n].Key = asked[n].Key
		}
		return items, err
	})
}

// SubmitJob submits tasks that need one another.
func (c *Client) SubmitJob(ctx context.Context, specs ...Spec) (Outcome, error) {
	text, err := json.Marshal(specs)
	if err != nil {
		return Fail, err
	}
	key := newID()
	_, out, err := c.do(ctx, Call{Op: "submit_job", Key: key}, func(ctx context.Context) ([]Item, error) {
		i := Item{Key: key}
		err := c.Pool.QueryRow(ctx, `select weir.submit_job($1, 'chaos', idempotency_key => $2)`, text, key).Scan(&i.Value)
		return []Item{i}, err
	})
	return out, err
}

// Claim asks for up to n tasks. The same id again is the same claim.
func (c *Client) Claim(ctx context.Context, services []string, n int, id string) ([]Leased, Outcome, error) {
	var got []Leased
	_, out, err := c.do(ctx, Call{Op: "claim", Key: id, Lease: c.Lease}, func(ctx context.Context) ([]Item, error) {
		rows, err := c.Pool.Query(ctx, `select task::text, attempt, token::text, params from weir.claim($1, $2, $3, claim_id => $4, lease => $5)`,
			c.Name, services, n, id, c.Lease)
		if err != nil {
			return nil, err
		}
		got, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (l Leased, err error) {
			l.Value = "ok"
			return l, row.Scan(&l.Task, &l.Attempt, &l.Token, &l.Params)
		})
		items := make([]Item, len(got))
		for i := range got {
			items[i] = got[i].Item
		}
		return items, err
	})
	return got, out, err
}

// Renew extends leases. The value of each item is ok, cancel or lease_lost.
func (c *Client) Renew(ctx context.Context, held []Item) ([]Item, Outcome, error) {
	tasks, attempts, tokens := make([]string, len(held)), make([]int, len(held)), make([]string, len(held))
	for i, h := range held {
		tasks[i], attempts[i], tokens[i] = h.Task, h.Attempt, h.Token
	}
	return c.do(ctx, Call{Op: "renew", Lease: c.Lease, Items: held}, func(ctx context.Context) ([]Item, error) {
		rows, err := c.Pool.Query(ctx, `select task::text, refusal from weir.renew($1, $2, $3, $4, $5)`, c.Name, tasks, attempts, tokens, c.Lease)
		if err != nil {
			return nil, err
		}
		said := map[string]string{}
		var task, refusal string
		if _, err := pgx.ForEachRow(rows, []any{&task, &refusal}, func() error { said[task] = refusal; return nil }); err != nil {
			return nil, err
		}
		items := make([]Item, len(held))
		for i, h := range held {
			items[i] = h
			if items[i].Value = said[h.Task]; items[i].Value == "" {
				items[i].Value = "ok"
			}
		}
		return items, nil
	})
}

// result is what an agent stores: which attempt did the work, so that the checker sees
// whose result won.
type result struct {
	Attempt int    `json:"attempt"`
	Token   string `json:"token"`
}

// Finish ends a lease as done.
func (c *Client) Finish(ctx context.Context, i Item) (string, Outcome, error) {
	return c.answer(ctx, "finish", i, `select weir.finish($1, $2, $3, $4)`, i.Task, i.Attempt, i.Token, result{i.Attempt, i.Token})
}

// Fail ends a lease as a failed attempt.
func (c *Client) Fail(ctx context.Context, i Item, why string) (string, Outcome, error) {
	return c.answer(ctx, "fail", i, `select weir.fail($1, $2, $3, $4)`, i.Task, i.Attempt, i.Token, why)
}

// ConfirmCancel reports that canceled work has stopped.
func (c *Client) ConfirmCancel(ctx context.Context, i Item) (string, Outcome, error) {
	return c.answer(ctx, "confirm_cancel", i, `select weir.confirm_cancel($1, $2, $3)`, i.Task, i.Attempt, i.Token)
}

// Cancel requests the cancellation of a task: the answer is canceled or requested.
func (c *Client) Cancel(ctx context.Context, task string) (string, Outcome, error) {
	return c.answer(ctx, "cancel", Item{Task: task}, `select weir.cancel($1, 'chaos')`, task)
}

// Read returns the state and the attempt of a task.
func (c *Client) Read(ctx context.Context, task string) (string, Outcome, error) {
	return c.answer(ctx, "read", Item{Task: task}, `select coalesce((select state || ' ' || attempt from weir.task where id = $1), 'none')`, task)
}

// Tend makes one pass of everything that time causes.
func (c *Client) Tend(ctx context.Context, sweep bool) (Outcome, error) {
	_, out, err := c.do(ctx, Call{Op: "tend"}, func(ctx context.Context) ([]Item, error) {
		_, err := c.Pool.Exec(ctx, `select weir.tend($1)`, sweep)
		return nil, err
	})
	return out, err
}

func (c *Client) answer(ctx context.Context, op string, i Item, sql string, args ...any) (string, Outcome, error) {
	items, out, err := c.do(ctx, Call{Op: op, Items: []Item{i}}, func(ctx context.Context) ([]Item, error) {
		err := c.Pool.QueryRow(ctx, sql, args...).Scan(&i.Value)
		return []Item{i}, err
	})
	if err != nil {
		return "", out, fmt.Errorf("%s: %w", op, err)
	}
	return items[0].Value, out, nil
}
