package account

import (
	"context"
	"net/http"
	"time"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/op"
)

// ListingTokens selects the owner of the tokens.
type ListingTokens struct {
	All bool `query:"all" doc:"Everybody's; for admins."`
}

// CreatingToken is a new token. A user has one token of a name, so a create that is sent again
// is a conflict and creates no second one. The secret of the first is not returned again:
// revoke that token and create another.
type CreatingToken struct {
	// User is the owner. Only the system sets it, because it has no user of its own; it
	// is not sent to a server.
	User string
	Body TokenBody
}

// TokenBody describes a token to create.
type TokenBody struct {
	Name   string    `json:"name" flag:"NAME" doc:"What it is for."`
	Scopes []string  `json:"scopes" flag:"scope" doc:"What it may do: KIND:VERB, with * for all, such as *:read or task:submit; may be repeated."`
	TTL    op.Period `json:"ttl,omitzero" doc:"How long it lives, at most 366d; default: 90d."`
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

// ListingSessions selects the owner of the sessions.
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
	RevokeSession = op.New(own(on("session", http.MethodDelete, "revoke", "/sessions/{session}", auth.Manage,
		"End a session")),
		func(ctx context.Context, s *auth.Store, who auth.Subject, in *NamedSession) (op.Nothing, error) {
			return op.Nothing{}, s.RevokeSession(ctx, who, in.Session)
		})
)

func listSessions(
	ctx context.Context, s *auth.Store, who auth.Subject, in *ListingSessions,
) (none op.Page[auth.Session], err error) {
	owner := who.UserID
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

// CreatingJoin is a new join token. A create that is sent again makes a second secret; the
// first one expires unused.
type CreatingJoin struct{ Body JoinBody }

// JoinBody names the node and restricts what it may be.
type JoinBody struct {
	Node string    `json:"node,omitempty" maxLength:"200" doc:"Name the node must have; one that has it now is replaced."`
	TTL  op.Period `json:"ttl,omitzero" doc:"How long it works; default: 1h."`

	Labels   map[string]string `json:"labels,omitzero" doc:"Labels the node has, whatever its agent says: KEY=VALUE; default: those of the agent."`
	Services map[string]int    `json:"services,omitzero" flag:"service" doc:"Services the node may do, and the most at once of each: NAME=N; default: what the agent offers."`
	Any      bool              `json:"any,omitempty" doc:"Let the node take any work, as its agent says; needed where neither labels nor services are named."`
}

// NamedJoin names a join token.
type NamedJoin struct {
	Join string `path:"join" flag:"ID" maxLength:"64"`
}

// NamedNode names a node that has joined.
type NamedNode struct {
	Node string `path:"node" flag:"NAME" maxLength:"200"`
}

// Operations on join tokens, and on the credentials of nodes that joined.
var (
	ListJoins = op.New(on("join", http.MethodGet, "list", "/joins", auth.Read,
		"List the secrets with which nodes may join"),
		func(ctx context.Context, s *auth.Store, who auth.Subject, _ *struct{}) (op.Page[auth.Join], error) {
			joins, err := s.Joins(ctx, who)
			return op.PageOf(joins, ""), err
		})
	CreateJoin = op.New(on("join", http.MethodPost, "create", "/joins", auth.Manage,
		"Make a one-time secret with which a node joins"),
		func(ctx context.Context, s *auth.Store, who auth.Subject, in *CreatingJoin) (Secret, error) {
			b := &in.Body
			secret, err := s.CreateJoin(ctx, who, auth.NewJoin{
				Node: b.Node, Bound: auth.Bound{Labels: b.Labels, Services: b.Services}, Any: b.Any, TTL: time.Duration(b.TTL),
			})
			return Secret{secret}, err
		})
	RevokeJoin = op.New(on("join", http.MethodDelete, "revoke", "/joins/{join}", auth.Manage, "Take such a secret back"),
		func(ctx context.Context, s *auth.Store, who auth.Subject, in *NamedJoin) (op.Nothing, error) {
			return op.Nothing{}, s.RevokeJoin(ctx, who, in.Join)
		})
	RevokeNode = op.New(on("node", http.MethodDelete, "revoke", "/nodes/{node}/credential", auth.Manage,
		"Take a node's credential away"),
		func(ctx context.Context, s *auth.Store, who auth.Subject, in *NamedNode) (op.Nothing, error) {
			return op.Nothing{}, s.RevokeNode(ctx, who, in.Node)
		})
)
