package httpapi

import (
	"context"
	"net/http"

	"github.com/weirhq/weir/internal/account"
	"github.com/weirhq/weir/internal/auth"
)

func (a *API) me(ctx context.Context, _ *struct{}) (*One[account.Identity], error) {
	return one(account.IdentityOf(auth.From(ctx)), nil)
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

// JoinInput is the request of a machine to become a node.
type JoinInput struct {
	Body struct {
		Secret string `json:"secret" maxLength:"200"`
		Node   string `json:"node" maxLength:"200"`
	}
}

// Credential is the credential that a node uses from now on.
type Credential struct {
	Credential string `json:"credential" doc:"Told once: keep it."`
}

func (a *API) join(ctx context.Context, in *JoinInput) (*Made[Credential], error) {
	credential, err := a.config.Auth.Join(ctx, in.Body.Secret, in.Body.Node)
	if err != nil {
		return nil, err
	}
	return &Made[Credential]{Status: http.StatusCreated, Body: Credential{credential}}, nil
}

// VersionOutput names the program and version that answers.
type VersionOutput struct {
	Version string `json:"version" doc:"Of the program."`
	API     string `json:"api" doc:"Of this interface."`
}

func (a *API) version(context.Context, *struct{}) (*One[VersionOutput], error) {
	return one(VersionOutput{a.config.Version, "v1"}, nil)
}
