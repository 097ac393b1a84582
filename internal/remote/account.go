package remote

import (
	"context"
	"net/http"

	"github.com/weirhq/weir/internal/auth"
)

// Version says what a server is.
type Version struct {
	Version string `json:"version"`
	API     string `json:"api"`
}

// Version asks which version answers.
func (c *Client) Version(ctx context.Context) (Version, error) {
	return one[Version](ctx, c, nil, "version")
}

// Login logs in with a password. From then on the client asks as that person,
// not with its token: people may do more than tokens.
func (c *Client) Login(ctx context.Context, name, password string) error {
	return c.post(ctx, map[string]string{"name": name, "password": password}, nil, "login")
}

// Logout ends the session.
func (c *Client) Logout(ctx context.Context) error { return c.post(ctx, nil, nil, "logout") }

// Me says who asks.
func (c *Client) Me(ctx context.Context) (auth.Subject, error) {
	me, err := one[struct {
		Kind    string    `json:"kind"`
		Name    string    `json:"name"`
		UserID  string    `json:"user_id"`
		Role    auth.Role `json:"role"`
		Token   string    `json:"token"`
		Scopes  []string  `json:"scopes"`
		Session string    `json:"session"`
	}](ctx, c, nil, "me")
	return auth.Subject{Kind: me.Kind, Name: me.Name, UserID: me.UserID, Role: me.Role, Token: me.Token, Scopes: me.Scopes, Session: me.Session}, err
}

func (c *Client) post(ctx context.Context, body, out any, path ...string) error {
	_, err := c.do(ctx, call{method: http.MethodPost, path: path, body: body}, out)
	return err
}

// secret is told once.
type secret struct {
	Secret string `json:"secret"`
}

// ttl is how long something works; zero is the server's own idea.
type ttl struct {
	TTL period `json:"ttl,omitzero"`
}

// Joins lists the secrets with which nodes may join.
func (c *Client) Joins(ctx context.Context) ([]auth.Join, error) {
	return whole[auth.Join](ctx, c, nil, "joins")
}

// CreateJoin makes a secret with which a node joins. It is told once, here.
func (c *Client) CreateJoin(ctx context.Context, n auth.NewJoin) (string, error) {
	var made secret
	err := c.post(ctx, struct {
		Node string `json:"node,omitempty"`
		auth.Bound
		Any bool `json:"any,omitempty"`
		ttl
	}{n.Node, n.Bound, n.Any, ttl{period(n.TTL)}}, &made, "joins")
	return made.Secret, err
}

// RevokeJoin takes such a secret back.
func (c *Client) RevokeJoin(ctx context.Context, id string) error {
	return c.drop(ctx, nil, "joins", id)
}

// Join turns a one-time secret into the credential of a node.
func (c *Client) Join(ctx context.Context, secret, node string) (credential string, err error) {
	var made struct{ Credential string }
	err = c.post(ctx, map[string]string{"secret": secret, "node": node}, &made, "join")
	return made.Credential, err
}

// RevokeNode takes a node's credential away.
func (c *Client) RevokeNode(ctx context.Context, node string) error {
	return c.drop(ctx, nil, "nodes", node, "credential")
}
