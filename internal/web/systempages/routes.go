package systempages

import (
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/ui"
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
		{Path: "/", Verb: auth.Read, Kind: "task", Load: w.overview},
		{Path: "/timeline", Verb: auth.Read, Kind: "event", Load: w.timeline},
		{Path: "/health", Verb: auth.Read, Kind: "health", Load: w.health},
		{Path: "/health/doctor", Nav: "/health", Verb: auth.Read, Kind: "health", Load: w.doctor},
		// Settings tell how to reach the machine: they are for those who may
		// read the audit.
		{Path: "/settings", Verb: auth.Read, Kind: "audit", Load: w.settings},
		{Path: "/secrets", Verb: auth.Read, Kind: "secret", Load: w.secrets},
	}
}

// actions are all that people can do.
func (w *pages) actions() []site.Action {
	return []site.Action{
		{Path: "/new-secret", Nav: "/secrets", Verb: auth.Manage, Kind: "secret", Ask: w.askNewSecret, Do: w.setSecret},
		site.Addressed("/secrets/{secret}/delete", site.Operated(w.Operations, work.DeleteSecret, "/secrets", w.askDropSecret, func(r *site.Request, _ op.Nothing) site.Done {
			return site.Done{To: "/secrets", Say: ui.Say(r.Context(), "said.secret.gone", r.PathValue("secret"))}
		})),
	}
}
