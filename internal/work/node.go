package work

import (
	"context"
	"net/http"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/node/wake"
	"github.com/weirhq/weir/internal/op"
)

// NamedNode names a node.
type NamedNode struct {
	Node string `path:"node" flag:"NAME" maxLength:"200"`
}

// SettingNode changes the labels and slots of a running node.
type SettingNode struct {
	NamedNode
	Body struct {
		Labels   map[string]string `json:"labels,omitzero" doc:"Left out: as they are."`
		Capacity map[string]int    `json:"capacity,omitzero" doc:"Slots per service. Left out: as they are."`
	}
}

// SettingMode sets what a node's workers may do.
type SettingMode struct {
	NamedNode
	Body ModeBody
}

// ModeBody is a mode, its end and its reason.
type ModeBody struct {
	Mode   string    `json:"mode" enum:"active,draining,paused"`
	Until  time.Time `json:"until,omitzero" doc:"When the mode ends by itself."`
	Reason string    `json:"reason,omitempty" maxLength:"1000" doc:"For people; goes to the timeline."`
}

// WakeMethod sets how a node is woken, and when it may sleep.
type WakeMethod struct {
	Method     string    `json:"method" enum:"wol,http,script,none" doc:"none: it is not woken."`
	MAC        string    `json:"mac,omitempty" maxLength:"100" doc:"wol: whom the magic packet wakes."`
	Broadcast  string    `json:"broadcast,omitempty" maxLength:"200" doc:"wol: where it goes, host:port."`
	Interface  string    `json:"interface,omitempty" maxLength:"100" doc:"wol: to whose network it goes instead."`
	URL        string    `json:"url,omitempty" maxLength:"2000" doc:"http: gets a POST; the server must allow it."`
	Script     string    `json:"script,omitempty" maxLength:"100" doc:"script: the name of a file in the server's folder."`
	Args       []string  `json:"args,omitempty" maxItems:"50" doc:"script: what it is given besides the node's name."`
	Timeout    op.Period `json:"timeout,omitzero" doc:"How long the node may take to be seen. Default: 2m."`
	SleepAfter op.Period `json:"sleep_after,omitzero" doc:"How long a node with nothing to do stays awake. Left out: for ever."`
}

// SettingWake sets how a node is woken.
type SettingWake struct {
	NamedNode
	Body WakeMethod
}

// Operations on nodes. Waking has a store of its own.
var (
	ListNodes = op.List(on("node", http.MethodGet, "list", "/nodes", auth.Read, "List nodes"),
		func(ctx context.Context, s *Store, _ auth.Subject, in *op.Paged) ([]view.Node, error) {
			return s.View.Nodes(ctx, in.Page())
		},
		func(n view.Node) string { return n.Name })
	ShowNode = op.New(own(on("node", http.MethodGet, "show", "/nodes/{node}", auth.Read, "Show a node")),
		func(ctx context.Context, s *Store, who auth.Subject, in *NamedNode) (view.Node, error) {
			if err := auth.Allow(who, auth.Read, auth.Object{Kind: "node", Owner: in.Node}); err != nil {
				return view.Node{}, err
			}
			return s.View.Node(ctx, in.Node)
		})
	SetNode = op.New(on("node", http.MethodPut, "set", "/nodes/{node}", auth.Manage, "Give a node other labels or slots"),
		func(ctx context.Context, s *Store, who auth.Subject, in *SettingNode) (op.Nothing, error) {
			return op.Nothing{}, s.Client.SetNode(ctx, weir.Node{Name: in.Node, Labels: in.Body.Labels, Capacity: in.Body.Capacity}, who.By())
		})
	SetWake = op.New(on("node", http.MethodPut, "waking", "/nodes/{node}/wake", auth.Manage, "Say how a node is woken, and when it may sleep"),
		func(ctx context.Context, w *wake.Waker, who auth.Subject, in *SettingWake) (op.Nothing, error) {
			b := &in.Body
			m := wake.Method{
				Kind: b.Method, MAC: b.MAC, Broadcast: b.Broadcast, Interface: b.Interface, URL: b.URL, Script: b.Script, Args: b.Args,
				Timeout: wake.Seconds(b.Timeout), SleepAfter: time.Duration(b.SleepAfter),
			}
			if b.Method == "none" {
				m.Kind = ""
			}
			return op.Nothing{}, w.SetWake(ctx, who.By(), in.Node, m)
		})
	WakeNode = op.New(on("node", http.MethodPost, "wake", "/nodes/{node}/wake", auth.Manage, "Wake a node now"),
		func(ctx context.Context, w *wake.Waker, who auth.Subject, in *NamedNode) (op.Nothing, error) {
			return op.Nothing{}, w.Wake(ctx, who.By(), in.Node)
		})
	SetMode = op.New(on("node", http.MethodPut, "mode", "/nodes/{node}/mode", auth.Manage, "Drain, pause or activate a node"),
		func(ctx context.Context, s *Store, who auth.Subject, in *SettingMode) (op.Nothing, error) {
			d := weir.Decision{By: who.By(), Reason: in.Body.Reason}
			return op.Nothing{}, s.Client.SetNodeMode(ctx, in.Node, weir.Mode(in.Body.Mode), in.Body.Until, d)
		})
	DropNode = op.New(on("node", http.MethodDelete, "delete", "/nodes/{node}", auth.Manage, "Remove a node that is gone, with its credential"),
		func(ctx context.Context, s *Store, who auth.Subject, in *NamedNode) (op.Nothing, error) {
			return op.Nothing{}, s.Client.DropNode(ctx, in.Node, who.By())
		})
)

func own(o op.Operation) op.Operation { o.Own = true; return o }

// NamedWorker names a worker.
type NamedWorker struct {
	Worker string `path:"worker" flag:"NAME" maxLength:"300"`
}

// ListingWorkers narrows the list of workers.
type ListingWorkers struct {
	op.Paged
	Node    string `query:"node" doc:"Only workers on this node."`
	Service string `query:"service" doc:"Only workers that do this service."`
	All     bool   `query:"all" doc:"Also those that have stopped."`
}

// Operations on workers.
var (
	ListWorkers = op.List(on("worker", http.MethodGet, "list", "/workers", auth.Read, "List workers"),
		func(ctx context.Context, s *Store, _ auth.Subject, in *ListingWorkers) ([]view.Worker, error) {
			return s.View.Workers(ctx, view.WorkerFilter{Node: in.Node, Service: in.Service, All: in.All}, in.Page())
		},
		func(w view.Worker) string { return w.Name })
	ShowWorker = op.New(on("worker", http.MethodGet, "show", "/workers/{worker}", auth.Read, "Show a worker"),
		func(ctx context.Context, s *Store, _ auth.Subject, in *NamedWorker) (view.Worker, error) {
			return s.View.Worker(ctx, in.Worker)
		})
)
