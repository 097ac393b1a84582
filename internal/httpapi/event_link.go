package httpapi

import (
	"context"
	"encoding/json"

	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/work"
)

// FollowInput is a link and what is sent to it.
type FollowInput struct {
	Link string `path:"link" maxLength:"100" doc:"As weir task link gave it."`
	Body *struct {
		Payload json.RawMessage `json:"payload,omitempty" doc:"Any JSON: the result of the step. At most 256 KiB."`
	}
}

// follow tells the task of a signed link that its event came. The link is the only
// credential, so a wrong one is told nothing but that.
func (a *API) follow(ctx context.Context, in *FollowInput) (*One[work.SignalOutput], error) {
	if a.config.Follow == nil {
		return nil, problem.New(problem.NotFound, "", "there is no such link, or no longer")
	}
	var payload json.RawMessage
	if in.Body != nil {
		payload = in.Body.Payload
	}
	n, err := a.config.Follow(ctx, in.Link, payload)
	return one(work.SignalOutput{Tasks: n}, err)
}
