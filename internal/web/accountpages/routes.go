package accountpages

import (
	"github.com/weirhq/weir/internal/account"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/web/site"
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
		{Path: "/joins", Nav: "/nodes", Verb: auth.Read, Kind: "join", Load: w.joins},
		{Path: "/users", Verb: auth.Administer, Kind: "user", Load: w.users},
		{Path: "/users/{user}", Nav: "/users", Verb: auth.Administer, Kind: "user", Load: w.user},
		{Path: "/tokens", Verb: auth.Manage, Kind: "token", Own: true, Load: w.tokens},
		{Path: "/account", Nav: "-", Verb: auth.Manage, Kind: "session", Own: true, Load: w.account},
	}
}

// actions are all that people can do.
func (w *pages) actions() []site.Action {
	return []site.Action{
		{Path: "/new-join", Nav: "/nodes", Verb: auth.Manage, Kind: "join", Ask: askNewJoin, Do: w.createJoin},
		site.Addressed("/joins/{join}/revoke", site.Operated(w.Operations, account.RevokeJoin, "/nodes", askRevokeJoin, joinRevoked)),
		{Path: "/new-user", Nav: "/users", Verb: auth.Administer, Kind: "user", Ask: askNewUser, Do: w.createUser},
		site.Operated(w.Operations, account.SetRole, "/users", w.askRole, roleSet),
		{Path: "/users/{user}/link", Nav: "/users", Verb: auth.Administer, Kind: "user", Ask: w.askLink, Do: w.createLink},
		site.Operated(w.Operations, account.Disable, "/users", w.askDisable, disabledUser),
		site.Operated(w.Operations, account.Enable, "/users", nil, enabledUser),
		site.Addressed("/users/{user}/delete", site.Operated(w.Operations, account.DeleteUser, "/users", w.askDelete, deletedUser)),
		{Path: "/new-token", Nav: "/tokens", Verb: auth.Manage, Kind: "token", Own: true, Ask: askNewToken, Do: w.createToken},
		site.Addressed("/tokens/{token}/revoke", site.Operated(w.Operations, account.RevokeToken, "/tokens", askRevokeToken, tokenRevoked)),
		{Path: "/account/password", Nav: "-", Verb: auth.Manage, Kind: "user", Own: true, Ask: w.askPassword, Do: w.setPassword},
		site.Addressed("/sessions/{session}/revoke", site.Operated(w.Operations, account.RevokeSession, "-", askRevokeSession, sessionRevoked)),
	}
}
