package remote

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/problem"
)

// receipt says which task a submission led to.
type receipt struct {
	ID      weir.ID `json:"id"`
	Existed bool    `json:"existed"`
}

// keyed is the header that makes a create safe to send again.
func keyed(key string) http.Header {
	h := http.Header{}
	if key != "" {
		h.Set("Idempotency-Key", key)
	}
	return h
}

// Submit submits one task. After a lost connection it tries again only if the
// task has an idempotency key.
func (c *Client) Submit(ctx context.Context, task weir.Task) (weir.Receipt, error) {
	spec, err := specOf(task)
	if err != nil {
		return weir.Receipt{}, err
	}
	var made receipt
	_, err = c.do(ctx, call{method: http.MethodPost, path: []string{"tasks"}, header: keyed(task.IdempotencyKey), body: spec}, &made)
	return weir.Receipt(made), err
}

// SubmitMany submits all the tasks or none, at most 5,000.
func (c *Client) SubmitMany(ctx context.Context, tasks []weir.Task) ([]weir.Receipt, error) {
	specs, err := specsOf(tasks)
	if err != nil {
		return nil, err
	}
	// Every task has a key of its own: the header only says that it is safe.
	h := http.Header{}
	if !slices.ContainsFunc(tasks, func(t weir.Task) bool { return t.IdempotencyKey == "" }) && len(tasks) > 0 {
		h = keyed(tasks[0].IdempotencyKey)
	}
	var made page[receipt]
	_, err = c.do(ctx, call{method: http.MethodPost, path: []string{"tasks", "batch"}, header: h, body: map[string]any{"tasks": specs}}, &made)
	receipts := make([]weir.Receipt, len(made.Items))
	for i, r := range made.Items {
		receipts[i] = weir.Receipt(r)
	}
	return receipts, err
}

// SubmitJob submits a job, whole or not at all.
func (c *Client) SubmitJob(ctx context.Context, job weir.Job) (weir.ID, error) {
	specs, err := specsOf(job.Tasks)
	if err != nil {
		return weir.ID{}, err
	}
	params, err := encode(job.Params)
	if err != nil {
		return weir.ID{}, err
	}
	body := struct {
		Name     string          `json:"name"`
		Kind     string          `json:"kind,omitempty"`
		Priority int             `json:"priority,omitempty"`
		Params   json.RawMessage `json:"params,omitempty"`
		Trace    string          `json:"trace,omitempty"`
		Tasks    []taskSpec      `json:"tasks"`
	}{job.Name, job.Kind, job.Priority, params, job.Trace, specs}
	var made receipt
	_, err = c.do(ctx, call{method: http.MethodPost, path: []string{"jobs"}, header: keyed(job.IdempotencyKey), body: body}, &made)
	return made.ID, err
}

// reason is the body of a decision. Who decides, the server knows.
func reason(d weir.Decision) any {
	return map[string]string{"reason": d.Reason}
}

// on commands a task.
func (c *Client) on(ctx context.Context, task weir.ID, verb string, body, out any) error {
	_, err := c.do(ctx, call{method: http.MethodPost, path: []string{"tasks", task.String(), verb}, body: body}, out)
	return err
}

// Cancel cancels a task. Ended: it is canceled; else it was asked to stop.
func (c *Client) Cancel(ctx context.Context, task weir.ID, d weir.Decision) (ended bool, err error) {
	var out struct{ Ended bool }
	err = c.on(ctx, task, "cancel", reason(d), &out)
	return out.Ended, err
}

// CancelJob cancels every task of a job that has not ended.
func (c *Client) CancelJob(ctx context.Context, job weir.ID, d weir.Decision) (ended, asked int, err error) {
	var out struct{ Ended, Asked int }
	_, err = c.do(ctx, call{method: http.MethodPost, path: []string{"jobs", job.String(), "cancel"}, body: reason(d)}, &out)
	return out.Ended, out.Asked, err
}

// Retry gives a task that ended badly a new round of attempts.
func (c *Client) Retry(ctx context.Context, task weir.ID, _ string) error {
	return c.on(ctx, task, "retry", nil, nil)
}

// Skip decides that a task need not run.
func (c *Client) Skip(ctx context.Context, task weir.ID, d weir.Decision) error {
	return c.on(ctx, task, "skip", reason(d), nil)
}

// Hold keeps a task that waits from starting.
func (c *Client) Hold(ctx context.Context, task weir.ID, d weir.Decision) error {
	return c.on(ctx, task, "hold", reason(d), nil)
}

// Release lets a held task go on to its next gate.
func (c *Client) Release(ctx context.Context, task weir.ID, _ string) error {
	return c.on(ctx, task, "release", nil, nil)
}

// SetPriority changes the priority of a task that waits.
func (c *Client) SetPriority(ctx context.Context, task weir.ID, priority int, _ string) error {
	return c.put(ctx, nil, map[string]int{"priority": priority}, "tasks", task.String(), "priority")
}

// Why says, gate by gate, why a task is where it is.
func (c *Client) Why(ctx context.Context, task weir.ID) ([]weir.Reason, error) {
	return c.why(ctx, "tasks", task)
}

func (c *Client) why(ctx context.Context, kind string, id weir.ID) ([]weir.Reason, error) {
	type gate struct {
		Gate    string    `json:"gate"`
		Open    bool      `json:"open"`
		Text    string    `json:"reason"`
		Blocker weir.ID   `json:"blocker"`
		Since   time.Time `json:"since"`
	}
	gates, err := one[page[gate]](ctx, c, nil, kind, id.String(), "why")
	reasons := make([]weir.Reason, len(gates.Items))
	for i, g := range gates.Items {
		reasons[i] = weir.Reason(g)
	}
	return reasons, err
}

// SetNodeMode drains, pauses or activates a node.
func (c *Client) SetNodeMode(ctx context.Context, node string, mode weir.Mode, until time.Time, d weir.Decision) error {
	return c.put(ctx, nil, struct {
		Mode   weir.Mode `json:"mode"`
		Until  time.Time `json:"until,omitzero"`
		Reason string    `json:"reason,omitempty"`
	}{mode, until, d.Reason}, "nodes", node, "mode")
}

func (c *Client) put(ctx context.Context, header http.Header, body any, path ...string) error {
	_, err := c.do(ctx, call{method: http.MethodPut, path: path, header: header, body: body}, nil)
	return err
}

// define writes a definition over whatever is there, as the database itself
// would. The server asks for leave to do so: If-Match.
func (c *Client) define(ctx context.Context, body any, path ...string) error {
	err := c.put(ctx, nil, body, path...)
	for range tries {
		p := problemOf(err)
		switch {
		case p == nil:
			return err
		case p.Kind == problem.Invalid && p.Field == "If-Match":
			err = c.put(ctx, http.Header{"If-Match": {"*"}}, body, path...)
		case p.Kind == problem.Conflict: // it went away meanwhile
			err = c.put(ctx, nil, body, path...)
		default:
			return err
		}
	}
	return err
}

// drop deletes something by its name.
func (c *Client) drop(ctx context.Context, query url.Values, path ...string) error {
	_, err := c.do(ctx, call{method: http.MethodDelete, path: path, query: query}, nil)
	return err
}

// SetSchedule creates a schedule or changes it.
func (c *Client) SetSchedule(ctx context.Context, s weir.Schedule) error {
	var task *taskSpec
	if s.Workflow == "" {
		spec, err := specOf(s.Task)
		if err != nil {
			return err
		}
		task = &spec
	}
	options, err := encode(s.Options)
	if err != nil {
		return err
	}
	return c.define(ctx, struct {
		Spec     string          `json:"spec"`
		Zone     string          `json:"zone,omitempty"`
		Missed   weir.Missed     `json:"missed,omitempty"`
		CatchUp  period          `json:"catch_up,omitzero"`
		Jitter   period          `json:"jitter,omitzero"`
		Paused   bool            `json:"paused,omitempty"`
		Task     *taskSpec       `json:"task,omitempty"`
		Workflow string          `json:"workflow,omitempty"`
		Options  json.RawMessage `json:"options,omitempty"`
		Overlap  weir.Overlap    `json:"overlap,omitempty"`
	}{s.Spec, s.Zone, s.Missed, period(s.CatchUp), period(s.Jitter), s.Paused, task, s.Workflow, options, s.Overlap}, "schedules", s.Name)
}

// PauseSchedule stops a schedule, or lets it go on.
func (c *Client) PauseSchedule(ctx context.Context, name string, paused bool, _ string) error {
	verb := "resume"
	if paused {
		verb = "pause"
	}
	_, err := c.do(ctx, call{method: http.MethodPost, path: []string{"schedules", name, verb}}, nil)
	return err
}

// DropSchedule deletes a schedule.
func (c *Client) DropSchedule(ctx context.Context, name, _ string) error {
	return c.drop(ctx, nil, "schedules", name)
}

// Tail is the cursor of now.
func (c *Client) Tail(ctx context.Context) (weir.Cursor, error) {
	out, err := one[struct{ Cursor weir.Cursor }](ctx, c, nil, "timeline", "tail")
	return out.Cursor, err
}
