package app

import (
	"context"

	"github.com/weirhq/weir/internal/auth"
)

// Accounts is what commands manage people and credentials with: a database, or
// a server's API.
type Accounts interface {
	Sessions(ctx context.Context, user string) ([]auth.Session, error)
	RevokeSession(ctx context.Context, id string) error
	Joins(ctx context.Context) ([]auth.Join, error)
	CreateJoin(ctx context.Context, n auth.NewJoin) (secret string, err error)
	RevokeJoin(ctx context.Context, id string) error
	RevokeNode(ctx context.Context, node string) error
}

// databaseAccounts is Accounts on the database itself: who holds that may do
// everything, and the timeline says who it was.
type databaseAccounts struct {
	store *auth.Store
	by    auth.Subject
}

func (a databaseAccounts) Sessions(ctx context.Context, user string) ([]auth.Session, error) {
	if user == "" {
		return a.store.Sessions(ctx, "")
	}
	found, err := a.store.User(ctx, user)
	if err != nil {
		return nil, err
	}
	return a.store.Sessions(ctx, found.ID)
}

func (a databaseAccounts) RevokeSession(ctx context.Context, id string) error {
	return a.store.RevokeSession(ctx, a.by, id)
}

func (a databaseAccounts) Joins(ctx context.Context) ([]auth.Join, error) {
	return a.store.Joins(ctx, a.by)
}

func (a databaseAccounts) CreateJoin(ctx context.Context, n auth.NewJoin) (string, error) {
	return a.store.CreateJoin(ctx, a.by, n)
}

func (a databaseAccounts) RevokeJoin(ctx context.Context, id string) error {
	return a.store.RevokeJoin(ctx, a.by, id)
}

func (a databaseAccounts) RevokeNode(ctx context.Context, node string) error {
	return a.store.RevokeNode(ctx, a.by, node)
}
