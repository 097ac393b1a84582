package remote

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/node/wire"
	"github.com/weirhq/weir/internal/problem"
)

// Transport connects the agent to a server. It is safe for concurrent use.
type Transport struct {
	base       *url.URL
	node       string
	credential string
	agent      string
	log        *slog.Logger
	http       *http.Client
	// bucket sends requests to object stores. It never carries the credential.
	bucket *http.Client
	// tunnels carries forwards, each on a connection of its own.
	tunnels *http.Client
	// patience is how long a call is retried if its context has no deadline; each is the
	// timeout of one try, in addition to the time that the call waits on purpose.
	patience, each time.Duration
	// watched makes the transport log only once that the clocks of the two machines
	// differ.
	watched sync.Once
}

// New returns a transport. It does not connect.
func New(c Config) (*Transport, error) {
	base, err := c.address()
	if err != nil {
		return nil, err
	}
	through, err := c.transport()
	if err != nil {
		return nil, err
	}
	t := &Transport{base: base, node: c.Node, credential: c.Credential, agent: "weir-agent", log: c.Log, patience: 30 * time.Second, each: tryFor}
	if c.Version != "" {
		t.agent += "/" + c.Version
	}
	if t.log == nil {
		t.log = slog.New(slog.DiscardHandler)
	}
	// A server that redirects is not the API, and must not get the credential.
	t.http = &http.Client{Transport: through, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	t.bucket = &http.Client{Transport: through}
	alone := through.Clone()
	alone.MaxConnsPerHost, alone.DisableKeepAlives = 0, true
	t.tunnels = &http.Client{Transport: alone, CheckRedirect: t.http.CheckRedirect}
	return t, nil
}

// Server returns the address of the server.
func (t *Transport) Server() string { return t.base.String() }

// Close closes the idle connections.
func (t *Transport) Close() { t.http.CloseIdleConnections() }

// Register tells the server what this machine is. It is the first call, so its error
// explains what would make all other calls fail.
func (t *Transport) Register(ctx context.Context, info node.Info) error {
	if info.Name != "" && t.node != "" && info.Name != t.node {
		return problem.Refuse("node", "start the agent as "+t.node+", or join as "+info.Name, "the credential is that of the node %q", t.node)
	}
	err := t.post(ctx, "register", wire.InfoOf(info), nil, 0)
	if kindOf(err) == problem.NotFound || kindOf(err) == problem.Invalid {
		return t.older(ctx, err)
	}
	return err
}

// older returns an error that says that the server does not know the call, if the server
// has another version.
func (t *Transport) older(ctx context.Context, cause error) error {
	var is struct {
		Version string `json:"version"`
	}
	if err := t.get(ctx, &is, "version"); err != nil {
		return cause
	}
	p := *problem.Explain(cause)
	if p.Kind == problem.Invalid && t.agent == "weir-agent/"+is.Version {
		return cause // the versions are the same, so the refusal is about the request
	}
	p.What += " (the server is Weir " + is.Version + ", this program is " + t.agent + ")"
	p.Next = "use the same version on both sides; bring the server up to date first"
	p.Err = cause
	return &p
}

// Heartbeat tells the server that this machine lives, and returns the node's orders.
func (t *Transport) Heartbeat(ctx context.Context) (node.Orders, error) {
	var orders wire.Orders
	err := t.post(ctx, "heartbeat", nil, &orders, 0)
	return orders.Node(), err
}

// Faults tells the server everything that is broken on this machine.
func (t *Transport) Faults(ctx context.Context, faults []node.Fault) error {
	return t.post(ctx, "faults", wire.FaultsOf(faults), nil, 0)
}

// Devices reports which devices are attached to this machine, and returns which attempts
// have lost theirs.
func (t *Transport) Devices(ctx context.Context, report node.DeviceReport) (node.DeviceOrders, error) {
	var orders wire.DeviceOrders
	err := t.post(ctx, "devices", wire.DevicesOf(report), &orders, 0)
	return orders.Node(), err
}

// Claim asks for work and waits for it.
func (t *Transport) Claim(ctx context.Context, request node.ClaimRequest) (node.Claimed, error) {
	var got wire.Claimed
	err := t.post(ctx, "claim", wire.ClaimOf(request), &got, request.Wait)
	return got.Node(), err
}

// Start reports that work has started, and prolongs leases as Renew does.
func (t *Transport) Start(ctx context.Context, leases []node.Lease, length time.Duration) ([]node.Refusal, error) {
	return report(ctx, t, "start", leases, func(part []node.Lease) wire.Renewal { return wire.RenewalOf(part, length) })
}

// Renew prolongs leases to the given length from now.
func (t *Transport) Renew(ctx context.Context, leases []node.Lease, length time.Duration) ([]node.Refusal, error) {
	return report(ctx, t, "renew", leases, func(part []node.Lease) wire.Renewal { return wire.RenewalOf(part, length) })
}

// Record adds to the timeline of tasks. A note whose answer was lost may be recorded
// twice.
func (t *Transport) Record(ctx context.Context, notes []node.Note) ([]node.Refusal, error) {
	return report(ctx, t, "record", notes, wire.NotesOf)
}

// End reports how attempts ended.
func (t *Transport) End(ctx context.Context, outcomes []node.Outcome) ([]node.Refusal, error) {
	return report(ctx, t, "end", outcomes, wire.OutcomesOf)
}

// Report tells everything that is new of attempts. A note whose answer was lost may be
// recorded twice.
func (t *Transport) Report(ctx context.Context, told node.Told) (node.Heard, error) {
	var heard wire.Heard
	err := t.post(ctx, "report", wire.ToldOf(told), &heard, 0)
	return heard.Node(), err
}

// report sends a list, in pieces if it is long.
func report[T, W any](ctx context.Context, t *Transport, what string, list []T, body func([]T) W) ([]node.Refusal, error) {
	var all []node.Refusal
	for len(list) > 0 {
		part := list[:min(len(list), wire.Most)]
		list = list[len(part):]
		var answer wire.Refusals
		if err := t.post(ctx, what, body(part), &answer, 0); err != nil {
			return all, err
		}
		all = append(all, answer.Node()...)
	}
	return all, nil
}

// Secrets asks for the secrets of a task.
func (t *Transport) Secrets(ctx context.Context, lease node.Lease) (map[string]string, error) {
	var answer wire.Secrets
	err := t.post(ctx, "secrets", wire.Held{Lease: wire.LeaseOf(lease)}, &answer, 0)
	return answer.Secrets, err
}

// AppendLog ships a piece of a log.
func (t *Transport) AppendLog(ctx context.Context, lease node.Lease, chunk node.LogChunk) error {
	return t.post(ctx, "logs", wire.LogOf(lease, chunk), nil, 0)
}

// Inputs lists the outputs of earlier steps for this one.
func (t *Transport) Inputs(ctx context.Context, lease node.Lease) ([]node.InputObject, error) {
	var answer wire.Inputs
	err := t.post(ctx, "inputs", wire.Held{Lease: wire.LeaseOf(lease)}, &answer, 0)
	return answer.Node(), err
}

// Stop tells the server that this machine takes no more work.
func (t *Transport) Stop(ctx context.Context) error { return t.post(ctx, "stop", nil, nil, 0) }

// Detach tells the server that this agent ends and its work goes on.
func (t *Transport) Detach(ctx context.Context) error { return t.post(ctx, "detach", nil, nil, 0) }

// kindOf returns the kind of an error, which is Failed also if the error has none.
func kindOf(err error) problem.Kind {
	p := new(problem.Problem)
	if !errors.As(err, &p) {
		return problem.Failed
	}
	return p.Kind
}
