package remote

import (
	"context"
	"net/http"
	"net/url"

	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/rollout"
	"github.com/weirhq/weir/internal/rollout/target"
)

// PutDatabase registers a database or changes what is known of it, whatever is
// there. The address goes to the server and never comes back.
func (r *Rollouts) PutDatabase(ctx context.Context, _ string, d rollout.Database, dsn string) (out rollout.Database, err error) {
	body := struct {
		Engine      string            `json:"engine"`
		Environment string            `json:"environment"`
		Labels      map[string]string `json:"labels,omitempty"`
		DSN         string            `json:"dsn,omitempty"`
		Secret      string            `json:"secret,omitempty"`
		Note        string            `json:"note,omitempty"`
	}{d.Engine, d.Environment, d.Labels, dsn, d.Secret, d.Note}
	k := call{method: http.MethodPut, path: []string{"databases", d.Name}, body: body}
	if _, err = r.client.do(ctx, k, &out); err == nil {
		return out, nil
	}
	if p := problemOf(err); p != nil && p.Kind == problem.Invalid && p.Field == "If-Match" {
		k.header = http.Header{"If-Match": {"*"}}
		_, err = r.client.do(ctx, k, &out)
	}
	return out, err
}

// Databases lists databases by name.
func (r *Rollouts) Databases(ctx context.Context, f rollout.DatabaseFilter, page view.Page) ([]rollout.Database, error) {
	query := labelled(values("environment", f.Environment, "engine", f.Engine, "search", f.Search), f.Labels)
	return list[rollout.Database](ctx, r.client, query, page, "databases")
}

// Database reads one.
func (r *Rollouts) Database(ctx context.Context, name string) (rollout.Database, error) {
	return one[rollout.Database](ctx, r.client, nil, "databases", name)
}

// DatabaseHistory lists what is applied, newest first.
func (r *Rollouts) DatabaseHistory(ctx context.Context, name string, page view.Page) ([]target.Entry, error) {
	return list[target.Entry](ctx, r.client, url.Values{}, page, "databases", name, "history")
}
