package remote

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/rollout"
)

// Rollouts does with databases and rollouts what a store on the database does. It
// is a type of its own: the tasks of rollouts are not those of the engine. Who
// asks, the server knows; by is not sent.
type Rollouts struct {
	client *Client
}

// Rollouts is the part of the client that is about rollouts.
func (c *Client) Rollouts() *Rollouts { return &Rollouts{client: c} }

// planBody is a plan as the API takes it.
type planBody struct {
	Name       string          `json:"name"`
	Stages     []rollout.Stage `json:"stages"`
	Files      []rollout.File  `json:"files"`
	Parallel   int             `json:"parallel,omitempty"`
	OutOfOrder bool            `json:"out_of_order,omitempty"`
	RunAt      *time.Time      `json:"run_at,omitempty"`
	Note       string          `json:"note,omitempty"`
	Offline    bool            `json:"offline,omitempty"`
}

// bodyOf sends files as they are: the server reads them.
func bodyOf(p rollout.Plan) planBody {
	return planBody{Name: p.Name, Stages: append([]rollout.Stage{}, p.Stages...), Files: append([]rollout.File{}, p.Files...), Parallel: p.Parallel, OutOfOrder: p.OutOfOrder, RunAt: p.RunAt, Note: p.Note}
}

// Preview says what a plan would do.
func (r *Rollouts) Preview(ctx context.Context, p rollout.Plan, o rollout.PreviewOptions) (out rollout.Preview, err error) {
	body := bodyOf(p)
	body.Offline = o.Offline
	err = r.client.post(ctx, body, &out, "rollouts", "preview")
	return out, err
}

// Create makes a rollout. After a lost connection it tries again only if there is
// an idempotency key.
func (r *Rollouts) Create(ctx context.Context, _ string, p rollout.Plan, idempotencyKey string) (out rollout.Rollout, err error) {
	_, err = r.client.do(ctx, call{method: http.MethodPost, path: []string{"rollouts"}, header: keyed(idempotencyKey), body: bodyOf(p)}, &out)
	return out, err
}

// Replace puts another plan in the place of one of which nothing has run. It makes
// a new rollout: unlike other PUTs it must not be sent again by itself.
func (r *Rollouts) Replace(ctx context.Context, _ string, id weir.ID, p rollout.Plan) (out rollout.Rollout, err error) {
	_, err = r.client.do(ctx, call{method: http.MethodPut, path: []string{"rollouts", id.String()}, body: bodyOf(p), once: true}, &out)
	return out, err
}

// Rollouts lists rollouts, the newest first.
func (r *Rollouts) Rollouts(ctx context.Context, f rollout.Filter, page view.Page) ([]rollout.Rollout, error) {
	return list[rollout.Rollout](ctx, r.client, values("state", f.State, "search", f.Search, "database", f.Database), page, "rollouts")
}

// TaskPage lists tasks of a rollout, in the order of the plan.
func (r *Rollouts) TaskPage(ctx context.Context, id weir.ID, f rollout.TaskFilter, page view.Page) ([]rollout.Task, error) {
	return list[rollout.Task](ctx, r.client, values("status", f.Status, "stage", f.Stage, "database", f.Database, "key", f.Key), page, "rollouts", id.String(), "tasks")
}

// Tasks reads all tasks of a rollout, in the order of the plan, page by page.
func (r *Rollouts) Tasks(ctx context.Context, id weir.ID) ([]rollout.Task, error) {
	return rollout.AllTasks(ctx, r, id, rollout.TaskFilter{})
}

// labelled are labels as parameters.
func labelled(query url.Values, labels map[string]string) url.Values {
	for key, value := range labels {
		query.Add("label", key+"="+value)
	}
	return query
}
