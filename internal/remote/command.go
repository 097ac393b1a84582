package remote

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/work"
)

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
	var task *work.TaskSpec
	if s.Workflow == "" {
		spec, err := work.SpecOf(s.Task)
		if err != nil {
			return err
		}
		task = &spec
	}
	options, err := work.Encode(s.Options)
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
		Task     *work.TaskSpec  `json:"task,omitempty"`
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
