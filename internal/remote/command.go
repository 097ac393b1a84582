package remote

import (
	"context"

	"github.com/weirhq/weir"
)

// Tail is the cursor of now.
func (c *Client) Tail(ctx context.Context) (weir.Cursor, error) {
	out, err := one[struct{ Cursor weir.Cursor }](ctx, c, nil, "timeline", "tail")
	return out.Cursor, err
}
