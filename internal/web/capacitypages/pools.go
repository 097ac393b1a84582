package capacitypages

import (
	"context"
	"time"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/timeline"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/ui"
)

func poolPath(name string) string { return ui.Path("pools", name) }

// poolsView is a list of pools.
type poolsView struct {
	pools []view.Pool
	// first is what waits longest, by pool. Only pools that many wait for have
	// one.
	first         map[string]view.GateGroup
	newest, older string
}

// poolView is one pool.
type poolView struct {
	view.Pool
	first   view.GateGroup
	holders []view.Task
	events  []view.Event
	manage  bool
}

// used is how many tasks count against the size.
func used(p view.Pool) int { return p.Available + p.Running }

func (w *pages) pools(r *site.Request) (site.View, error) {
	ctx := r.Context()
	pools, err := w.Store.Pools(r.Context(), site.NamesPage(r))
	if err != nil {
		return site.View{}, err
	}
	var v poolsView
	v.pools, v.newest, v.older = site.NamesPaged(r, pools, func(p view.Pool) string { return p.Name })
	if v.first, err = w.firstWaiting(r.Context(), v.pools); err != nil {
		return site.View{}, err
	}
	head := ui.Head{Title: ui.Say(ctx, "word.pools")}
	if r.Can(auth.Manage, "pool") {
		head.Actions = ui.Ask(ui.Say(ctx, "word.newpool"), "plus", "/new-pool", false)
	}
	return site.View{Head: head, Body: poolsPage(v), Follow: &timeline.Filter{Kinds: []string{"pool", "task"}}}, nil
}

// firstWaiting is what waits longest for each pool.
func (w *pages) firstWaiting(ctx context.Context, pools []view.Pool) (map[string]view.GateGroup, error) {
	waiting := 0
	for _, p := range pools {
		waiting += p.Waiting
	}
	if waiting == 0 {
		return nil, nil
	}
	o, err := w.Store.Overview(ctx)
	if err != nil {
		return nil, err
	}
	first := map[string]view.GateGroup{}
	for _, g := range o.Waiting {
		if g.Gate == "pool" {
			first[g.Key] = g
		}
	}
	return first, nil
}

// holdersShown is how many tasks of a pool its page lists.
const holdersShown = 10

func (w *pages) pool(r *site.Request) (site.View, error) {
	p, err := w.Store.Pool(r.Context(), r.PathValue("pool"))
	if err != nil {
		return site.View{}, err
	}
	v := poolView{Pool: p, manage: r.Can(auth.Manage, "pool")}
	first, err := w.firstWaiting(r.Context(), []view.Pool{p})
	if err != nil {
		return site.View{}, err
	}
	v.first = first[p.Name]
	if v.holders, _, err = w.Store.TaskPage(r.Context(), view.TaskFilter{State: "running", Pool: p.Name}, view.Page{Limit: holdersShown}); err != nil {
		return site.View{}, err
	}
	if v.events, err = w.EventsOf(r, "pool", p.Name); err != nil {
		return site.View{}, err
	}
	return site.View{Head: ui.Head{Title: p.Name}, Plain: true, Body: poolPage(v), Follow: &timeline.Filter{Kinds: []string{"pool", "task"}}}, nil
}

// poolTone is how full a pool is: a state whose colour says it.
func poolTone(p view.Pool) string {
	switch {
	case p.Size == nil:
		return ""
	case *p.Size == 0, used(p) > *p.Size:
		return "failed"
	case used(p) == *p.Size && p.Waiting > 0:
		return "held"
	}
	return "running"
}

// poolShare is how much of the size is in use, in percent.
func poolShare(p view.Pool) int {
	switch {
	case p.Size == nil:
		return 0
	case *p.Size == 0:
		return min(used(p), 1) * 100
	}
	return min(100, used(p)*100 / *p.Size)
}

// useWords is the use of a pool: 3 of 4.
func useWords(ctx context.Context, p view.Pool) string {
	if p.Size == nil {
		return ui.Number(used(p))
	}
	return ui.Say(ctx, "pool.of", ui.Number(used(p)), ui.Number(*p.Size))
}

// rateWords is the rate of a pool: 6 each minute.
func rateWords(ctx context.Context, p view.Pool) string {
	if p.Rate == nil {
		return ""
	}
	return ui.Say(ctx, "pool.rate", ui.Number(*p.Rate), eachWords(ctx, poolPer(p)))
}

func poolPer(p view.Pool) time.Duration { return time.Duration(p.Seconds * float64(time.Second)) }

// eachWords is an interval after a number: each minute, per 90s.
func eachWords(ctx context.Context, d time.Duration) string {
	switch d {
	case time.Second:
		return ui.Say(ctx, "each.second")
	case time.Minute:
		return ui.Say(ctx, "each.minute")
	case time.Hour:
		return ui.Say(ctx, "each.hour")
	case 24 * time.Hour:
		return ui.Say(ctx, "spec.eachday")
	}
	return ui.Say(ctx, "each.per", ui.Duration(ctx, d))
}

// poolState says in a sentence how the pool stands.
func poolState(ctx context.Context, p view.Pool) string {
	switch {
	case p.Size != nil && *p.Size == 0:
		return ui.Say(ctx, "pool.stopped")
	case p.Size != nil && used(p) > *p.Size:
		return ui.Count(ctx, "pool.over", used(p)-*p.Size+1)
	case p.Size != nil && used(p) == *p.Size && p.Waiting > 0:
		return ui.Say(ctx, "pool.full")
	}
	return ""
}
