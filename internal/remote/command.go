package remote

import (
	"context"
	"net/http"
	"net/url"

	"github.com/weirhq/weir"
)

// drop deletes something by its name.
func (c *Client) drop(ctx context.Context, query url.Values, path ...string) error {
	_, err := c.do(ctx, call{method: http.MethodDelete, path: path, query: query}, nil)
	return err
}

// Tail is the cursor of now.
func (c *Client) Tail(ctx context.Context) (weir.Cursor, error) {
	out, err := one[struct{ Cursor weir.Cursor }](ctx, c, nil, "timeline", "tail")
	return out.Cursor, err
}
