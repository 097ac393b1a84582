package remote

import (
	"context"

	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
)

// Call carries an operation out on the server, which identifies the caller and checks the
// right.
func (c *Client) Call(ctx context.Context, o op.Any, in, out any) error {
	d := o.Describe()
	r := d.Request(in)
	for _, part := range r.Path {
		if part == "" || part == "." || part == ".." { // not valid in an address
			return problem.New(problem.NotFound, "see what there is: weir "+d.Noun+" list", "there is no %s %q", d.Noun, part)
		}
	}
	if _, silent := out.(*op.Nothing); silent {
		out = nil
	}
	_, err := c.do(ctx, call{method: d.Method, path: r.Path, query: r.Query, header: r.Header, body: r.Body, once: d.Once}, out)
	return err
}
