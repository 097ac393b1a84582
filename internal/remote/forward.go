package remote

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"github.com/weirhq/weir/internal/fleet/tunnel"
)

// Forward opens the user's end of a forward to a port of a device. force does without a
// reservation. It waits until the agent of the device's PC has taken the forward up.
func (c *Client) Forward(ctx context.Context, serial string, port int, force bool) (*tunnel.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	query := url.Values{"port": {strconv.Itoa(port)}}
	if force {
		query.Set("force", "true")
	}
	address := c.base.String() + prefix + "/devices/" + url.PathEscape(serial) + "/forward?" + query.Encode()
	header := http.Header{"User-Agent": {c.agent}}
	if c.token != "" && len(c.http.Jar.Cookies(c.base)) == 0 {
		header.Set("Authorization", "Bearer "+c.token)
	}
	conn, answer, err := tunnel.Dial(ctx, c.http, address, header)
	switch {
	case err == nil:
		return conn, nil
	case answer == nil || answer.Body == nil:
		return nil, c.unreachable(err)
	}
	text, _ := io.ReadAll(io.LimitReader(answer.Body, answerLimit)) // what there is of it
	return nil, c.refused(answer, text)
}
