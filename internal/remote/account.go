package remote

import (
	"context"
	"net/http"

	"github.com/weirhq/weir/internal/account"
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

// Me says who asks.
func (c *Client) Me(ctx context.Context) (account.Identity, error) {
	return one[account.Identity](ctx, c, nil, "me")
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
