package httpapi

import (
	"context"
	"time"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/node/wake"
	"github.com/weirhq/weir/internal/problem"
)

// Waker wakes nodes. [*wake.Waker] does.
type Waker interface {
	SetWake(ctx context.Context, by, node string, m wake.Method) error
	Wake(ctx context.Context, by, node string) error
}

func (a *API) waker() (Waker, error) {
	if a.config.Waker == nil {
		return nil, problem.New(problem.NotFound, "ask the server that does", "this server wakes no nodes")
	}
	return a.config.Waker, nil
}

// WakeMethod says how a node is woken, and when it may sleep.
type WakeMethod struct {
	Method     string   `json:"method" enum:"wol,http,script,none" doc:"none: it is not woken."`
	MAC        string   `json:"mac,omitempty" maxLength:"100" doc:"wol: whom the magic packet wakes."`
	Broadcast  string   `json:"broadcast,omitempty" maxLength:"200" doc:"wol: where it goes, host:port."`
	Interface  string   `json:"interface,omitempty" maxLength:"100" doc:"wol: to whose network it goes instead."`
	URL        string   `json:"url,omitempty" maxLength:"2000" doc:"http: gets a POST; the server must allow it."`
	Script     string   `json:"script,omitempty" maxLength:"100" doc:"script: the name of a file in the server's folder."`
	Args       []string `json:"args,omitempty" maxItems:"50" doc:"script: what it is given besides the node's name."`
	Timeout    Period   `json:"timeout,omitzero" doc:"How long the node may take to be seen. Default: 2m."`
	SleepAfter Period   `json:"sleep_after,omitzero" doc:"How long a node with nothing to do stays awake. Left out: for ever."`
}

func (m *WakeMethod) method() wake.Method {
	kind := m.Method
	if kind == "none" {
		kind = ""
	}
	return wake.Method{
		Kind: kind, MAC: m.MAC, Broadcast: m.Broadcast, Interface: m.Interface, URL: m.URL, Script: m.Script, Args: m.Args,
		Timeout: wake.Seconds(m.Timeout), SleepAfter: time.Duration(m.SleepAfter),
	}
}

// SetWakeInput says how a node is woken.
type SetWakeInput struct {
	NodeInput
	Body WakeMethod
}

func (a *API) setWake(ctx context.Context, in *SetWakeInput) (*Empty, error) {
	waker, err := a.waker()
	if err != nil {
		return nil, err
	}
	return nil, waker.SetWake(ctx, auth.From(ctx).By(), in.Node, in.Body.method())
}

func (a *API) wakeNode(ctx context.Context, in *NodeInput) (*Empty, error) {
	waker, err := a.waker()
	if err != nil {
		return nil, err
	}
	return nil, waker.Wake(ctx, auth.From(ctx).By(), in.Node)
}

// SetNodeInput changes what a node is while it runs.
type SetNodeInput struct {
	NodeInput
	Body struct {
		Labels   map[string]string `json:"labels,omitempty" doc:"Left out: as they are."`
		Capacity map[string]int    `json:"capacity,omitempty" doc:"Slots per service. Left out: as they are."`
	}
}

func (a *API) setNode(ctx context.Context, in *SetNodeInput) (*Empty, error) {
	if a.config.SetNode == nil {
		return nil, problem.New(problem.NotFound, "ask the server that does", "this server changes no nodes")
	}
	return nil, a.config.SetNode(ctx, auth.From(ctx).By(), in.Node, in.Body.Labels, in.Body.Capacity)
}
