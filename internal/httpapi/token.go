package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/weirhq/weir/internal/auth"
)

// ListTokensInput says whose.
type ListTokensInput struct {
	All bool `query:"all" doc:"Everybody's; for admins."`
}

func (a *API) listTokens(ctx context.Context, in *ListTokensInput) (*All[auth.Token], error) {
	tokens, err := a.config.Auth.Tokens(ctx, auth.From(ctx), in.All)
	if err != nil {
		return nil, err
	}
	return all(tokens), nil
}

// CreateTokenInput is a new token. A user has one token of a name, so a create
// that is sent again is a conflict and makes no second one. The secret of the
// first is not told again: revoke that token and make another.
type CreateTokenInput struct {
	Body struct {
		Name   string   `json:"name" doc:"What it is for."`
		Scopes []string `json:"scopes" doc:"kind:verb, with * for all: *:read, task:submit."`
		TTL    Period   `json:"ttl,omitzero" doc:"How long it lives, at most 366d. Default: 90d."`
	}
}

// TokenMade is a token with its secret.
type TokenMade struct {
	Token  auth.Token `json:"token"`
	Secret string     `json:"secret" doc:"Told once: keep it."`
}

func (a *API) createToken(ctx context.Context, in *CreateTokenInput) (*Made[TokenMade], error) {
	b := &in.Body
	token, secret, err := a.config.Auth.CreateToken(ctx, auth.From(ctx), auth.NewToken{Name: b.Name, Scopes: b.Scopes, TTL: time.Duration(b.TTL)})
	if err != nil {
		return nil, err
	}
	return &Made[TokenMade]{Status: http.StatusCreated, Location: location("tokens", token.ID), Body: TokenMade{token, secret}}, nil
}

// TokenInput names a token.
type TokenInput struct {
	Token string `path:"token" maxLength:"64"`
}

func (a *API) revokeToken(ctx context.Context, in *TokenInput) (*Empty, error) {
	return nil, a.config.Auth.RevokeToken(ctx, auth.From(ctx), in.Token)
}
