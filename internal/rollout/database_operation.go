package rollout

import (
	"context"
	"net/http"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/rollout/target"
)

// NamedDatabase names a database.
type NamedDatabase struct {
	Database string `path:"database" flag:"NAME" maxLength:"200"`
}

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
