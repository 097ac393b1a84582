package web

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/timeline"
	"github.com/weirhq/weir/internal/web/picture"
	"github.com/weirhq/weir/internal/web/ui"
)

func nodePath(name string) string { return ui.Path("nodes", name) }

// nodesView is a list of nodes.
type nodesView struct {
	nodes         []view.Node
	load          load
	newest, older string
}

// nodeView is one node.
type nodeView struct {
	view.Node
	load    load
	workers []view.Worker
	events  []view.Event
	manage  bool
	// joined is when it got its credential, for those who may take it away.
	joined time.Time
}

// machineEvents are those that change the pages of nodes and workers.
func machineEvents() *timeline.Filter {
	return &timeline.Filter{Kinds: []string{"node", "worker", "task"}}
}

func (w *Web) nodes(r *Request) (View, error) {
	rows, err := w.config.Store.Nodes(r.Context(), namesPage(r))
	if err != nil {
		return View{}, err
	}
	var v nodesView
	v.nodes, v.newest, v.older = namesPaged(r, rows, func(n view.Node) string { return n.Name })
	if v.load, err = w.loads(r.Context(), v.nodes); err != nil {
		return View{}, err
	}
	return View{Head: ui.Head{Title: "Nodes", Actions: nodesActions(r.Can(auth.Read, "join"), r.Can(auth.Manage, "join"))}, Body: nodesPage(v), Follow: machineEvents()}, nil
}

func (w *Web) node(r *Request) (View, error) {
	n, err := w.config.Store.Node(r.Context(), r.PathValue("name"))
	if err != nil {
		return View{}, err
	}
	v := nodeView{Node: n, manage: r.Can(auth.Manage, "node")}
	if v.load, err = w.loads(r.Context(), []view.Node{n}); err != nil {
		return View{}, err
	}
	if v.workers, err = w.config.Store.Workers(r.Context(), view.WorkerFilter{Node: n.Name}, view.Page{Limit: workersShown}); err != nil {
		return View{}, err
	}
	if v.events, err = w.eventsOf(r, "node", n.Name); err != nil {
		return View{}, err
	}
	if v.manage {
		if v.joined, err = w.joinedAt(r.Context(), n.Name); err != nil {
			return View{}, err
		}
	}
	return View{Head: ui.Head{Title: n.Name}, Plain: true, Body: nodePage(v), Follow: machineEvents()}, nil
}

// workersShown is how many workers the page of a node lists.
const workersShown = 100

// since is when the node came into its state, as far as its events tell.
func (v nodeView) since() time.Time {
	if v.State == "dead" {
		return v.SeenAt
	}
	for _, e := range v.events {
		if e.Type == v.State {
			return e.At
		}
	}
	return time.Time{}
}

const (
	// loadTasks is how many running tasks are read to see where they run. A
	// task may be large.
	loadTasks   = 200
	loadWorkers = 1000
)

// load is what runs where.
type load struct {
	// known says that everything that runs was looked at.
	known bool
	// nodes has the running tasks by node.
	nodes map[string][]view.Task
}

// slots is how many tasks of a service run on a node.
func (l load) slots(node, service string) int {
	n := 0
	for _, t := range l.nodes[node] {
		if t.Service == service {
			n++
		}
	}
	return n
}

// loads looks at what runs, unless that is too much for a page.
func (w *Web) loads(ctx context.Context, nodes []view.Node) (load, error) {
	l := load{known: true, nodes: map[string][]view.Task{}}
	busy := 0
	for _, n := range nodes {
		busy += n.Running
	}
	switch {
	case busy == 0:
		return l, nil
	case busy > loadTasks:
		return load{}, nil
	}
	tasks, next, err := w.config.Store.TaskPage(ctx, view.TaskFilter{State: "running"}, view.Page{Limit: loadTasks})
	if err != nil {
		return load{}, err
	}
	workers, err := w.config.Store.Workers(ctx, view.WorkerFilter{}, view.Page{Limit: loadWorkers})
	if err != nil || next != "" || len(workers) == loadWorkers {
		return load{}, err
	}
	at := map[string]string{}
	for _, worker := range workers {
		at[worker.Name] = worker.Node
	}
	for _, t := range tasks {
		if node := at[t.Worker]; node != "" {
			l.nodes[node] = append(l.nodes[node], t)
		}
	}
	return l, nil
}

const (
	// slotsWide and slotsNarrow are the widths of the picture of slots, for a
	// screen and for a telephone.
	slotsWide   = 640
	slotsNarrow = 330
)

// drawnNodes are the nodes that say how much they can do.
func drawnNodes(l load, nodes []view.Node, links bool, width int) picture.Machines {
	out := picture.Machines{Title: "Slots in use", Width: width}
	for _, n := range nodes {
		if len(n.Capacity) == 0 {
			continue
		}
		m := picture.Machine{Name: n.Name, State: nodeLook(n.State)}
		if links {
			m.Href = nodePath(n.Name)
		}
		for _, service := range slices.Sorted(maps.Keys(n.Capacity)) {
			m.Services = append(m.Services, picture.Service{Name: service, Used: l.slots(n.Name, service), Size: n.Capacity[service]})
		}
		out.Rows = append(out.Rows, m)
	}
	return out
}

func nodeLook(state string) picture.State {
	switch state {
	case "active":
		return picture.Running
	case "draining":
		return picture.Draining
	case "dead":
		return picture.Offline
	}
	return picture.State(state)
}

// nodeWords says in a sentence what the state of a node means.
func nodeWords(n view.Node) string {
	switch n.State {
	case "dead":
		return "Nothing was heard from this node for more than 30 seconds. What ran here runs again elsewhere once its leases are over."
	case "draining":
		return "The node finishes what runs and takes nothing new."
	case "paused":
		return "The node takes nothing new."
	}
	return ""
}

// joinedAt is when a node got its credential, or zero.
func (w *Web) joinedAt(ctx context.Context, node string) (time.Time, error) {
	page := auth.Page{Limit: 1000}
	for {
		found, err := w.config.Auth.NodeCredentials(ctx, page)
		if err != nil {
			return time.Time{}, err
		}
		for _, c := range found {
			if c.Node == node {
				return c.CreatedAt, nil
			}
		}
		if len(found) < page.Limit {
			return time.Time{}, nil
		}
		page.After = cmp.Or(found[len(found)-1].Node, page.After)
	}
}
