package httpapi

import (
	"context"
	"net/url"

	"github.com/weirhq/weir/internal/op"
)

// Listed is the answer of a list.
type Listed[T any] struct {
	Link string `header:"Link" doc:"The address of the next page, rel=next."`
	Body op.Page[T]
}

// pageOf makes the answer of a list whose next page is known.
func pageOf[T any](ctx context.Context, items []T, param, next string) *Listed[T] {
	out := &Listed[T]{Body: op.PageOf(items, next)}
	if r := exchangeOf(ctx).r; r != nil && next != "" {
		query := r.URL.Query()
		query.Set(param, next)
		link := url.URL{Path: r.URL.Path, RawQuery: query.Encode()}
		out.Link = "<" + link.String() + `>; rel="next"`
	}
	return out
}

// One is an answer with one object.
type One[T any] struct{ Body T }

func one[T any](v T, err error) (*One[T], error) {
	if err != nil {
		return nil, err
	}
	return &One[T]{v}, nil
}

// Made is the answer of a create: 201, or 200 if the object existed already.
type Made[T any] struct {
	Status   int
	Location string `header:"Location" doc:"Where it is."`
	Body     T
}

// Defined is a definition with its version.
type Defined[T any] struct {
	Status int
	ETag   string `header:"ETag" doc:"Names this version, for If-Match."`
	Body   T
}

// Empty is an answer without a body: success.
type Empty struct{}

// location returns the address of a created object.
func location(parts ...string) string {
	text := prefix
	for _, part := range parts {
		text += "/" + url.PathEscape(part)
	}
	return text
}
