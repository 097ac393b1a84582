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

// DropDatabase forgets a database and its address.
func (r *Rollouts) DropDatabase(ctx context.Context, _, name string) error {
	return r.client.drop(ctx, nil, "databases", name)
}

// CheckDatabase connects and says which database it is and what is applied there.
func (r *Rollouts) CheckDatabase(ctx context.Context, name string) (out rollout.Database, err error) {
	err = r.client.post(ctx, nil, &out, "databases", name, "check")
	return out, err
}

// AdoptDatabase checks a database, and takes the one that it finds for the right one.
func (r *Rollouts) AdoptDatabase(ctx context.Context, _, name string) (out rollout.Database, err error) {
	err = r.client.post(ctx, map[string]bool{"accept": true}, &out, "databases", name, "check")
	return out, err
}

// DatabaseHistory lists what is applied, newest first.
func (r *Rollouts) DatabaseHistory(ctx context.Context, name string, page view.Page) ([]target.Entry, error) {
	return list[target.Entry](ctx, r.client, url.Values{}, page, "databases", name, "history")
}

// Foreign is the history that another tool left in the database; nil: none.
func (r *Rollouts) Foreign(ctx context.Context, name string) (*target.Foreign, error) {
	out, err := one[struct{ Foreign *target.Foreign }](ctx, r.client, nil, "databases", name, "foreign")
	return out.Foreign, err
}

// ImportHistory takes that history over, and counts the rows that are new.
func (r *Rollouts) ImportHistory(ctx context.Context, _, name string) (int, error) {
	var out struct{ Imported int }
	err := r.client.post(ctx, nil, &out, "databases", name, "import")
	return out.Imported, err
}

// Drift compares the schema with the one that was last accepted.
func (r *Rollouts) Drift(ctx context.Context, name string) (rollout.DriftReport, error) {
	return one[rollout.DriftReport](ctx, r.client, nil, "databases", name, "drift")
}

// AcceptDrift accepts the schema as it is.
func (r *Rollouts) AcceptDrift(ctx context.Context, _, name string) (out rollout.DriftReport, err error) {
	err = r.client.post(ctx, nil, &out, "databases", name, "drift", "accept")
	return out, err
}
