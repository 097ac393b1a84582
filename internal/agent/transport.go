package agent

import (
	"context"
	"io"
	"time"

	"github.com/weirhq/weir/internal/node"
)

// Transport is how an agent talks to Weir: [node.Desk] over SQL, or HTTPS. [node.Desk]
// documents the answers. Every call can be repeated.
type Transport interface {
	Register(ctx context.Context, info node.Info) error
	Heartbeat(ctx context.Context) (node.Orders, error)
	// Faults reports everything that is broken on the node.
	Faults(ctx context.Context, faults []node.Fault) error
	// Devices reports all attached devices; the answer says which attempts have lost
	// theirs.
	Devices(ctx context.Context, report node.DeviceReport) (node.DeviceOrders, error)
	// Claim returns at once when ctx ends; a claim that was made all the same is found
	// again by its ID.
	Claim(ctx context.Context, request node.ClaimRequest) (node.Claimed, error)
	Start(ctx context.Context, leases []node.Lease, length time.Duration) ([]node.Refusal, error)
	Renew(ctx context.Context, leases []node.Lease, length time.Duration) ([]node.Refusal, error)
	Record(ctx context.Context, notes []node.Note) ([]node.Refusal, error)
	End(ctx context.Context, outcomes []node.Outcome) ([]node.Refusal, error)
	// Report does what Start, Record, AppendLog and End do, in one call.
	Report(ctx context.Context, told node.Told) (node.Heard, error)
	Secrets(ctx context.Context, lease node.Lease) (map[string]string, error)
	Upload(ctx context.Context, lease node.Lease, meta node.ArtifactMeta, r io.Reader) error
	AppendLog(ctx context.Context, lease node.Lease, chunk node.LogChunk) error
	Inputs(ctx context.Context, lease node.Lease) ([]node.InputObject, error)
	Fetch(ctx context.Context, lease node.Lease, key string) (io.ReadCloser, error)
	Stop(ctx context.Context) error
	// Detach reports that the agent stops and its work goes on.
	Detach(ctx context.Context) error
}

var _ Transport = (*node.Desk)(nil)
