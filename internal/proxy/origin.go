package proxy

import (
	"net/http"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// welcome says whether a request may come at all, whoever sends it: the pages of other
// origins, those of neighbour workspaces included, may lead a person here, and nothing
// else. The cookie alone does not see to that, for a neighbour is of the same site.
func (p *Proxy) welcome(r *http.Request) bool {
	origin := r.Header.Values("Origin")
	own := len(origin) == 0 || len(origin) == 1 && origin[0] == p.config.Address.Scheme+"://"+r.Host
	if upgrades(r) {
		// Browsers always name the origin of a WebSocket, and programs need not.
		return own
	}
	site, mode, dest := r.Header.Get("Sec-Fetch-Site"), r.Header.Get("Sec-Fetch-Mode"), r.Header.Get("Sec-Fetch-Dest")
	looks := r.Method == http.MethodGet || r.Method == http.MethodHead
	switch site {
	case "same-origin", "none":
		return true
	case "":
		// An old browser, or one on plain http, or a program.
		return own
	default:
		return looks && mode == "navigate" && dest == "document"
	}
}

// upgrades says that a request wants to take over the connection.
func upgrades(r *http.Request) bool {
	return len(r.Header.Values("Upgrade")) > 0 || httpguts.HeaderValuesContainsToken(r.Header["Connection"], "Upgrade")
}

// isWebSocket says that it wants to do so as a WebSocket. Anything else, such as h2c,
// would carry requests past this proxy.
func isWebSocket(r *http.Request) bool {
	values := r.Header.Values("Upgrade")
	return r.Method == http.MethodGet && r.ProtoMajor == 1 && len(values) == 1 && strings.EqualFold(values[0], "websocket")
}

// navigates says that a person opens a page. On plain http browsers do not tell, and
// what a client accepts must do.
func navigates(r *http.Request) bool {
	if r.Method != http.MethodGet && r.Method != http.MethodHead || upgrades(r) || prefetches(r) {
		return false
	}
	if mode := r.Header.Get("Sec-Fetch-Mode"); mode != "" {
		return mode == "navigate"
	}
	return strings.Contains(r.Header.Get("Accept"), "text/html")
}

// prefetches says that a browser asks in case a person might want it.
func prefetches(r *http.Request) bool {
	return slices.ContainsFunc([]string{"Sec-Purpose", "Purpose", "X-Moz"}, func(name string) bool {
		return strings.Contains(strings.ToLower(r.Header.Get(name)), "prefetch")
	})
}

// isProgram says that no browser sends it, as far as can be told: those tell what for,
// where from, or what they are.
func isProgram(r *http.Request) bool {
	return r.Header.Get("Sec-Fetch-Mode") == "" && r.Header.Get("Origin") == "" && !strings.HasPrefix(r.UserAgent(), "Mozilla/")
}
