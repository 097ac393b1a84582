package httpapi

import (
	"context"
	"errors"

	"github.com/weirhq/weir"
)

// Defined is a definition with its version.
type Defined[T any] struct {
	Status int
	ETag   string `header:"ETag" doc:"Names this version, for If-Match."`
	Body   T
}

// inTurn lets one at a time read a definition and write over it.
func (a *API) inTurn(ctx context.Context, f func() error) error {
	select {
	case a.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-a.turn }()
	return f()
}

// lookup reads something that may not be there.
func lookup[T any](v T, err error) (T, bool, error) {
	if errors.Is(err, weir.ErrNotFound) {
		return v, false, nil
	}
	return v, err == nil, err
}
