package door

import (
	"encoding/base64"
	"net/http"

	"github.com/weirhq/weir/internal/problem"
)

const (
	sessionCookie = "weir_session"
	visitCookie   = "weir_oidc"
)

// name returns the full name of a cookie. A browser accepts a __Host- cookie only from
// this very host over https, so no other host of the domain can plant one.
func (d *Door) name(cookie string) string {
	if d.config.Secure {
		return "__Host-" + cookie
	}
	return cookie
}

// set gives the browser a cookie. With seconds 0 the cookie lasts until the browser is
// closed; the server ends sessions by its own clock.
func (d *Door) set(w http.ResponseWriter, cookie, value string, seconds int) {
	http.SetCookie(w, &http.Cookie{ // #nosec G124 -- without Secure only on plain http, where a browser would drop it
		Name: d.name(cookie), Value: base64.RawURLEncoding.EncodeToString([]byte(value)),
		Path: "/", MaxAge: seconds, Secure: d.config.Secure, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
}

func (d *Door) clear(w http.ResponseWriter, cookie string) { d.set(w, cookie, "", -1) }

// cookie reads a cookie; it returns "" if there is none. Two cookies of the name are an
// error: a neighbor host or a page of plain http planted one, and the server cannot know
// which.
func (d *Door) cookie(r *http.Request, cookie string) (string, error) {
	found := r.CookiesNamed(d.name(cookie))
	switch len(found) {
	case 0:
		return "", nil
	case 1:
		value, err := base64.RawURLEncoding.DecodeString(found[0].Value)
		if err != nil {
			return "", problem.New(problem.Unauthenticated, "log in again", "the cookie is not ours")
		}
		return string(value), nil
	default:
		p := problem.New(problem.Unauthenticated, "remove the cookies of this site in the browser, then log in again", "the browser sent two cookies of one name: somebody else set one")
		p.Err = errTwo
		return "", p
	}
}
