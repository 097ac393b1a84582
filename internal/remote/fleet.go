package remote

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/fleet"
	"github.com/weirhq/weir/internal/op"
)

// Fleets does with fleet jobs, devices and PCs what a store on the database does. It
// is a type of its own: jobs of the fleet are not those of the engine. Who asks, the
// server knows; by is not sent.
type Fleets struct{ client *Client }

// Fleets is the part of the client that is about fleets.
func (c *Client) Fleets() *Fleets { return &Fleets{client: c} }

// Submit submits a job. After a lost connection it tries again only if there is an
// idempotency key.
func (f *Fleets) Submit(ctx context.Context, _ string, spec fleet.Spec, idempotencyKey string) (out fleet.Job, err error) {
	_, err = f.client.do(ctx, call{method: http.MethodPost, path: []string{"fleet", "jobs"}, header: keyed(idempotencyKey), body: spec}, &out)
	return out, err
}

// Rerun runs a job again, or what of it ended so.
func (f *Fleets) Rerun(ctx context.Context, _ string, id weir.ID, which, idempotencyKey string) (out fleet.Job, err error) {
	body := map[string]string{}
	if which != "" {
		body["which"] = which
	}
	_, err = f.client.do(ctx, call{method: http.MethodPost, path: []string{"fleet", "jobs", id.String(), "rerun"}, header: keyed(idempotencyKey), body: body}, &out)
	return out, err
}

// Jobs lists jobs, the newest first.
func (f *Fleets) Jobs(ctx context.Context, by fleet.JobFilter, page view.Page) ([]fleet.Job, error) {
	return list[fleet.Job](ctx, f.client, values("state", by.State, "search", by.Search), page, "fleet", "jobs")
}

// Job reads one with its spec.
func (f *Fleets) Job(ctx context.Context, id weir.ID) (fleet.Job, error) {
	return one[fleet.Job](ctx, f.client, nil, "fleet", "jobs", id.String())
}

// Units lists the units of a job in order.
func (f *Fleets) Units(ctx context.Context, id weir.ID, by fleet.UnitFilter, page view.Page) ([]fleet.Unit, error) {
	return list[fleet.Unit](ctx, f.client, values("state", by.State, "device", by.Device, "pc", by.PC), page, "fleet", "jobs", id.String(), "units")
}

// Cancel cancels what is left of a job.
func (f *Fleets) Cancel(ctx context.Context, _ string, id weir.ID, reason string) (out fleet.Canceled, err error) {
	err = f.client.post(ctx, op.DecisionBody{Reason: reason}, &out, "fleet", "jobs", id.String(), "cancel")
	return out, err
}

// Why says why a job is not further.
func (f *Fleets) Why(ctx context.Context, id weir.ID, most int) (fleet.Why, error) {
	return one[fleet.Why](ctx, f.client, atMost(most), "fleet", "jobs", id.String(), "why")
}

// atMost asks for so many at most; zero leaves it to the server.
func atMost(most int) map[string][]string {
	if most <= 0 {
		return nil
	}
	return values("limit", strconv.Itoa(most))
}

// Policy reads what holds for all of the fleet.
func (f *Fleets) Policy(ctx context.Context) (fleet.Policy, error) {
	return one[fleet.Policy](ctx, f.client, nil, "fleet", "policy")
}

// SetPolicy changes it.
func (f *Fleets) SetPolicy(ctx context.Context, _ string, c fleet.PolicyChange) (out fleet.Policy, err error) {
	body := map[string]any{}
	text, err := json.Marshal(c)
	if err == nil {
		err = json.Unmarshal(text, &body)
	}
	if err != nil {
		return out, err
	}
	if c.NoHealth {
		body["health"] = nil
	}
	_, err = f.client.do(ctx, call{method: http.MethodPut, path: []string{"fleet", "policy"}, body: body}, &out)
	return out, err
}
