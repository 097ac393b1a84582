package proxy

import (
	"net/http"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// welcome reports whether a request is allowed at all, whatever its sender: a page of
// another origin, a neighbor workspace included, may link a person here, and nothing
// else. The cookie alone does not ensure that, because a neighbor belongs to the same
// site.
func (p *Proxy) welcome(r *http.Request) bool {
	origin := r.Header.Values("Origin")
	own := len(origin) == 0 || len(origin) == 1 && origin[0] == p.config.Address.Scheme+"://"+r.Host
	if upgrades(r) {
		// Browsers always send the Origin of a WebSocket, and programs need not.
		return own
	}
	site, mode, dest := r.Header.Get("Sec-Fetch-Site"), r.Header.Get("Sec-Fetch-Mode"), r.Header.Get("Sec-Fetch-Dest")
	looks := r.Method == http.MethodGet || r.Method == http.MethodHead
	switch site {
	case "same-origin", "none":
		return true
	case "":
		// The client is an old browser, a browser on plain http, or a program.
		return own
	default:
		return looks && mode == "navigate" && dest == "document"
	}
}

// upgrades reports whether a request asks to take over the connection.
func upgrades(r *http.Request) bool {
	return len(r.Header.Values("Upgrade")) > 0 || httpguts.HeaderValuesContainsToken(r.Header["Connection"], "Upgrade")
}

// isWebSocket reports whether the upgrade is to a WebSocket. Any other, such as h2c,
// would carry requests past this proxy.
func isWebSocket(r *http.Request) bool {
	values := r.Header.Values("Upgrade")
	return r.Method == http.MethodGet && r.ProtoMajor == 1 && len(values) == 1 && strings.EqualFold(values[0], "websocket")
}

// navigates reports whether a person opens a page. On plain http browsers do not send
// Sec-Fetch headers, so the Accept header decides.
func navigates(r *http.Request) bool {
	if r.Method != http.MethodGet && r.Method != http.MethodHead || upgrades(r) || prefetches(r) {
		return false
	}
	if mode := r.Header.Get("Sec-Fetch-Mode"); mode != "" {
		return mode == "navigate"
	}
	return strings.Contains(r.Header.Get("Accept"), "text/html")
}

// prefetches reports whether a browser fetches a page in advance.
func prefetches(r *http.Request) bool {
	return slices.ContainsFunc([]string{"Sec-Purpose", "Purpose", "X-Moz"}, func(name string) bool {
		return strings.Contains(strings.ToLower(r.Header.Get(name)), "prefetch")
	})
}

// isProgram reports whether no browser sends the request, as far as the headers show: a
// browser sends its purpose, its origin, or its name.
func isProgram(r *http.Request) bool {
	return r.Header.Get("Sec-Fetch-Mode") == "" && r.Header.Get("Origin") == "" && !strings.HasPrefix(r.UserAgent(), "Mozilla/")
}
