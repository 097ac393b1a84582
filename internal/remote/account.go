package remote

import (
	"context"
	"net/http"

	"github.com/weirhq/weir/internal/auth"
)

// Version describes a server.
type Version struct {
	Version string `json:"version"`
	API     string `json:"api"`
}

// Version asks the server for its version.
func (c *Client) Version(ctx context.Context) (Version, error) {
	return one[Version](ctx, c, nil, "version")
}

// Login logs in with a password. From then on the client acts as that person, not with
// its token, because people may do more than tokens.
func (c *Client) Login(ctx context.Context, name, password string) error {
	return c.post(ctx, map[string]string{"name": name, "password": password}, nil, "login")
}

// Logout ends the session.
func (c *Client) Logout(ctx context.Context) error { return c.post(ctx, nil, nil, "logout") }

// Me returns the subject of the client.
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

// Join turns a one-time secret into the credential of a node.
func (c *Client) Join(ctx context.Context, secret, node string) (credential string, err error) {
	var made struct{ Credential string }
	err = c.post(ctx, map[string]string{"secret": secret, "node": node}, &made, "join")
	return made.Credential, err
}
