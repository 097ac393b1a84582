package account

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
)

// NamedUser names a user.
type NamedUser struct {
	User string `path:"user" flag:"NAME" maxLength:"200"`
}

// CreatingUser is a new user. A name is unique, so a create that is sent again is a
// conflict and creates no second one.
type CreatingUser struct{ Body auth.NewUser }

// SettingRole is a new role.
type SettingRole struct {
	NamedUser
	Body struct {
		Role auth.Role `json:"role" flag:"ROLE" enum:"viewer,operator,maintainer,admin"`
	}
}

// PasswordBody is a new password, and the old one for a user's own account.
type PasswordBody struct {
	Old string `json:"old,omitempty" maxLength:"1000" doc:"Needed for one's own."`
	New string `json:"new" maxLength:"1000"`
}

// SettingPassword sets the password of a user, SettingOwn the caller's own.
type (
	SettingPassword struct {
		NamedUser
		Body PasswordBody
	}
	SettingOwn struct{ Body PasswordBody }
)

// Linking sets how long a link works.
type Linking struct {
	NamedUser
	Body *LinkBody
}

// LinkBody is the lifetime of a link.
type LinkBody struct {
	TTL op.Period `json:"ttl,omitzero" doc:"How long it works; default: 15m."`
}

// Secret is an answer with a secret, which is returned once.
type Secret struct {
	Secret string `json:"secret" doc:"Told once: keep it."`
}

// Operations on users. A link without a name, which only the system can request, creates
// the first user.
var (
	ListUsers = op.List(on("user", http.MethodGet, "list", "/users", auth.Read, "List users"),
		func(ctx context.Context, s *auth.Store, _ auth.Subject, in *op.Paged) ([]auth.User, error) {
			return s.Users(ctx, auth.Page(in.Page()))
		},
		func(u auth.User) string { return u.Name })
	CreateUser = op.New(on("user", http.MethodPost, "create", "/users", auth.Administer, "Create a user"),
		func(ctx context.Context, s *auth.Store, who auth.Subject, in *CreatingUser) (auth.User, error) {
			return s.CreateUser(ctx, who, in.Body)
		})
	ShowUser = op.New(own(on("user", http.MethodGet, "show", "/users/{user}", auth.Read, "Show a user")),
		func(ctx context.Context, s *auth.Store, who auth.Subject, in *NamedUser) (auth.User, error) {
			return seen(ctx, s, who, in.User)
		})
	SetRole = op.New(on("user", http.MethodPut, "role", "/users/{user}/role", auth.Administer, "Give a user another role"),
		func(ctx context.Context, s *auth.Store, who auth.Subject, in *SettingRole) (op.Nothing, error) {
			return op.Nothing{}, s.SetRole(ctx, who, in.User, in.Body.Role)
		})
	SetPassword = op.New(own(on("user", http.MethodPut, "password", "/users/{user}/password", auth.Manage,
		"Set a user's password")),
		func(ctx context.Context, s *auth.Store, who auth.Subject, in *SettingPassword) (op.Nothing, error) {
			return op.Nothing{}, ofNew(s.SetPassword(ctx, who, in.User, in.Body.Old, in.Body.New))
		})
	SetOwnPassword = op.New(own(on("user", http.MethodPut, "password", "/me/password", auth.Manage,
		"Change one's own password")),
		func(ctx context.Context, s *auth.Store, who auth.Subject, in *SettingOwn) (op.Nothing, error) {
			return op.Nothing{}, ofNew(s.SetPassword(ctx, who, who.Name, in.Body.Old, in.Body.New))
		})
	Disable = op.New(on("user", http.MethodPost, "disable", "/users/{user}/disable", auth.Administer,
		"Keep a user from logging in"),
		func(ctx context.Context, s *auth.Store, who auth.Subject, in *NamedUser) (op.Nothing, error) {
			return op.Nothing{}, s.Disable(ctx, who, in.User)
		})
	Enable = op.New(on("user", http.MethodPost, "enable", "/users/{user}/enable", auth.Administer,
		"Let a user log in again"),
		func(ctx context.Context, s *auth.Store, who auth.Subject, in *NamedUser) (op.Nothing, error) {
			return op.Nothing{}, s.Enable(ctx, who, in.User)
		})
	NewLink = op.New(on("user", http.MethodPost, "link", "/users/{user}/link", auth.Administer,
		"Make a one-time link that logs a user in"),
		func(ctx context.Context, s *auth.Store, who auth.Subject, in *Linking) (Secret, error) {
			secret, err := s.NewLink(ctx, who, in.User, time.Duration(op.Given(in.Body).TTL))
			return Secret{secret}, err
		})
	DeleteUser = op.New(on("user", http.MethodDelete, "delete", "/users/{user}", auth.Administer, "Delete a user"),
		func(ctx context.Context, s *auth.Store, who auth.Subject, in *NamedUser) (op.Nothing, error) {
			return op.Nothing{}, s.DeleteUser(ctx, who, in.User)
		})
)

// seen returns the user of a name, if the caller may see them. For a caller who may not see
// others, another user and a missing one give the same answer.
func seen(ctx context.Context, s *auth.Store, who auth.Subject, name string) (auth.User, error) {
	user, err := s.User(ctx, name)
	owner := user.ID
	if err != nil {
		if problem.Explain(err).Kind != problem.NotFound {
			return user, err
		}
		owner = "somebody"
	}
	if refusal := auth.Allow(who, auth.Read, auth.Object{Kind: "user", Owner: owner}); refusal != nil {
		return auth.User{}, refusal
	}
	return user, err
}

// ofNew renames the field of a refused password to its name in this input.
func ofNew(err error) error {
	if p := new(problem.Problem); errors.As(err, &p) && p.Field == "password" {
		renamed := *p
		renamed.Field = "new"
		return &renamed
	}
	return err
}

// on describes an operation, own one on an object of the caller's own.
func on(noun, method, verb, path string, right auth.Verb, summary string) op.Operation {
	return op.Operation{Noun: noun, Verb: verb, Method: method, Path: path, Right: right, Summary: summary}
}

func own(o op.Operation) op.Operation { o.Own = true; return o }
