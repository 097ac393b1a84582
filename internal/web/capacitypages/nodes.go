package capacitypages

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
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/ui"
)

// nodesView is a list of nodes.
type nodesView struct {
	nodes         []view.Node
	used          slots
	newest, older string
}

// nodeView is one node.
type nodeView struct {
	view.Node
	used    slots
	workers []view.Worker
	// running is what runs there, at most tasksShown.
	running []view.Task
	events  []view.Event
	manage  bool
	// joined is when it got its credential, for those who may take it away.
	joined time.Time
}

// machineEvents are those that change the pages of nodes and workers.
func machineEvents() *timeline.Filter {
	return &timeline.Filter{Kinds: []string{"node", "worker", "task"}}
}

func (w *pages) nodes(r *site.Request) (site.View, error) {
	ctx := r.Context()
	rows, err := w.Store.Nodes(r.Context(), site.NamesPage(r))
	if err != nil {
		return site.View{}, err
	}
	var v nodesView
	v.nodes, v.newest, v.older = site.NamesPaged(r, rows, func(n view.Node) string { return n.Name })
	if v.used, err = w.slotsOf(r.Context(), v.nodes); err != nil {
		return site.View{}, err
	}
	return site.View{Head: ui.Head{Title: ui.Say(ctx, "word.nodes"), Actions: nodesActions(r.Can(auth.Read, "join"), r.Can(auth.Manage, "join"))}, Body: nodesPage(v), Follow: machineEvents()}, nil
}

func (w *pages) node(r *site.Request) (site.View, error) {
	n, err := w.Store.Node(r.Context(), r.PathValue("node"))
	if err != nil {
		return site.View{}, err
	}
	v := nodeView{Node: n, manage: r.Can(auth.Manage, "node")}
	if v.used, err = w.slotsOf(r.Context(), []view.Node{n}); err != nil {
		return site.View{}, err
	}
	if v.running, _, err = w.Store.TaskPage(r.Context(), view.TaskFilter{Node: n.Name}, view.Page{Limit: tasksShown}); err != nil {
		return site.View{}, err
	}
	if v.workers, err = w.Store.Workers(r.Context(), view.WorkerFilter{Node: n.Name}, view.Page{Limit: workersShown}); err != nil {
		return site.View{}, err
	}
	if v.events, err = w.EventsOf(r, "node", n.Name); err != nil {
		return site.View{}, err
	}
	if v.manage {
		if v.joined, err = w.joinedAt(r.Context(), n.Name); err != nil {
			return site.View{}, err
		}
	}
	return site.View{Head: ui.Head{Title: n.Name}, Plain: true, Body: nodePage(v), Follow: machineEvents()}, nil
}

// workersShown is how many workers the page of a node lists.
const workersShown = 100

// since is when the node came into its state; zero if it was never in another.
func (v nodeView) since(now time.Time) time.Time {
	switch {
	case v.State == "dead":
		return v.SeenAt
	case !v.ModeUntil.IsZero() && v.ModeUntil.Before(now):
		return v.ModeUntil
	}
	return v.ModeAt
}

// tasksShown is how many tasks the page of a node or a worker lists.
const tasksShown = 100

// slots are how many tasks of a service run on a node, by both.
type slots map[[2]string]int

// slotsOf counts what runs on nodes.
func (w *pages) slotsOf(ctx context.Context, nodes []view.Node) (slots, error) {
	names := make([]string, len(nodes))
	for i, n := range nodes {
		names[i] = n.Name
	}
	counted, err := w.Store.Slots(ctx, names)
	if err != nil {
		return nil, err
	}
	used := slots{}
	for _, s := range counted {
		used[[2]string{s.Node, s.Service}] = s.Running
	}
	return used, nil
}

const (
	// slotsWide and slotsNarrow are the widths of the picture of slots, for a
	// screen and for a telephone.
	slotsWide   = 640
	slotsNarrow = 330
)

// drawnNodes are the nodes that say how much they can do.
func drawnNodes(ctx context.Context, used slots, nodes []view.Node, links bool, width int) picture.Machines {
	out := picture.Machines{Title: ui.Say(ctx, "word.slotsinuse"), Width: width}
	for _, n := range nodes {
		if len(n.Capacity) == 0 {
			continue
		}
		m := picture.Machine{Name: n.Name, State: nodeLook(n.State)}
		if links {
			m.Href = site.NodePath(n.Name)
		}
		for _, service := range slices.Sorted(maps.Keys(n.Capacity)) {
			m.Services = append(m.Services, picture.Service{Name: service, Used: used[[2]string{n.Name, service}], Size: n.Capacity[service]})
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
func nodeWords(ctx context.Context, n view.Node) string {
	switch {
	case n.State == "dead" && n.WakeState == "asleep":
		return ui.Say(ctx, "node.asleep")
	case n.State == "dead" && n.WakeState == "waking":
		return ui.Say(ctx, "node.waking")
	}
	switch n.State {
	case "dead":
		return ui.Say(ctx, "node.dead")
	case "draining":
		return ui.Say(ctx, "node.draining")
	case "paused":
		return ui.Say(ctx, "node.paused")
	}
	return ""
}

// joinedAt is when a node got its credential, or zero.
func (w *pages) joinedAt(ctx context.Context, node string) (time.Time, error) {
	page := auth.Page{Limit: 1000}
	for {
		found, err := w.Auth.NodeCredentials(ctx, page)
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
