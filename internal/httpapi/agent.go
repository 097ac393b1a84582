package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/node/wire"
	"github.com/weirhq/weir/internal/problem"
)

// Desk is the counterpart of the agent of one node: the agent claims work there and
// reports on it. Every call checks that the lease belongs to this node. [*node.Desk] is
// one.
type Desk interface {
	Register(ctx context.Context, info node.Info) error
	Heartbeat(ctx context.Context) (node.Orders, error)
	// Faults reports everything that is broken on the node.
	Faults(ctx context.Context, faults []node.Fault) error
	// Devices reports the devices that are attached to the node, and returns the attempts
	// that have lost theirs.
	Devices(ctx context.Context, report node.DeviceReport) (node.DeviceOrders, error)
	// Claim waits for work as long as the request allows, or until ctx ends.
	Claim(ctx context.Context, request node.ClaimRequest) (node.Claimed, error)
	Start(ctx context.Context, leases []node.Lease, length time.Duration) ([]node.Refusal, error)
	Renew(ctx context.Context, leases []node.Lease, length time.Duration) ([]node.Refusal, error)
	Record(ctx context.Context, notes []node.Note) ([]node.Refusal, error)
	End(ctx context.Context, outcomes []node.Outcome) ([]node.Refusal, error)
	// Report does what Start, Record, AppendLog and End do, in one call.
	Report(ctx context.Context, told node.Told) (node.Heard, error)
	Secrets(ctx context.Context, lease node.Lease) (map[string]string, error)
	AppendLog(ctx context.Context, lease node.Lease, chunk node.LogChunk) error
	// Upload stores an object; Presign and Commit let the node put it into the bucket
	// itself. A bucket without presigned addresses returns [blob.ErrNoPresign].
	Upload(ctx context.Context, lease node.Lease, meta node.ArtifactMeta, body io.Reader) error
	Presign(ctx context.Context, lease node.Lease, meta node.ArtifactMeta) (url string, err error)
	Commit(ctx context.Context, lease node.Lease, meta node.ArtifactMeta) error
	Inputs(ctx context.Context, lease node.Lease) ([]node.InputObject, error)
	Fetch(ctx context.Context, lease node.Lease, key string) (io.ReadCloser, error)
	PresignInput(ctx context.Context, lease node.Lease, key string) (url string, err error)
	Stop(ctx context.Context) error
	// Detach records that the agent stops and its work goes on.
	Detach(ctx context.Context) error
}

// pollsEach limits the claims that one node has waiting: an agent needs one, and one more
// while the answer of the first is lost.
const pollsEach, pollsMost = 8, 20_000

// errStopping ends waiting requests when the server stops.
var errStopping = problem.New(problem.Unreachable, "ask again: another server answers, or this one when it is back", "the server is stopping")

// desk returns the desk of the calling node.
func (a *API) desk(ctx context.Context) (Desk, error) {
	if a.config.Desks == nil {
		return nil, problem.New(problem.NotFound, "ask the server that does", "this server takes no agents")
	}
	subject := auth.From(ctx)
	// The route has checked the right already; this finds the node.
	if subject.Kind != auth.KindNode || subject.ID == "" {
		return nil, problem.New(problem.Forbidden, "use the credential of a node", "only a node has leases")
	}
	return a.config.Desks(subject.ID), nil
}

// RegisterInput is the description of a machine by its agent.
type RegisterInput struct{ Body wire.Info }

func (a *API) agentRegister(ctx context.Context, in *RegisterInput) (*Empty, error) {
	desk, err := a.desk(ctx)
	if err != nil {
		return nil, err
	}
	return nil, desk.Register(ctx, in.Body.Node(auth.From(ctx).ID))
}

func (a *API) agentHeartbeat(ctx context.Context, _ *struct{}) (*One[wire.Orders], error) {
	desk, err := a.desk(ctx)
	if err != nil {
		return nil, err
	}
	orders, err := desk.Heartbeat(ctx)
	return one(wire.OrdersOf(orders), err)
}

// FaultsInput lists what is broken on a node.
type FaultsInput struct{ Body wire.Faults }

func (a *API) agentFaults(ctx context.Context, in *FaultsInput) (*Empty, error) {
	desk, err := a.desk(ctx)
	if err != nil {
		return nil, err
	}
	return nil, desk.Faults(ctx, in.Body.Node())
}

// DevicesInput lists the devices that a PC sees.
type DevicesInput struct{ Body wire.Devices }

func (a *API) agentDevices(ctx context.Context, in *DevicesInput) (*One[wire.DeviceOrders], error) {
	desk, err := a.desk(ctx)
	if err != nil {
		return nil, err
	}
	orders, err := desk.Devices(ctx, in.Body.Node())
	return one(wire.DeviceOrdersOf(orders), err)
}

func (a *API) agentStop(ctx context.Context, _ *struct{}) (*Empty, error) {
	desk, err := a.desk(ctx)
	if err != nil {
		return nil, err
	}
	return nil, desk.Stop(ctx)
}

func (a *API) agentDetach(ctx context.Context, _ *struct{}) (*Empty, error) {
	desk, err := a.desk(ctx)
	if err != nil {
		return nil, err
	}
	return nil, desk.Detach(ctx)
}

// ClaimInput asks for work.
type ClaimInput struct{ Body wire.Claim }

// agentClaim waits for work. It ends at once when the client disconnects, which ends ctx,
// and when the server stops.
func (a *API) agentClaim(ctx context.Context, in *ClaimInput) (*One[wire.Claimed], error) {
	desk, err := a.desk(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := weir.ParseID(in.Body.ID); err != nil {
		return nil, problem.Refuse("id", "make one for each claim, and repeat it when the answer is lost", "a claim is named by a UUID")
	}
	leave, err := a.polls.Take(auth.From(ctx))
	if err != nil {
		return nil, err
	}
	defer leave()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(a.life, func() { cancel(errStopping) })()
	got, err := desk.Claim(ctx, in.Body.Node(a.longestWait()))
	if err != nil && errors.Is(context.Cause(ctx), errStopping) {
		return nil, errStopping
	}
	return one(wire.ClaimedOf(got), err)
}

// longestWait leaves the rest of the request's time to the last claim and its answer.
func (a *API) longestWait() time.Duration { return a.config.Timeout * 5 / 6 }

// RenewInput renews leases.
type RenewInput struct{ Body wire.Renewal }

func (a *API) agentStart(ctx context.Context, in *RenewInput) (*One[wire.Refusals], error) {
	return a.onLeases(ctx, func(desk Desk) ([]node.Refusal, error) {
		return desk.Start(ctx, in.Body.Node(), in.Body.Length())
	})
}

func (a *API) agentRenew(ctx context.Context, in *RenewInput) (*One[wire.Refusals], error) {
	return a.onLeases(ctx, func(desk Desk) ([]node.Refusal, error) { return desk.Renew(ctx, in.Body.Node(), in.Body.Length()) })
}

// NotesInput are events of tasks.
type NotesInput struct{ Body wire.Notes }

func (a *API) agentRecord(ctx context.Context, in *NotesInput) (*One[wire.Refusals], error) {
	if err := checkNotes(in.Body.Notes); err != nil {
		return nil, err
	}
	return a.onLeases(ctx, func(desk Desk) ([]node.Refusal, error) { return desk.Record(ctx, in.Body.Node()) })
}

func checkNotes(notes []wire.Note) error {
	for i, n := range notes {
		if n.Data != "" && !json.Valid([]byte(n.Data)) {
			return problem.Refuse(fmt.Sprintf("notes[%d].data", i), "send JSON as text", "is not JSON")
		}
	}
	return nil
}

// ToldInput is everything that an agent reports at one moment.
type ToldInput struct{ Body wire.Told }

func (a *API) agentReport(ctx context.Context, in *ToldInput) (*One[wire.Heard], error) {
	desk, err := a.desk(ctx)
	if err != nil {
		return nil, err
	}
	if err := checkNotes(in.Body.Notes); err != nil {
		return nil, err
	}
	size := 0
	for _, l := range in.Body.Logs {
		size += len(l.Lines)
	}
	if size > wire.MostLog {
		return nil, problem.New(problem.TooLarge, "send them in several calls", "logs: over %d bytes", wire.MostLog)
	}
	heard, err := desk.Report(ctx, in.Body.Node())
	return one(wire.HeardOf(heard), err)
}

// OutcomesInput reports how attempts ended.
type OutcomesInput struct{ Body wire.Outcomes }

func (a *API) agentEnd(ctx context.Context, in *OutcomesInput) (*One[wire.Refusals], error) {
	return a.onLeases(ctx, func(desk Desk) ([]node.Refusal, error) { return desk.End(ctx, in.Body.Node()) })
}

func (a *API) onLeases(ctx context.Context, f func(Desk) ([]node.Refusal, error)) (*One[wire.Refusals], error) {
	desk, err := a.desk(ctx)
	if err != nil {
		return nil, err
	}
	refusals, err := f(desk)
	return one(wire.RefusalsOf(refusals), err)
}

// HeldInput is a request about one lease.
type HeldInput struct{ Body wire.Held }

// agentSecrets returns the secrets of a task to the node that runs it, while it runs.
func (a *API) agentSecrets(ctx context.Context, in *HeldInput) (*Told[wire.Secrets], error) {
	desk, err := a.desk(ctx)
	if err != nil {
		return nil, err
	}
	values, err := desk.Secrets(ctx, in.Body.Lease.Node())
	if err != nil {
		return nil, err
	}
	return &Told[wire.Secrets]{Cache: "no-store", Body: wire.Secrets{Secrets: values}}, nil
}

// Told is an answer that no cache on the way may keep.
type Told[T any] struct {
	Cache string `header:"Cache-Control"`
	Body  T
}

// LogInput is a piece of a log.
type LogInput struct{ Body wire.Log }

func (a *API) agentLog(ctx context.Context, in *LogInput) (*Empty, error) {
	desk, err := a.desk(ctx)
	if err != nil {
		return nil, err
	}
	if len(in.Body.Lines) > wire.MostLog {
		return nil, problem.New(problem.TooLarge, "send it in smaller pieces", "lines: over %d bytes", wire.MostLog)
	}
	return nil, desk.AppendLog(ctx, in.Body.Lease.Node(), in.Body.Node())
}
