package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/engine/view"
)

// Content reads an artifact, and fails at its end if it is not the recorded one. It comes
// from the bucket if that can be reached, else through the server. The caller closes it.
func (c *Client) Content(ctx context.Context, a view.Artifact) (io.ReadCloser, error) {
	path := []string{"artifacts", strconv.FormatInt(a.ID, 10), "content"}
	response, err := c.open(ctx, path, nil)
	if err != nil {
		return nil, err
	}
	if response.StatusCode == http.StatusSeeOther {
		_ = response.Body.Close() // it is empty
		object, err := c.elsewhere(ctx, response.Header.Get("Location"))
		if err == nil {
			return blob.Verify(object, a.SHA256, a.Size), nil
		}
		if ctx.Err() != nil {
			return nil, err
		}
		if response, err = c.open(ctx, path, url.Values{"through": {"true"}}); err != nil {
			return nil, err
		}
	}
	return blob.Verify(response.Body, a.SHA256, a.Size), nil
}

// open begins to read an answer that is no JSON: 200, or 303 to another address.
func (c *Client) open(ctx context.Context, path []string, query url.Values) (*http.Response, error) {
	response, err := c.send(ctx, call{method: http.MethodGet, path: path, query: query, header: http.Header{"Accept": {"*/*"}}}, nil)
	if err != nil {
		return nil, c.unreachable(err)
	}
	if response.StatusCode == http.StatusOK || response.StatusCode == http.StatusSeeOther {
		return response, nil
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(response.Body, 1<<20)) // a part is enough
	return nil, c.refused(response, text)
}

// elsewhere reads an object from its bucket, without credentials of Weir.
func (c *Client) elsewhere(ctx context.Context, address string) (io.ReadCloser, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, errors.New("the address in the bucket is none") // the text of the error contains a secret
	}
	bucket := &http.Client{Transport: c.http.Transport}
	response, err := bucket.Do(r)
	if err != nil {
		var outer *url.Error
		if errors.As(err, &outer) {
			err = outer.Err
		}
		return nil, fmt.Errorf("read the artifact from its bucket: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		_ = response.Body.Close() // its body is for programs of the bucket
		return nil, fmt.Errorf("read the artifact from its bucket: it answered %s", response.Status)
	}
	return response.Body, nil
}
