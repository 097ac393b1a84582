package httpapi

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/weirhq/weir/internal/auth/door"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/workflow"
)

// DeliveryInput is a delivery to a webhook. Its headers are read from the request.
type DeliveryInput struct {
	Trigger string          `path:"trigger" maxLength:"100"`
	Body    json.RawMessage `doc:"Any JSON, at most 1 MiB."`
	RawBody []byte
}

// deliver starts the run of a delivery. A wrong signature, a missing one and a trigger that
// does not exist have the same answer.
func (a *API) deliver(ctx context.Context, in *DeliveryInput) (*One[workflow.Delivered], error) {
	x := exchangeOf(ctx)
	if a.config.Deliver == nil || x.r == nil {
		return nil, workflow.ErrUnsigned
	}
	from := door.ClientOf(x.r)
	out, err := a.config.Deliver(ctx, workflow.Delivery{Trigger: in.Trigger, Header: x.r.Header, Body: in.RawBody, Address: from.Address})
	if errors.Is(err, workflow.ErrUnsigned) {
		if late := a.config.Auth.Unsigned(ctx, from); late != nil {
			return nil, late
		}
	}
	if err == nil && out.State == "failed" {
		err = problem.New(problem.Invalid, "mend the trigger, or what is sent to it; see weir trigger firings", "the delivery started nothing: %s", out.Reason)
	}
	return one(out, err)
}
