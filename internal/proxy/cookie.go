package proxy

import (
	"net/http"
	"strings"
)

// cookieName returns the name of the cookie of a workspace's host. Over https a browser
// accepts it from this very host alone.
func (p *Proxy) cookieName() string {
	if p.config.Address.Secure() {
		return "__Host-weir_workspace"
	}
	return "weir_workspace"
}

func (p *Proxy) setCookie(w http.ResponseWriter, secret string, seconds int) {
	http.SetCookie(w, &http.Cookie{ // #nosec G124 -- without Secure only on plain http, where a browser would drop it
		Name: p.cookieName(), Value: secret, Path: "/", MaxAge: seconds, Secure: p.config.Address.Secure(), HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
}

// cookiesMost is how many cookies of the name are checked. On plain http a neighbor or a
// page of the workspace can plant more, and they give no access.
const cookiesMost = 4

func (p *Proxy) secrets(r *http.Request) []string {
	var secrets []string
	for _, c := range r.CookiesNamed(p.cookieName()) {
		if len(secrets) < cookiesMost {
			secrets = append(secrets, c.Value)
		}
	}
	return secrets
}

// ours reports whether a cookie is Weir's. Browsers ignore the case of the prefix.
func ours(name string) bool {
	name = strings.ToLower(strings.TrimSpace(name))
	for _, prefix := range []string{"__host-", "__secure-", "__http-", "__host-http-"} {
		name = strings.TrimPrefix(name, prefix)
	}
	return strings.HasPrefix(name, "weir_")
}

// keepTheirs removes Weir's cookies from a request to a workspace. It works on the text,
// because another program may read a cookie where our parser does not.
func keepTheirs(h http.Header) {
	var kept []string
	for _, line := range h["Cookie"] {
		for part := range strings.SplitSeq(line, ";") {
			part = strings.TrimSpace(part)
			name, _, _ := strings.Cut(part, "=")
			if part != "" && !ours(name) && !strings.Contains(strings.ToLower(part), "weir_session") && !strings.Contains(strings.ToLower(part), "weir_workspace") {
				kept = append(kept, part)
			}
		}
	}
	h.Del("Cookie")
	if len(kept) > 0 {
		h.Set("Cookie", strings.Join(kept, "; "))
	}
}

// tame removes from the cookies that a workspace sets everything that affects others: a
// Domain would send them to its neighbors and the dashboard, and a cookie without a name
// can pass for one of ours.
func tame(h http.Header) {
	lines := h["Set-Cookie"]
	h.Del("Set-Cookie")
	for _, line := range lines {
		parts := strings.Split(line, ";")
		name, _, named := strings.Cut(parts[0], "=")
		if !named || strings.TrimSpace(name) == "" || ours(name) {
			continue
		}
		kept := parts[:1]
		for _, attribute := range parts[1:] {
			key, _, _ := strings.Cut(attribute, "=")
			if !strings.EqualFold(strings.TrimSpace(key), "Domain") {
				kept = append(kept, attribute)
			}
		}
		h.Add("Set-Cookie", strings.Join(kept, ";"))
	}
}
