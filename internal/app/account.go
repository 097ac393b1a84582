package app

import (
	"context"
	"time"

	"github.com/weirhq/weir/internal/auth"
)

// Accounts is what commands manage people and credentials with: a database, or
// a server's API.
type Accounts interface {
	Users(ctx context.Context, page auth.Page) ([]auth.User, error)
	User(ctx context.Context, name string) (auth.User, error)
	CreateUser(ctx context.Context, n auth.NewUser) (auth.User, error)
	SetRole(ctx context.Context, name string, role auth.Role) error
	SetPassword(ctx context.Context, name, old, password string) error
	DisableUser(ctx context.Context, name string) error
	EnableUser(ctx context.Context, name string) error
	DeleteUser(ctx context.Context, name string) error
	// NewLink makes a link that logs a user in once; without a name, one that
	// makes the first user.
	NewLink(ctx context.Context, name string, ttl time.Duration) (secret string, err error)

	Tokens(ctx context.Context, all bool) ([]auth.Token, error)
	CreateToken(ctx context.Context, n auth.NewToken) (auth.Token, string, error)
	RevokeToken(ctx context.Context, id string) error
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

func (a databaseAccounts) Users(ctx context.Context, page auth.Page) ([]auth.User, error) {
	return a.store.Users(ctx, page)
}

func (a databaseAccounts) User(ctx context.Context, name string) (auth.User, error) {
	return a.store.User(ctx, name)
}

func (a databaseAccounts) CreateUser(ctx context.Context, n auth.NewUser) (auth.User, error) {
	return a.store.CreateUser(ctx, a.by, n)
}

func (a databaseAccounts) SetRole(ctx context.Context, name string, role auth.Role) error {
	return a.store.SetRole(ctx, a.by, name, role)
}

func (a databaseAccounts) SetPassword(ctx context.Context, name, old, password string) error {
	return a.store.SetPassword(ctx, a.by, name, old, password)
}

func (a databaseAccounts) DisableUser(ctx context.Context, name string) error {
	return a.store.Disable(ctx, a.by, name)
}

func (a databaseAccounts) EnableUser(ctx context.Context, name string) error {
	return a.store.Enable(ctx, a.by, name)
}

func (a databaseAccounts) DeleteUser(ctx context.Context, name string) error {
	return a.store.DeleteUser(ctx, a.by, name)
}

func (a databaseAccounts) NewLink(ctx context.Context, name string, ttl time.Duration) (string, error) {
	return a.store.NewLink(ctx, a.by, name, ttl)
}

// Tokens are everybody's: the database itself has none of its own.
func (a databaseAccounts) Tokens(ctx context.Context, _ bool) ([]auth.Token, error) {
	return a.store.Tokens(ctx, a.by, true)
}

func (a databaseAccounts) CreateToken(ctx context.Context, n auth.NewToken) (auth.Token, string, error) {
	return a.store.CreateToken(ctx, a.by, n)
}

func (a databaseAccounts) RevokeToken(ctx context.Context, id string) error {
	return a.store.RevokeToken(ctx, a.by, id)
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
