package remote

import (
	"context"
	"net/http"
	"net/url"
	"slices"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/engine/view"
)

// page is a part of a list as it is sent.
type page[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next"`
}

// one reads one thing.
func one[T any](ctx context.Context, c *Client, query url.Values, path ...string) (out T, err error) {
	_, err = c.do(ctx, call{method: http.MethodGet, path: path, query: query}, &out)
	return out, err
}

// whole reads a list that has no pages.
func whole[T any](ctx context.Context, c *Client, query url.Values, path ...string) ([]T, error) {
	got, err := one[page[T]](ctx, c, query, path...)
	return got.Items, err
}

// values are the parameters that are set.
func values(pairs ...string) url.Values {
	query := url.Values{}
	for pair := range slices.Chunk(pairs, 2) {
		if name, value := pair[0], pair[1]; value != "" {
			query.Set(name, value)
		}
	}
	return query
}

// id is empty for none.
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

// Doctor checks every invariant of the database.
func (c *Client) Doctor(ctx context.Context, deep bool) ([]view.Finding, error) {
	return whole[view.Finding](ctx, c, values("deep", yes(deep)), "doctor")
}

// Overview reads the state of the whole.
func (c *Client) Overview(ctx context.Context) (view.Overview, error) {
	return one[view.Overview](ctx, c, nil, "overview")
}

// Search finds things by what a person types.
func (c *Client) Search(ctx context.Context, text string) ([]view.Hit, error) {
	return whole[view.Hit](ctx, c, values("q", text), "search")
}

// Health reads the state of the database.
func (c *Client) Health(ctx context.Context) (view.Health, error) {
	return one[view.Health](ctx, c, nil, "health")
}
