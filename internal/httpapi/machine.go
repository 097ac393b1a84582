package httpapi

import (
	"context"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/op"
)

// NodeInput names a node.
type NodeInput struct {
	Node string `path:"node" maxLength:"200"`
}

func (a *API) listNodes(ctx context.Context, in *op.Paged) (*Listed[view.Node], error) {
	nodes, err := a.config.Store.Nodes(ctx, in.Page())
	if err != nil {
		return nil, err
	}
	return listed(ctx, nodes, in.Limit, func(n view.Node) string { return n.Name }), nil
}

func (a *API) showNode(ctx context.Context, in *NodeInput) (*One[view.Node], error) {
	if err := auth.Allow(auth.From(ctx), auth.Read, auth.Object{Kind: "node", Owner: in.Node}); err != nil {
		return nil, err
	}
	return one(a.config.Store.Node(ctx, in.Node))
}

// NodeModeInput says what a node's workers may do.
type NodeModeInput struct {
	NodeInput
	Body struct {
		Mode   string    `json:"mode" enum:"active,draining,paused"`
		Until  time.Time `json:"until,omitzero" doc:"When the mode ends by itself."`
		Reason string    `json:"reason,omitempty" maxLength:"1000" doc:"For people; goes to the timeline."`
	}
}

func (a *API) setNodeMode(ctx context.Context, in *NodeModeInput) (*Empty, error) {
	d := weir.Decision{By: auth.From(ctx).By(), Reason: in.Body.Reason}
	return nil, a.config.Commands.SetNodeMode(ctx, in.Node, weir.Mode(in.Body.Mode), in.Body.Until, d)
}

func (a *API) dropNode(ctx context.Context, in *NodeInput) (*Empty, error) {
	return nil, a.config.Commands.DropNode(ctx, in.Node, auth.From(ctx).By())
}

// ListWorkersInput narrows the list.
type ListWorkersInput struct {
	op.Paged
	Node    string `query:"node" doc:"Only workers on this node."`
	Service string `query:"service" doc:"Only workers that do this service."`
	All     bool   `query:"all" doc:"Also those that have stopped."`
}

func (a *API) listWorkers(ctx context.Context, in *ListWorkersInput) (*Listed[view.Worker], error) {
	workers, err := a.config.Store.Workers(ctx, view.WorkerFilter{Node: in.Node, Service: in.Service, All: in.All}, in.Page())
	if err != nil {
		return nil, err
	}
	return listed(ctx, workers, in.Limit, func(w view.Worker) string { return w.Name }), nil
}

// WorkerInput names a worker.
type WorkerInput struct {
	Worker string `path:"worker" maxLength:"300"`
}

func (a *API) showWorker(ctx context.Context, in *WorkerInput) (*One[view.Worker], error) {
	return one(a.config.Store.Worker(ctx, in.Worker))
}
