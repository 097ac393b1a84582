package remote

import (
	"context"
	"net/http"
	"net/url"
	"slices"

	"github.com/weirhq/weir"
)

// one reads one object.
func one[T any](ctx context.Context, c *Client, query url.Values, path ...string) (out T, err error) {
	_, err = c.do(ctx, call{method: http.MethodGet, path: path, query: query}, &out)
	return out, err
}

// values returns the parameters that are set.
func values(pairs ...string) url.Values {
	query := url.Values{}
	for pair := range slices.Chunk(pairs, 2) {
		if name, value := pair[0], pair[1]; value != "" {
			query.Set(name, value)
		}
	}
	return query
}

// id returns the text of an id, "" for none.
func id(id weir.ID) string {
	if id.IsZero() {
		return ""
	}
	return id.String()
}

func yes(b bool) string {
	if b {
		return "true"
	}
	return ""
}
