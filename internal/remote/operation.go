package remote

import (
	"context"

	"github.com/weirhq/weir/internal/op"
)

// Call carries an operation out on the server, which knows who asks and what they may.
func (c *Client) Call(ctx context.Context, o op.Any, in, out any) error {
	d := o.Describe()
	path, body := d.Request(in)
	if _, silent := out.(*op.Nothing); silent {
		out = nil
	}
	_, err := c.do(ctx, call{method: d.Method, path: path, body: body}, out)
	return err
}
