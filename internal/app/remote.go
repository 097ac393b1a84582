package app

import (
	"context"
	"os"
	"slices"
	"time"

	"github.com/weirhq/weir/internal/account"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/remote"
)

// byeWithin is how long a command waits for a server to end its session.
const byeWithin = 5 * time.Second

// connectServer makes a session on a server's API. Nothing is sent yet.
func connectServer(t Target, version string) (*Session, error) {
	client, err := remote.New(remote.Config{Server: t.Server, Token: t.Token, Version: version})
	if err != nil {
		return nil, err
	}
	s := &Session{server: client, Follow: client.Follow, Operations: client, Target: t, version: client.Version, close: client.Close}
	s.login = func(ctx context.Context, name, password string) error {
		if err := client.Login(ctx, name, password); err != nil {
			return err
		}
		s.close = func() {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), byeWithin)
			defer cancel()
			_ = client.Logout(ctx) // else it ends by itself
			client.Close()
		}
		return nil
	}
	return s, nil
}

// ServerVersion asks a server which version it is and which API it speaks.
func (s *Session) ServerVersion(ctx context.Context) (remote.Version, error) {
	return s.version(ctx)
}

// Credentials are how a person becomes known at a server.
type Credentials struct {
	Name, Password string
	// TTL is how long the token that is made is good. Zero: the server decides.
	TTL time.Duration
	// Token is one that is there already: then none is made.
	Token string
}

// Enroll makes a context for a server: with the token that was given, or with a
// new one for the person who logs in.
func Enroll(ctx context.Context, server, version string, c Credentials) (Context, error) {
	client, err := remote.New(remote.Config{Server: server, Token: c.Token, Version: version})
	if err != nil {
		return Context{}, err
	}
	defer client.Close()
	if c.Token != "" {
		me, err := client.Me(ctx)
		if err != nil {
			return Context{}, err
		}
		if me.Kind == "" {
			return Context{}, problem.New(problem.Unauthenticated, "make a new one with: weir token create", "%s does not know this token", server)
		}
		return Context{Server: server, Token: c.Token, User: me.Name}, nil
	}
	if err := client.Login(ctx, c.Name, c.Password); err != nil {
		return Context{}, err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), byeWithin)
		defer cancel()
		_ = client.Logout(ctx) // else it ends by itself
	}()
	return enrolled(ctx, client, server, c)
}

// enrolled makes the token of this machine. One of an earlier login here is
// replaced: nobody holds it any more.
func enrolled(ctx context.Context, client *remote.Client, server string, c Credentials) (Context, error) {
	name := "weir login on " + hostname()
	if u := os.Getenv("USER"); u != "" {
		name = "weir login of " + u + " on " + hostname()
	}
	tokens, err := account.ListTokens.Call(ctx, client, &account.ListingTokens{})
	if err != nil {
		return Context{}, err
	}
	if i := slices.IndexFunc(tokens.Items, func(t auth.Token) bool { return t.Name == name }); i >= 0 {
		if _, err := account.RevokeToken.Call(ctx, client, &account.NamedToken{Token: tokens.Items[i].ID}); err != nil {
			return Context{}, err
		}
	}
	made, err := account.CreateToken.Call(ctx, client, &account.CreatingToken{
		Body: account.TokenBody{Name: name, Scopes: []string{"*:*"}, TTL: op.Period(c.TTL)},
	})
	if err != nil {
		return Context{}, err
	}
	return Context{Server: server, Token: made.Secret, User: made.Token.User, TokenID: made.Token.ID}, nil
}

// Resign ends the token of a context at its server.
func Resign(ctx context.Context, c Context, version string) error {
	client, err := remote.New(remote.Config{Server: c.Server, Token: c.Token, Version: version})
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(ctx, byeWithin)
	defer cancel()
	return client.Logout(ctx)
}
