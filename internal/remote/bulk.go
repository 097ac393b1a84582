package remote

import (
	"context"
	"net/http"

	"github.com/weirhq/weir/internal/engine/bulk"
	"github.com/weirhq/weir/internal/engine/view"
)

// bulkBody is what a bulk route takes.
type bulkBody struct {
	Action   string `json:"action"`
	Filter   any    `json:"filter"`
	Reason   string `json:"reason,omitempty"`
	Priority *int   `json:"priority,omitempty"`
	DryRun   bool   `json:"dry_run,omitempty"`
	Limit    int    `json:"limit,omitempty"`
	After    string `json:"after,omitempty"`
}

func bulkOf(filter any, o bulk.Order) bulkBody {
	b := bulkBody{Action: o.Action, Filter: filter, Reason: o.Reason, DryRun: o.DryRun, Limit: o.Limit, After: o.After}
	if o.Action == bulk.Priority {
		b.Priority = &o.Priority
	}
	return b
}

// ChangeTasks does the same to all tasks of a filter, so many at a time.
func (c *Client) ChangeTasks(ctx context.Context, f view.TaskFilter, o bulk.Order) (r bulk.Result, err error) {
	_, err = c.do(ctx, call{method: http.MethodPost, path: []string{"tasks", "bulk"}, body: bulkOf(f, o)}, &r)
	return r, err
}

// ChangeJobs does the same to all jobs of a filter, so many at a time.
func (c *Client) ChangeJobs(ctx context.Context, f view.JobFilter, o bulk.Order) (r bulk.Result, err error) {
	_, err = c.do(ctx, call{method: http.MethodPost, path: []string{"jobs", "bulk"}, body: bulkOf(f, o)}, &r)
	return r, err
}
