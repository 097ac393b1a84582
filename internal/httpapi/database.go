package httpapi

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/rollout"
	"github.com/weirhq/weir/internal/rollout/target"
)

// DatabaseInput names a database.
type DatabaseInput struct {
	Database string `path:"database" maxLength:"200"`
}

// ListDatabasesInput narrows the list.
type ListDatabasesInput struct {
	PageInput
	Environment string   `query:"environment" maxLength:"200" doc:"Only databases of this environment."`
	Engine      string   `query:"engine" enum:"postgres,mysql" doc:"Only databases of this engine."`
	Label       []string `query:"label,explode" maxItems:"50" doc:"KEY=VALUE: only databases with this label. Given more than once: with all of them."`
	Search      string   `query:"search" maxLength:"200" doc:"Only databases with this in their name."`
}

func (a *API) listDatabases(ctx context.Context, in *ListDatabasesInput) (*Listed[rollout.Database], error) {
	store, err := a.rollouts()
	if err != nil {
		return nil, err
	}
	f := rollout.DatabaseFilter{Environment: in.Environment, Engine: in.Engine, Search: in.Search, Labels: map[string]string{}}
	for _, pair := range in.Label {
		key, value, ok := strings.Cut(pair, "=")
		if !ok || key == "" {
			return nil, problem.Refuse("label", "write it so: label=region=eu", "it is not KEY=VALUE")
		}
		f.Labels[key] = value
	}
	list, err := store.Databases(ctx, f, in.page())
	if err != nil {
		return nil, err
	}
	return listed(ctx, list, in.Limit, func(d rollout.Database) string { return d.Name }), nil
}

// databaseTag is the version of what a person wrote about a database.
func databaseTag(d rollout.Database) string {
	labels := d.Labels
	if labels == nil {
		labels = map[string]string{}
	}
	return etag([]any{d.Engine, d.Environment, labels, d.Secret, d.Note})
}

func (a *API) showDatabase(ctx context.Context, in *DatabaseInput) (*Defined[rollout.Database], error) {
	store, err := a.rollouts()
	if err != nil {
		return nil, err
	}
	d, err := store.Database(ctx, in.Database)
	if err != nil {
		return nil, err
	}
	return &Defined[rollout.Database]{Status: http.StatusOK, ETag: databaseTag(d), Body: d}, nil
}

// DatabaseBody is what is known of a database.
type DatabaseBody struct {
	Engine      string            `json:"engine" enum:"postgres,mysql"`
	Environment string            `json:"environment" maxLength:"200" doc:"Such as test, staging or prod."`
	Labels      map[string]string `json:"labels,omitempty"`
	DSN         string            `json:"dsn,omitempty" maxLength:"4096" writeOnly:"true" doc:"Its address with user and password: postgres://user:password@host/name, user:password@tcp(host:3306)/name. It is sealed and never shown again. Left out: the one that is kept."`
	Secret      string            `json:"secret,omitempty" maxLength:"100" doc:"The name of the secret that has the address, if it is to be another than the database's own."`
	Note        string            `json:"note,omitempty" maxLength:"1000" doc:"For people."`
}

// PutDatabaseInput registers a database or changes it.
type PutDatabaseInput struct {
	DatabaseInput
	MatchInput
	Body DatabaseBody
}

// putDatabase takes no turn: it waits for a database that may not answer, and
// nobody else should wait for that.
func (a *API) putDatabase(ctx context.Context, in *PutDatabaseInput) (*Defined[rollout.Database], error) {
	store, err := a.rollouts()
	if err != nil {
		return nil, err
	}
	b := &in.Body
	if b.Secret != "" {
		// The secret may be somebody else's business.
		if err := auth.Allow(auth.From(ctx), auth.Manage, auth.Object{Kind: "secret"}); err != nil {
			return nil, err
		}
	}
	is, err := store.Database(ctx, in.Database)
	exists := err == nil
	if err != nil && problem.Explain(err).Kind != problem.NotFound {
		return nil, err
	}
	want := rollout.Database{Name: in.Database, Engine: b.Engine, Environment: b.Environment, Labels: b.Labels, Secret: b.Secret, Note: b.Note}
	out := &Defined[rollout.Database]{Status: http.StatusCreated}
	tag := ""
	switch {
	case exists:
		if want.Secret == "" {
			want.Secret = is.Secret
		}
		tag, out.Status = databaseTag(is), http.StatusOK
	case b.DSN == "" && b.Secret == "":
		return nil, problem.Refuse("dsn", "such as postgres://user:password@host/name", "a new database needs its address")
	}
	if err := in.judge("database", tag, b.DSN == "" && tag == databaseTag(want)); err != nil {
		return nil, err
	}
	if out.Body, err = store.PutDatabase(ctx, auth.From(ctx).By(), want, b.DSN); err != nil {
		return nil, err
	}
	out.ETag = databaseTag(out.Body)
	return out, nil
}

// HistoryInput asks for a page of a history.
type HistoryInput struct {
	DatabaseInput
	Limit int `query:"limit" minimum:"1" maximum:"1000" default:"50" doc:"How many at most."`
	After int `query:"after" minimum:"0" maximum:"2147483647" doc:"The next of the page before."`
}

func (a *API) databaseHistory(ctx context.Context, in *HistoryInput) (*Listed[target.Entry], error) {
	store, err := a.rollouts()
	if err != nil {
		return nil, err
	}
	entries, err := store.DatabaseHistory(ctx, in.Database, view.Page{Limit: in.Limit, After: strconv.Itoa(in.After)})
	if err != nil {
		return nil, err
	}
	return listed(ctx, entries, in.Limit, func(target.Entry) string { return strconv.Itoa(in.After + len(entries)) }), nil
}
