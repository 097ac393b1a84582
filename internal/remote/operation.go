package remote

import (
	"context"

	"github.com/weirhq/weir/internal/op"
)

// Call carries an operation out on the server, which knows who asks and what they may.
func (c *Client) Call(ctx context.Context, o op.Any, in, out any) error {
	d := o.Describe()
	r := d.Request(in)
	if _, silent := out.(*op.Nothing); silent {
		out = nil
	}
	_, err := c.do(ctx, call{method: d.Method, path: r.Path, query: r.Query, header: r.Header, body: r.Body, once: d.Once}, out)
	return err
}
