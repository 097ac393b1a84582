package weir

import (
	"context"
	"encoding/json"
	"time"
)

// Decision says who changed the course of a task, and why. Both are for people
// and go to the timeline. By defaults to the database user.
type Decision struct {
	By, Reason string
	// Names are those under which the decider approves or refuses a task that asks for
	// certain people: the name of a user, and role:NAME for each role. Nil stands for a
	// caller who may decide everything.
	Names []string
}

// Cancel cancels a task. What waits ends at once: ended is true. What runs is
// asked to stop, and ends when its worker has confirmed that it did.
func (c *Client) Cancel(ctx context.Context, task ID, d Decision) (ended bool, err error) {
	var answer string
	err = c.pool.QueryRow(ctx, `select weir.cancel($1, nullif($2, ''), nullif($3, ''))`, task, d.By, d.Reason).Scan(&answer)
	return answer == "canceled", c.told("cancel", err)
}

// CancelJob cancels every task of a job that has not ended. Ended counts those
// that are canceled now, asked those whose worker must stop first.
func (c *Client) CancelJob(ctx context.Context, job ID, d Decision) (ended, asked int, err error) {
	err = c.pool.QueryRow(ctx, `select canceled, requested from weir.cancel_job($1, nullif($2, ''), nullif($3, ''))`, job, d.By, d.Reason).Scan(&ended, &asked)
	return ended, asked, c.told("cancel job", err)
}

// Retry gives a task that failed, was cancelled or was skipped a new round of
// attempts. In a job it brings back what was skipped because of it.
func (c *Client) Retry(ctx context.Context, task ID, by string) error {
	return c.command(ctx, "retry", `select weir.retry($1, nullif($2, ''))`, task, by)
}

// RetryJob gives every task of a job that failed or was cancelled a new round of
// attempts, in the order of their needs, and brings back what was skipped because
// of them. What is done stays done. It returns how many tasks failed or were
// cancelled.
func (c *Client) RetryJob(ctx context.Context, job ID, d Decision) (tasks int, err error) {
	err = c.pool.QueryRow(ctx, `select weir.retry_job($1, nullif($2, ''), nullif($3, ''))`, job, d.By, d.Reason).Scan(&tasks)
	return tasks, c.told("retry job", err)
}

// Skip decides that a task that waits or has failed need not run: what depends
// on it goes on as if it were done. It wants a reason.
func (c *Client) Skip(ctx context.Context, task ID, d Decision) error {
	return c.command(ctx, "skip", `select weir.skip($1, $2, nullif($3, ''))`, task, d.Reason, d.By)
}

// Hold keeps a task that waits from starting, until it is released. It wants to
// know who must release it.
func (c *Client) Hold(ctx context.Context, task ID, d Decision) error {
	return c.command(ctx, "hold", `select weir.hold($1, $2, nullif($3, ''))`, task, d.By, d.Reason)
}

// Approve lets a held task go on to its next gate, with who decided and why. It is
// refused if the task asks for other people.
func (c *Client) Approve(ctx context.Context, task ID, d Decision) error {
	return c.command(ctx, "release", `select weir.release($1, nullif($2, ''), nullif($3, ''), $4::text[])`, task, d.By, d.Reason, d.Names)
}

// Refuse ends a held task as failed: a person decided that it must not run. A retry asks
// again.
func (c *Client) Refuse(ctx context.Context, task ID, d Decision) error {
	return c.command(ctx, "refuse", `select weir.refuse($1, $2, nullif($3, ''), $4::text[])`, task, d.Reason, d.By, d.Names)
}

// Signal tells a job that something happened outside. Tasks that wait for the event are
// done, with the payload (JSON, or nil) as their result; one that begins to wait later
// finds it. The same signal again changes nothing. It returns how many tasks it ended.
func (c *Client) Signal(ctx context.Context, job ID, event string, payload json.RawMessage, by string) (ended int, err error) {
	err = c.pool.QueryRow(ctx, `select weir.signal($1, $2, $3::jsonb, nullif($4, ''))`, job, event, payload, by).Scan(&ended)
	return ended, c.told("signal", err)
}

// SignalTask gives one task the event that it waits for, as Signal does; it is
// ErrNotFound if the task waits for none, or no longer.
func (c *Client) SignalTask(ctx context.Context, task ID, payload json.RawMessage, by string) (ended int, err error) {
	err = c.pool.QueryRow(ctx, `select weir.signal_task($1, $2::jsonb, nullif($3, ''))`, task, payload, by).Scan(&ended)
	return ended, c.told("signal", err)
}

// Release lets a held task go on to its next gate, for a program that decides for
// everybody; see Approve.
func (c *Client) Release(ctx context.Context, task ID, by string) error {
	return c.command(ctx, "release", `select weir.release($1, nullif($2, ''))`, task, by)
}

// SetPriority changes the priority of a task that waits.
func (c *Client) SetPriority(ctx context.Context, task ID, priority int, by string) error {
	return c.command(ctx, "set priority", `select weir.set_priority($1, $2, nullif($3, ''))`, task, priority, by)
}

func (c *Client) command(ctx context.Context, op, sql string, args ...any) error {
	_, err := c.pool.Exec(ctx, sql, args...)
	return c.told(op, err)
}

// told ends a command: if it worked, something may be free to start.
func (c *Client) told(op string, err error) error {
	if err == nil {
		c.say()
	}
	return wrap(op, err)
}

// Reason is one gate of a task, or whether anybody can take it.
type Reason struct {
	// Gate is needs, plan, time, hold, order, exclusion or pool; worker for a task
	// that could start; lease for one that runs; ended for one that has ended.
	Gate string
	// Open says that this is not what the task waits for.
	Open bool
	// Text is for people: Code and Args as an English sentence.
	Text string
	// Code is the kind of reason, such as pool_full or not_before, for programs.
	Code string
	// Args are what the code is about: names, counts, spans in seconds, times as RFC 3339
	// has them. One that is an object with a code is a reason of its own.
	Args map[string]any
	// Blocker is the task that stands in the way, if one does.
	Blocker ID
	// Since is when the gate closed; zero if it is open.
	Since time.Time
}

const reasonColumns = `gate, open, reason, code, args, blocker, coalesce(since, '-infinity')`

func (r *Reason) columns() []any {
	return []any{&r.Gate, &r.Open, &r.Text, &r.Code, &r.Args, &r.Blocker, (*instant)(&r.Since)}
}

// Why says, gate by gate, why a task is where it is.
func (c *Client) Why(ctx context.Context, task ID) ([]Reason, error) {
	rows, err := c.pool.Query(ctx, `select `+reasonColumns+` from weir.why($1)`, task)
	return collect("why", rows, err, (*Reason).columns)
}

// WhyJob says why a job is where it is: of a queued one what it waits for, of one
// that runs what stops its tasks, gate by gate.
func (c *Client) WhyJob(ctx context.Context, job ID) ([]Reason, error) {
	rows, err := c.pool.Query(ctx, `select `+reasonColumns+` from weir.why_job($1)`, job)
	return collect("why job", rows, err, (*Reason).columns)
}
