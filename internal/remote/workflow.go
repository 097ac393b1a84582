package remote

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/workflow"
	"github.com/weirhq/weir/internal/workflow/definition"
)

// definitionBody is a definition as the API takes it.
type definitionBody struct {
	Definition json.RawMessage `json:"definition,omitempty"`
	Source     string          `json:"source,omitempty"`
	Inactive   bool            `json:"inactive,omitempty"`
	definition.Options
}

// PutWorkflow stores a definition.
func (c *Client) PutWorkflow(ctx context.Context, d *definition.Definition, source string, o workflow.PutOptions) (w workflow.Workflow, created bool, err error) {
	body := definitionBody{Definition: d.JSON(), Source: source, Inactive: o.Inactive}
	status, err := c.doStatus(ctx, call{method: http.MethodPut, path: []string{"workflows"}, body: body}, &w)
	return w, status == http.StatusCreated, err
}

// Workflows lists the workflows by name.
func (c *Client) Workflows(ctx context.Context, p view.Page) ([]workflow.Workflow, error) {
	return list[workflow.Workflow](ctx, c, url.Values{}, p, "workflows")
}

// Workflow reads one version of a workflow; 0 is the newest active one.
func (c *Client) Workflow(ctx context.Context, name string, version int) (workflow.Workflow, error) {
	return one[workflow.Workflow](ctx, c, values("version", number(version)), "workflows", name)
}

// number is empty for none.
func number(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// Versions lists the versions of a workflow, the newest first.
func (c *Client) Versions(ctx context.Context, name string, p view.Page) ([]workflow.Workflow, error) {
	return list[workflow.Workflow](ctx, c, url.Values{}, p, "workflows", name, "versions")
}

// SetActive says whether a version can be run.
func (c *Client) SetActive(ctx context.Context, name string, version int, active bool) error {
	return c.put(ctx, nil, map[string]any{"version": version, "active": active}, "workflows", name, "active")
}

// DeleteWorkflow deletes a version of a workflow, or with 0 all of it.
func (c *Client) DeleteWorkflow(ctx context.Context, name string, version int) (versions int, err error) {
	query := url.Values{}
	if version != 0 {
		query.Set("version", strconv.Itoa(version))
	}
	var out struct{ Versions int }
	_, err = c.do(ctx, call{method: http.MethodDelete, path: []string{"workflows", name}, query: query}, &out)
	return out.Versions, err
}

// RunWorkflow runs a workflow. After a lost connection it tries again only if
// there is an idempotency key.
func (c *Client) RunWorkflow(ctx context.Context, r workflow.RunRequest) (weir.ID, error) {
	body := struct {
		definition.Options
		Version  int       `json:"version,omitempty"`
		At       time.Time `json:"at,omitzero"`
		Priority *int      `json:"priority,omitempty"`
		Trace    string    `json:"trace,omitempty"`
	}{r.Options, r.Version, r.At, r.Priority, r.Trace}
	var made receipt
	_, err := c.do(ctx, call{method: http.MethodPost, path: []string{"workflows", r.Workflow, "run"}, header: keyed(r.IdempotencyKey), body: body}, &made)
	return made.ID, err
}

// PlanWorkflow says what a run would do.
func (c *Client) PlanWorkflow(ctx context.Context, name string, version int, o definition.Options) ([]workflow.Preview, error) {
	var steps page[workflow.Preview]
	err := c.post(ctx, struct {
		definition.Options
		Version int `json:"version,omitempty"`
	}{o, version}, &steps, "workflows", name, "plan")
	return steps.Items, err
}

// PlanDefinition says what a run of a definition would do, without storing it.
func (c *Client) PlanDefinition(ctx context.Context, d *definition.Definition, o definition.Options) ([]workflow.Preview, error) {
	var steps page[workflow.Preview]
	err := c.post(ctx, definitionBody{Definition: d.JSON(), Options: o}, &steps, "workflows", "plan")
	return steps.Items, err
}

// Backfill runs a workflow for times that are over. Without a workflow it is
// that of the schedule.
func (c *Client) Backfill(ctx context.Context, r workflow.BackfillRequest) ([]time.Time, []weir.ID, error) {
	name := r.Workflow
	if name == "" {
		schedule, err := c.Schedule(ctx, r.Schedule)
		if err != nil {
			return nil, nil, err
		}
		if name = schedule.Workflow; name == "" {
			return nil, nil, problem.Refuse("schedule", "name a schedule of a workflow, or a spec", "%q runs no workflow", r.Schedule)
		}
	}
	var made struct {
		Times []time.Time
		Jobs  []weir.ID
	}
	err := c.post(ctx, struct {
		From     time.Time           `json:"from"`
		To       time.Time           `json:"to"`
		Schedule string              `json:"schedule,omitempty"`
		Spec     string              `json:"spec,omitempty"`
		Zone     string              `json:"zone,omitempty"`
		Options  *definition.Options `json:"options,omitempty"`
		DryRun   bool                `json:"dry_run,omitempty"`
	}{r.From, r.To, r.Schedule, r.Spec, r.Zone, r.Options, r.DryRun}, &made, "workflows", name, "backfill")
	return made.Times, made.Jobs, err
}

// Rerun runs a job of a workflow again as a new one.
func (c *Client) Rerun(ctx context.Context, job weir.ID, r workflow.RerunRequest) (weir.ID, error) {
	var made receipt
	err := c.post(ctx, map[string]any{"from": r.From, "failed": r.Failed}, &made, "jobs", job.String(), "rerun")
	return made.ID, err
}

// RetryJob gives what failed in a job a new round of attempts.
func (c *Client) RetryJob(ctx context.Context, job weir.ID, d weir.Decision) (tasks int, err error) {
	var out struct{ Tasks int }
	err = c.post(ctx, reason(d), &out, "jobs", job.String(), "retry")
	return out.Tasks, err
}

// WhyJob says why a job is where it is.
func (c *Client) WhyJob(ctx context.Context, job weir.ID) ([]weir.Reason, error) {
	return c.why(ctx, "jobs", job)
}
