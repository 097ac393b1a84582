package httpapi

import (
	"context"

	"github.com/weirhq/weir/internal/account"
	"github.com/weirhq/weir/internal/auth"
)

// ListSessionsInput says whose.
type ListSessionsInput struct {
	User string `query:"user" maxLength:"200" doc:"The name of the user; left out: one's own."`
	All  bool   `query:"all" doc:"Everybody's; for admins."`
}

func (a *API) listSessions(ctx context.Context, in *ListSessionsInput) (*All[auth.Session], error) {
	s := auth.From(ctx)
	owner := s.UserID
	switch {
	case in.All:
		owner = ""
	case in.User != "":
		user, err := account.ShowUser.Call(ctx, a.config.Operations, &account.NamedUser{User: in.User})
		if err != nil {
			return nil, err
		}
		owner = user.ID
	}
	if err := auth.Allow(s, auth.Read, auth.Object{Kind: "session", Owner: owner}); err != nil {
		return nil, err
	}
	sessions, err := a.config.Auth.Sessions(ctx, owner)
	if err != nil {
		return nil, err
	}
	return all(sessions), nil
}

// SessionInput names a session.
type SessionInput struct {
	Session string `path:"session" maxLength:"64"`
}

func (a *API) revokeSession(ctx context.Context, in *SessionInput) (*Empty, error) {
	return nil, a.config.Auth.RevokeSession(ctx, auth.From(ctx), in.Session)
}
