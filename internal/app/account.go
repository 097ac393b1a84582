package app

import (
	"context"

	"github.com/weirhq/weir/internal/auth"
)

// Accounts is what commands manage people and credentials with: a database, or
// a server's API.
type Accounts interface {
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
