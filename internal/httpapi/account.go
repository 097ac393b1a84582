package httpapi

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
)

// Identity says who asks, and how far their rights reach.
type Identity struct {
	Kind   string    `json:"kind" enum:"user,token,node,system"`
	Name   string    `json:"name"`
	UserID string    `json:"user_id,omitempty"`
	Role   auth.Role `json:"role,omitempty"`
	// Token is the name of the token, and Scopes bound it.
	Token   string   `json:"token,omitempty"`
	Scopes  []string `json:"scopes,omitempty"`
	Session string   `json:"session,omitempty"`
}

func identity(s auth.Subject) Identity {
	return Identity{Kind: s.Kind, Name: s.Name, UserID: s.UserID, Role: s.Role, Token: s.Token, Scopes: s.Scopes, Session: s.Session}
}

func (a *API) me(ctx context.Context, _ *struct{}) (*One[Identity], error) {
	return one(identity(auth.From(ctx)), nil)
}

// LoginInput is a name and a password.
type LoginInput struct {
	Body struct {
		Name     string `json:"name" maxLength:"200"`
		Password string `json:"password" maxLength:"1000"`
	}
}

func (a *API) login(ctx context.Context, in *LoginInput) (*Empty, error) {
	x := exchangeOf(ctx)
	return nil, a.config.Door.Login(x.w, x.r, in.Body.Name, in.Body.Password)
}

func (a *API) logout(ctx context.Context, _ *struct{}) (*Empty, error) {
	if by := auth.From(ctx); by.Kind == auth.KindToken {
		return nil, a.config.Auth.RevokeToken(ctx, by, by.ID)
	}
	x := exchangeOf(ctx)
	return nil, a.config.Door.Logout(x.w, x.r)
}

func (a *API) listUsers(ctx context.Context, in *op.Paged) (*Listed[auth.User], error) {
	users, err := a.config.Auth.Users(ctx, auth.Page{Limit: in.Limit, After: in.After})
	if err != nil {
		return nil, err
	}
	return listed(ctx, users, in.Limit, func(u auth.User) string { return u.Name }), nil
}

// CreateUserInput is a new user. The name is taken once, so a create that is
// sent again is a conflict and makes no second one.
type CreateUserInput struct {
	Body struct {
		Name     string `json:"name"`
		Role     string `json:"role" enum:"viewer,operator,maintainer,admin"`
		Email    string `json:"email,omitempty"`
		Password string `json:"password,omitempty" doc:"Left out: the user needs a link to log in."`
	}
}

func (a *API) createUser(ctx context.Context, in *CreateUserInput) (*Made[auth.User], error) {
	b := &in.Body
	user, err := a.config.Auth.CreateUser(ctx, auth.From(ctx), auth.NewUser{Name: b.Name, Role: auth.Role(b.Role), Email: b.Email, Password: b.Password})
	if err != nil {
		return nil, err
	}
	return &Made[auth.User]{Status: http.StatusCreated, Location: location("users", user.Name), Body: user}, nil
}

// UserInput names a user.
type UserInput struct {
	User string `path:"user" maxLength:"200"`
}

// showUser answers the same for somebody else and for nobody, to those who may
// not see others.
func (a *API) showUser(ctx context.Context, in *UserInput) (*One[auth.User], error) {
	user, err := a.config.Auth.User(ctx, in.User)
	owner := user.ID
	if err != nil {
		if problem.Explain(err).Kind != problem.NotFound {
			return nil, err
		}
		owner = "somebody"
	}
	if err := auth.Allow(auth.From(ctx), auth.Read, auth.Object{Kind: "user", Owner: owner}); err != nil {
		return nil, err
	}
	return one(user, err)
}

// RoleInput is a new role.
type RoleInput struct {
	UserInput
	Body struct {
		Role string `json:"role" enum:"viewer,operator,maintainer,admin"`
	}
}

func (a *API) setRole(ctx context.Context, in *RoleInput) (*Empty, error) {
	return nil, a.config.Auth.SetRole(ctx, auth.From(ctx), in.User, auth.Role(in.Body.Role))
}

// PasswordBody is a new password, and the old one if it is one's own.
type PasswordBody struct {
	Old string `json:"old,omitempty" maxLength:"1000" doc:"Needed for one's own."`
	New string `json:"new" maxLength:"1000"`
}

// ofNew names the field of a password that is refused as it is called here.
func ofNew(err error) error {
	if p := new(problem.Problem); errors.As(err, &p) && p.Field == "password" {
		renamed := *p
		renamed.Field = "new"
		return &renamed
	}
	return err
}

// PasswordInput is somebody's password.
type PasswordInput struct {
	UserInput
	Body PasswordBody
}

func (a *API) setPassword(ctx context.Context, in *PasswordInput) (*Empty, error) {
	return nil, ofNew(a.config.Auth.SetPassword(ctx, auth.From(ctx), in.User, in.Body.Old, in.Body.New))
}

// OwnPasswordInput is one's own.
type OwnPasswordInput struct{ Body PasswordBody }

func (a *API) setOwnPassword(ctx context.Context, in *OwnPasswordInput) (*Empty, error) {
	s := auth.From(ctx)
	return nil, ofNew(a.config.Auth.SetPassword(ctx, s, s.Name, in.Body.Old, in.Body.New))
}

func (a *API) disableUser(ctx context.Context, in *UserInput) (*Empty, error) {
	return nil, a.config.Auth.Disable(ctx, auth.From(ctx), in.User)
}

func (a *API) enableUser(ctx context.Context, in *UserInput) (*Empty, error) {
	return nil, a.config.Auth.Enable(ctx, auth.From(ctx), in.User)
}

func (a *API) deleteUser(ctx context.Context, in *UserInput) (*Empty, error) {
	return nil, a.config.Auth.DeleteUser(ctx, auth.From(ctx), in.User)
}

// LinkInput says how long the link works.
type LinkInput struct {
	UserInput
	Body *struct {
		TTL Period `json:"ttl,omitzero" doc:"How long it works."`
	}
}

// Secret is told once.
type Secret struct {
	Secret string `json:"secret" doc:"Told once: keep it."`
}

func (a *API) createLink(ctx context.Context, in *LinkInput) (*Made[Secret], error) {
	ttl := time.Duration(0)
	if in.Body != nil {
		ttl = time.Duration(in.Body.TTL)
	}
	secret, err := a.config.Auth.NewLink(ctx, auth.From(ctx), in.User, ttl)
	if err != nil {
		return nil, err
	}
	return &Made[Secret]{Status: http.StatusCreated, Body: Secret{secret}}, nil
}
