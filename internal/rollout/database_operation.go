package rollout

import (
	"context"
	"net/http"
	"strconv"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/rollout/target"
)

// NamedDatabase names a database.
type NamedDatabase struct {
	Database string `path:"database" flag:"NAME" maxLength:"200"`
}

// ListingDatabases narrows the list of databases.
type ListingDatabases struct {
	op.Paged
	DatabaseFilter
}

// ListingHistory bounds a history.
type ListingHistory struct {
	NamedDatabase
	op.Paged
}

// DatabaseBody is what a person knows of a database.
type DatabaseBody struct {
	Engine      string            `json:"engine" enum:"postgres,mysql"`
	Environment string            `json:"environment" maxLength:"200" doc:"Such as test, staging or prod."`
	Labels      map[string]string `json:"labels,omitempty"`
	DSN         string            `json:"dsn,omitempty" maxLength:"4096" writeOnly:"true" doc:"Its address with user and password: postgres://user:password@host/name, user:password@tcp(host:3306)/name. It is sealed and never shown again. Left out: the one that is kept."`
	Secret      string            `json:"secret,omitempty" maxLength:"100" doc:"The name of the secret that has the address, if it is to be another than the database's own."`
	Note        string            `json:"note,omitempty" maxLength:"1000" doc:"For people."`
}

// Putting registers a database or changes it.
type Putting struct {
	NamedDatabase
	op.Matched
	Body DatabaseBody
}

// Tag implements [op.Defined]: it is the version of what a person wrote.
func (d Database) Tag() string {
	labels := d.Labels
	if labels == nil {
		labels = map[string]string{}
	}
	return op.Tag(d.Engine, d.Environment, labels, d.Secret, d.Note)
}

// New implements [op.Defined].
func (d Database) New() bool { return d.isNew }

// CheckBody says what to do with a database that is another one than before.
type CheckBody struct {
	Accept bool `json:"accept,omitempty" doc:"Take the database that the address leads to for the right one, whichever it was before. Left out, another one is a fault."`
}

// Checking asks for a look at a database.
type Checking struct {
	NamedDatabase
	Body *CheckBody
}

// ForeignOutput is the history that another tool left.
type ForeignOutput struct {
	Found   bool            `json:"found"`
	Foreign *target.Foreign `json:"foreign,omitempty"`
}

// ImportOutput counts what was taken over.
type ImportOutput struct {
	Imported int `json:"imported" doc:"How many rows are new."`
}

// Operations on databases. Each waits for a database that may not answer.
var (
	ListDatabases = op.List(op.Operation{Noun: "database", Verb: "list", Method: http.MethodGet, Path: "/databases", Right: auth.Read, Summary: "List databases"},
		func(ctx context.Context, s *Store, _ auth.Subject, in *ListingDatabases) ([]Database, error) {
			return s.Databases(ctx, in.DatabaseFilter, in.Page())
		},
		func(d Database) string { return d.Name })
	ShowDatabase = op.New(onDatabase(http.MethodGet, "show", "", auth.Read, "Show a database; its address is never shown"),
		func(ctx context.Context, s *Store, _ auth.Subject, in *NamedDatabase) (Database, error) {
			return s.Database(ctx, in.Database)
		})
	PutDatabase = op.New(onDatabase(http.MethodPut, "set", "", auth.Manage, "Register a database or change what is known of it, and look at it"),
		func(ctx context.Context, s *Store, who auth.Subject, in *Putting) (Database, error) {
			return s.define(ctx, who, in)
		})
	ListHistory = op.New(onDatabase(http.MethodGet, "history", "/history", auth.Read, "List what is applied, newest first, from the database itself"),
		func(ctx context.Context, s *Store, _ auth.Subject, in *ListingHistory) (op.Page[target.Entry], error) {
			entries, err := s.DatabaseHistory(ctx, in.Database, in.Page())
			next := ""
			if n := len(entries); n > 0 && n == in.Page().Most() {
				before, _ := strconv.Atoi(in.After) // the store has read it
				next = strconv.Itoa(before + n)
			}
			return op.PageOf(entries, next), err
		})
	DropDatabase = op.New(onDatabase(http.MethodDelete, "remove", "", auth.Manage, "Forget a database and its address"),
		func(ctx context.Context, s *Store, who auth.Subject, in *NamedDatabase) (op.Nothing, error) {
			return op.Nothing{}, s.DropDatabase(ctx, who.By(), in.Database)
		})
	CheckDatabase = op.New(onDatabase(http.MethodPost, "check", "/check", auth.Manage, "Connect: say which database it is and what is applied there"),
		func(ctx context.Context, s *Store, who auth.Subject, in *Checking) (Database, error) {
			if op.Given(in.Body).Accept {
				return s.AdoptDatabase(ctx, who.By(), in.Database)
			}
			return s.CheckDatabase(ctx, in.Database)
		})
	ShowForeign = op.New(onDatabase(http.MethodGet, "foreign", "/foreign", auth.Read, "Show the history that goose, Flyway or golang-migrate left in a database"),
		func(ctx context.Context, s *Store, _ auth.Subject, in *NamedDatabase) (ForeignOutput, error) {
			f, err := s.Foreign(ctx, in.Database)
			return ForeignOutput{f != nil, f}, err
		})
	ImportHistory = op.New(onDatabase(http.MethodPost, "import", "/import", auth.Manage, "Take that history over"),
		func(ctx context.Context, s *Store, who auth.Subject, in *NamedDatabase) (ImportOutput, error) {
			n, err := s.ImportHistory(ctx, who.By(), in.Database)
			return ImportOutput{n}, err
		})
	ShowDrift = op.New(onDatabase(http.MethodGet, "drift", "/drift", auth.Read, "Compare the schema with the one that was last accepted"),
		func(ctx context.Context, s *Store, _ auth.Subject, in *NamedDatabase) (DriftReport, error) {
			return s.Drift(ctx, in.Database)
		})
	AcceptDrift = op.New(onDatabase(http.MethodPost, "accept", "/drift/accept", auth.Manage, "Accept the schema as it is"),
		func(ctx context.Context, s *Store, who auth.Subject, in *NamedDatabase) (DriftReport, error) {
			return s.AcceptDrift(ctx, who.By(), in.Database)
		})
)

// onDatabase describes an operation on a database.
func onDatabase(method, verb, below string, right auth.Verb, summary string) op.Operation {
	return op.Operation{Noun: "database", Verb: verb, Method: method, Path: "/databases/{database}" + below, Right: right, Summary: summary}
}

// define registers a database or changes what a person knows of it. It takes no turn: it
// waits for a database that may not answer, and nobody else should wait for that.
func (s *Store) define(ctx context.Context, who auth.Subject, in *Putting) (Database, error) {
	b := &in.Body
	if b.Secret != "" {
		// The secret may be somebody else's business.
		if err := auth.Allow(who, auth.Manage, auth.Object{Kind: "secret"}); err != nil {
			return Database{}, err
		}
	}
	want := Database{Name: in.Database, Engine: b.Engine, Environment: b.Environment, Labels: b.Labels, Secret: b.Secret, Note: b.Note}
	is, err := s.Database(ctx, in.Database)
	tag := ""
	switch {
	case err == nil:
		tag = is.Tag()
		if want.Secret == "" {
			want.Secret = is.Secret
		}
	case problem.Explain(err).Kind != problem.NotFound:
		return want, err
	case b.DSN == "" && b.Secret == "":
		return want, problem.Refuse("dsn", "such as postgres://user:password@host/name", "a new database needs its address")
	}
	if err := in.Judge("database", tag, b.DSN == "" && tag == want.Tag()); err != nil {
		return want, err
	}
	made, err := s.PutDatabase(ctx, who.By(), want, b.DSN)
	made.isNew = tag == ""
	return made, err
}
