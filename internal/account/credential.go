package account

import (
	"context"
	"net/http"
	"time"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/op"
)

// ListingTokens says whose.
type ListingTokens struct {
	All bool `query:"all" doc:"Everybody's; for admins."`
}

// CreatingToken is a new token. A user has one token of a name, so a create that is sent again
// is a conflict and makes no second one. The secret of the first is not told again: revoke that
// token and make another.
type CreatingToken struct {
	// User is whose it is. Only the system says so, which has no user of its own; it does
	// not travel.
	User string
	Body TokenBody
}

// TokenBody is what a token is made of.
type TokenBody struct {
	Name   string    `json:"name" doc:"What it is for."`
	Scopes []string  `json:"scopes" doc:"kind:verb, with * for all: *:read, task:submit."`
	TTL    op.Period `json:"ttl,omitzero" doc:"How long it lives, at most 366d. Default: 90d."`
}

// TokenMade is a token with its secret.
type TokenMade struct {
	Token  auth.Token `json:"token"`
	Secret string     `json:"secret" doc:"Told once: keep it."`
}

// Place implements [op.Made].
func (m TokenMade) Place() []string { return []string{"tokens", m.Token.ID} }

// NamedToken names a token.
type NamedToken struct {
	Token string `path:"token" flag:"ID" maxLength:"64"`
}

// Operations on tokens.
var (
	ListTokens = op.New(own(on("token", http.MethodGet, "list", "/tokens", auth.Read,
		"List one's own tokens, or everybody's")),
		func(ctx context.Context, s *auth.Store, who auth.Subject, in *ListingTokens) (op.Page[auth.Token], error) {
			tokens, err := s.Tokens(ctx, who, in.All || who.Kind == auth.KindSystem)
			return op.PageOf(tokens, ""), err
		})
	CreateToken = op.New(own(on("token", http.MethodPost, "create", "/tokens", auth.Manage,
		"Create a token; the secret is told once")),
		func(ctx context.Context, s *auth.Store, who auth.Subject, in *CreatingToken) (made TokenMade, err error) {
			made.Token, made.Secret, err = s.CreateToken(ctx, who, auth.NewToken{
				Name: in.Body.Name, Scopes: in.Body.Scopes, TTL: time.Duration(in.Body.TTL), User: in.User,
			})
			return made, err
		})
	RevokeToken = op.New(own(on("token", http.MethodDelete, "revoke", "/tokens/{token}", auth.Manage, "Revoke a token")),
		func(ctx context.Context, s *auth.Store, who auth.Subject, in *NamedToken) (op.Nothing, error) {
			return op.Nothing{}, s.RevokeToken(ctx, who, in.Token)
		})
)

// ListingSessions says whose.
type ListingSessions struct {
	User string `query:"user" maxLength:"200" doc:"The name of the user; left out: one's own."`
	All  bool   `query:"all" doc:"Everybody's; for admins."`
}

// NamedSession names a session.
type NamedSession struct {
	Session string `path:"session" flag:"ID" maxLength:"64"`
}

// Operations on sessions.
var (
	ListSessions = op.New(own(on("session", http.MethodGet, "list", "/sessions", auth.Read,
		"List one's own sessions, or another's")), listSessions)
	RevokeSession = op.New(own(on("session", http.MethodDelete, "revoke", "/sessions/{session}", auth.Manage, "End a session")),
		func(ctx context.Context, s *auth.Store, who auth.Subject, in *NamedSession) (op.Nothing, error) {
			return op.Nothing{}, s.RevokeSession(ctx, who, in.Session)
		})
)

func listSessions(ctx context.Context, s *auth.Store, who auth.Subject, in *ListingSessions) (op.Page[auth.Session], error) {
	none, owner := op.Page[auth.Session]{}, who.UserID
	switch {
	case in.All:
		owner = ""
	case in.User != "":
		user, err := seen(ctx, s, who, in.User)
		if err != nil {
			return none, err
		}
		owner = user.ID
	}
	if err := auth.Allow(who, auth.Read, auth.Object{Kind: "session", Owner: owner}); err != nil {
		return none, err
	}
	sessions, err := s.Sessions(ctx, owner)
	return op.PageOf(sessions, ""), err
}
