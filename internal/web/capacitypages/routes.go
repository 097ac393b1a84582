package capacitypages

import (
	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/account"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/work"
)

// pages are those of the domain, with the stores they ask.
type pages struct {
	*site.Config
}

// Routes are the pages of the domain, and what people can do there.
func Routes(c *site.Config) site.Routes {
	w := &pages{Config: c}
	return site.Routes{Pages: w.pages(), Actions: w.actions()}
}

// pages are all pages. A right stands on the line of what it opens.
func (w *pages) pages() []site.Page {
	return []site.Page{
		{Path: "/pools", Verb: auth.Read, Kind: "pool", Load: w.pools},
		{Path: "/pools/{pool}", Nav: "/pools", Verb: auth.Read, Kind: "pool", Load: w.pool},
		{Path: "/nodes", Verb: auth.Read, Kind: "node", Load: w.nodes},
		{Path: "/nodes/{node}", Nav: "/nodes", Verb: auth.Read, Kind: "node", Load: w.node},
		{Path: "/workers", Nav: "/nodes", Verb: auth.Read, Kind: "worker", Load: w.workers},
		{Path: "/workers/{name}", Nav: "/nodes", Verb: auth.Read, Kind: "worker", Load: w.worker},
	}
}

// actions are all that people can do.
func (w *pages) actions() []site.Action {
	return []site.Action{
		{Path: "/new-pool", Nav: "/pools", Verb: auth.Manage, Kind: "pool", Ask: askNewPool, Do: w.createPool},
		{Path: "/pools/{pool}/limits", Nav: "/pools", Verb: auth.Manage, Kind: "pool", Ask: w.askLimits, Do: w.setLimits},
		site.Operated(w.Operations, work.NotePool, "/pools", w.askNotePool, poolNoted),
		site.Addressed("/pools/{pool}/delete", site.Operated(w.Operations, work.DropPool, "/pools", w.askDropPool, poolGone)),
		{Path: "/nodes/{node}/drain", Nav: "/nodes", Verb: auth.Manage, Kind: "node", Ask: w.askDrain, Do: w.setMode(weir.Draining, "said.node.drain")},
		{Path: "/nodes/{node}/pause", Nav: "/nodes", Verb: auth.Manage, Kind: "node", Ask: w.askPauseNode, Do: w.setMode(weir.Paused, "said.node.pause")},
		{Path: "/nodes/{node}/resume", Nav: "/nodes", Verb: auth.Manage, Kind: "node", Ask: w.askResume, Do: w.setMode(weir.Active, "said.node.resume")},
		site.Operated(w.Operations, work.WakeNode, "/nodes", nil, nodeCalled),
		{Path: "/nodes/{node}/waking", Nav: "/nodes", Verb: auth.Manage, Kind: "node", Ask: w.askWaking, Do: w.setWaking},
		{Path: "/nodes/{node}/change", Nav: "/nodes", Verb: auth.Manage, Kind: "node", Ask: w.askChangeNode, Do: w.changeNode},
		site.Addressed("/nodes/{node}/delete", site.Operated(w.Operations, work.DropNode, "/nodes", w.askDropNode, nodeGone)),
		site.Addressed("/nodes/{node}/revoke", site.Operated(w.Operations, account.RevokeNode, "/nodes", w.askRevokeNode, nodeRevoked)),
	}
}
