package web

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/ui"
)

// entry is a line of the side navigation. It is there when its page is, and for
// those who may see it. Label and title are keys of words.
type entry struct {
	label, path, icon, key string
	count                  func(view.Counts) (n view.Count, title, tone string)
}

var navigation = []struct {
	title   string
	entries []entry
}{
	{"", []entry{
		{label: "nav.overview", path: "/", icon: "overview", key: "o"},
		{label: "nav.workflows", path: "/workflows", icon: "workflow", key: "w"},
		{label: "nav.jobs", path: "/jobs", icon: "job", key: "j"},
		{label: "nav.tasks", path: "/tasks", icon: "task", key: "t", count: running},
		{label: "nav.rollouts", path: "/rollouts", icon: "rollout", key: "r"},
		{label: "nav.fleet", path: "/fleet", icon: "fleet", key: "f"},
		{label: "nav.workspaces", path: "/workspaces", icon: "workspace", key: "k"},
		{label: "nav.schedules", path: "/schedules", icon: "schedule", key: "s"},
		{label: "nav.triggers", path: "/triggers", icon: "trigger"},
		{label: "nav.timeline", path: "/timeline", icon: "timeline", key: "e"},
	}},
	{"nav.capacity", []entry{
		{label: "nav.pools", path: "/pools", icon: "pool", key: "p", count: pooled},
		{label: "nav.nodes", path: "/nodes", icon: "node", key: "n"},
		{label: "nav.databases", path: "/databases", icon: "database", key: "d"},
	}},
	{"nav.system", []entry{
		{label: "nav.health", path: "/health", icon: "health", key: "h"},
		{label: "nav.settings", path: "/settings", icon: "settings"},
		{label: "nav.secrets", path: "/secrets", icon: "lock"},
		{label: "nav.users", path: "/users", icon: "users", key: "u"},
		{label: "nav.tokens", path: "/tokens", icon: "key"},
	}},
}

func running(c view.Counts) (n view.Count, title, tone string) {
	return c.Running, "nav.running", "running"
}

func pooled(c view.Counts) (n view.Count, title, tone string) {
	return c.Pending["pool"], "nav.pooled", ""
}

// navigation is the side navigation for the reader of a page.
func (w *Web) navigation(r *site.Request, current string) []ui.NavGroup {
	counts := w.counts.get(r.Context(), w.config.Store, r.Now)
	var groups []ui.NavGroup
	for _, g := range navigation {
		group := ui.NavGroup{}
		if g.title != "" {
			group.Title = ui.Say(r.Context(), g.title)
		}
		for _, e := range g.entries {
			page, ok := w.known[e.path]
			if !ok || r.Allow(page.Verb, page.Kind, page.Own) != nil {
				continue
			}
			item := ui.NavItem{
				Label: ui.Say(r.Context(), e.label), Href: e.path, Icon: e.icon, Key: e.key,
				Current: e.path == current,
			}
			if e.count != nil {
				n, title, tone := e.count(counts)
				item.Count, item.CountTitle, item.Tone = countText(n), ui.Say(r.Context(), title), tone
			}
			group.Items = append(group.Items, item)
		}
		if len(group.Items) > 0 {
			groups = append(groups, group)
		}
	}
	return groups
}

// countText is empty for nothing: a row of zeros says nothing.
func countText(c view.Count) string {
	switch {
	case c.N == 0:
		return ""
	case c.More:
		return ui.Number(c.N) + "+"
	}
	return ui.Number(c.N)
}

// countsFor is how long the numbers of the navigation hold. Every open page
// shows them, and the database counts once for all.
const countsFor = 2 * time.Second

// counts are the numbers of the navigation. While one page has them tallied
// anew, the others take the last ones: nobody waits for a number.
type counts struct {
	counting sync.Mutex
	last     atomic.Pointer[tallied]
}

type tallied struct {
	at time.Time
	view.Counts
}

func (c *counts) get(ctx context.Context, store *view.Store, now time.Time) view.Counts {
	last := c.last.Load()
	if last == nil {
		last = &tallied{}
	}
	if now.Sub(last.at) < countsFor || !c.counting.TryLock() {
		return last.Counts
	}
	defer c.counting.Unlock()
	fresh := &tallied{now, last.Counts}
	// A navigation without numbers is better than no page.
	if found, err := store.Overview(ctx); err == nil {
		fresh.Counts = found.Counts
	}
	c.last.Store(fresh)
	return fresh.Counts
}
