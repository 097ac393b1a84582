package app

import (
	"net/http"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/auth"
)

// foreign are the marks of a request that a page of another site made a browser
// send.
var foreign = map[string][]way{
	"origin":            {header("Origin", "https://evil.example")},
	"no origin to tell": {header("Origin", "null")},
	"our name, port 1":  {header("Origin", "http://127.0.0.1:1")},
	"cross-site":        {header("Sec-Fetch-Site", "cross-site")},
	"same-site":         {header("Sec-Fetch-Site", "same-site"), header("Origin", "http://neighbour.localhost")},
}

// An admin's browser visits a hostile page. Whatever it makes the browser send
// to any route, with the cookie, is refused and changes nothing.
func TestSecureCSRF(t *testing.T) {
	t.Parallel()
	f := besiege(t)
	admin := f.person(auth.Admin)
	x := f.furnish("thing")
	before := f.state()
	tried := 0
	for _, e := range f.entrances(x) {
		if e.method == "GET" {
			continue
		}
		for name, marks := range foreign {
			for _, body := range []way{form(filled...), sending("text/plain", `{"name":"x"}`), object("name", "intruder", "size", 9, "role", "admin", "mode", "paused", "priority", 9)} {
				got := f.ask(e.method, e.path, append([]way{with(admin), body}, marks...)...)
				if got.StatusCode != http.StatusForbidden || !strings.Contains(got.body, "another site") {
					t.Errorf("%s: %s %s: status %d: %.200s", name, e.method, e.path, got.StatusCode, got.body)
				}
				if len(got.Cookies()) > 0 {
					t.Errorf("%s: %s %s sets a cookie", name, e.method, e.path)
				}
				tried++
			}
		}
	}
	if tried < 1000 {
		t.Fatalf("only %d requests were tried", tried)
	}
	if after := f.state(); after != before {
		t.Errorf("another site changed something:\n%s", differ(before, after))
	}
	// The same requests from our own page are not refused for where they come from.
	for _, own := range [][]way{{header("Sec-Fetch-Site", "same-origin"), header("Origin", "http://"+f.listen)}, {header("Origin", "http://"+f.listen)}, {}} {
		f.wants(http.StatusSeeOther, "POST", x.path("/pools/{name}/limits"), append(own, with(admin), form("size", "7"))...)
		if got := f.ask("PUT", apiPrefix+x.path("/tasks/{task}/priority"), append(own, with(admin), object("priority", 5))...); got.StatusCode != http.StatusConflict {
			t.Errorf("from our own page: status %d: %s", got.StatusCode, got.body)
		}
	}
}

// Nobody logs a victim's browser in as the attacker.
func TestSecureLoginCSRF(t *testing.T) {
	t.Parallel()
	f := besiege(t)
	f.add("mallory", auth.Viewer)
	for name, marks := range foreign {
		for _, c := range []struct {
			path string
			body way
		}{
			{"/login", form("name", "mallory", "password", goodPassword)},
			{apiPrefix + "/login", object("name", "mallory", "password", goodPassword)},
			{apiPrefix + "/login", sending("text/plain", `{"name": "mallory", "password": "`+goodPassword+`"}`)},
		} {
			if got := f.wants(http.StatusForbidden, "POST", c.path, append([]way{c.body}, marks...)...); len(got.Cookies()) > 0 {
				t.Errorf("%s: %s logs in", name, c.path)
			}
		}
	}
}

// No GET and no HEAD changes anything, whatever stands in its address.
func TestSecureGETChangesNothing(t *testing.T) {
	t.Parallel()
	f := besiege(t)
	admin := f.person(auth.Admin)
	x := f.furnish("thing")
	query := http.Request{Header: http.Header{}}
	form(filled...)(&query)
	raw := make([]byte, query.ContentLength)
	_, _ = query.Body.Read(raw) // a reader of text gives all at once
	before := f.state()
	tried := 0
	for _, e := range f.entrances(x) {
		if e.path == "/live" || e.path == apiPrefix+"/events" || strings.HasPrefix(e.path, "/login/oidc") {
			continue // they do not end, or there is no provider
		}
		for i, path := range []string{e.path, e.path + "?" + string(raw), e.path + "?_method=POST&method=DELETE"} {
			// Both go the same way, so the second is tried with what says most.
			for _, method := range []string{"GET", "HEAD"}[:1+i%2] {
				got := f.ask(method, path, with(admin), header("X-HTTP-Method-Override", "POST"), header("X-HTTP-Method", "DELETE"), header("X-Method-Override", "PUT"))
				if got.StatusCode >= 500 {
					t.Errorf("%s %s: status %d", method, path, got.StatusCode)
				}
				for _, c := range got.Cookies() {
					if c.Name != "weir_flash" {
						t.Errorf("%s %s sets the cookie %s", method, path, c.Name)
					}
				}
				tried++
			}
		}
	}
	if tried < 500 {
		t.Fatalf("only %d requests were tried", tried)
	}
	if after := f.state(); after != before {
		t.Errorf("a GET changed something:\n%s", differ(before, after))
	}
}

// The method is the one of the request line and no other.
func TestSecureMethodOverride(t *testing.T) {
	t.Parallel()
	f := besiege(t)
	admin := f.person(auth.Admin)
	x := f.furnish("thing")
	before := f.state()
	for _, name := range []string{"X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override", "_method"} {
		for _, method := range []string{"DELETE", "PUT"} {
			f.wants(http.StatusMethodNotAllowed, "POST", apiPrefix+x.path("/pools/{pool}")+"?_method="+method, with(admin), header(name, method))
			f.wants(http.StatusMethodNotAllowed, "POST", apiPrefix+x.path("/users/{user}"), with(admin), header(name, method), object("_method", method))
		}
	}
	for _, method := range []string{"PUT", "DELETE", "PATCH", "TRACE", "FOO", "OPTIONS"} {
		for _, path := range []string{"/pools/{name}", "/users/{user}/delete", "/tasks/{id}/cancel", "/logout"} {
			if got := f.ask(method, x.path(path), with(admin)); got.StatusCode < 400 {
				t.Errorf("%s %s: status %d", method, path, got.StatusCode)
			}
		}
	}
	if after := f.state(); after != before {
		t.Errorf("something changed:\n%s", differ(before, after))
	}
}

// Logging in makes a new session and ends the one that the browser had, so that
// nobody waits inside a session that they planted.
func TestSecureFixation(t *testing.T) {
	t.Parallel()
	f := besiege(t)
	f.add("mallory", auth.Viewer)
	f.add("ada", auth.Admin)
	link, err := f.people.NewLink(t.Context(), system, "ada", 0)
	if err != nil {
		t.Fatal(err)
	}
	for name, enter := range map[string]func(planted *http.Cookie) reply{
		"password": func(c *http.Cookie) reply {
			return f.ask("POST", "/login", with(c), form("name", "ada", "password", goodPassword))
		},
		"api": func(c *http.Cookie) reply {
			return f.ask("POST", apiPrefix+"/login", with(c), object("name", "ada", "password", goodPassword))
		},
		"link": func(c *http.Cookie) reply { return f.ask("POST", "/setup", with(c), form("code", link)) },
	} {
		planted := f.login("mallory")
		ada := f.session(enter(planted))
		if ada.Value == planted.Value {
			t.Errorf("%s: the session stays", name)
		}
		f.wants(http.StatusUnauthorized, "GET", apiPrefix+"/me", with(planted))
		if got := f.wants(http.StatusOK, "GET", apiPrefix+"/me", with(ada)); !strings.Contains(got.body, `"ada"`) {
			t.Errorf("%s: %s", name, got.body)
		}
		// A cookie of the attacker's own making never becomes a session.
		made := &http.Cookie{Name: ada.Name, Value: "d2Vpcl9zZXNfMDAw"}
		f.wants(http.StatusUnauthorized, "GET", apiPrefix+"/me", with(made))
		f.wants(http.StatusNoContent, "POST", apiPrefix+"/logout", with(ada))
		f.wants(http.StatusUnauthorized, "GET", apiPrefix+"/me", with(ada))
	}
}

// Two cookies of one name: a neighbour planted one. Neither counts, in either
// order, on any face; the name for https does not count on http.
func TestSecureCookieTossing(t *testing.T) {
	t.Parallel()
	f := besiege(t)
	f.add("mallory", auth.Viewer)
	ada, mallory := f.person(auth.Admin), f.login("mallory")
	for _, path := range []string{"/", "/users", apiPrefix + "/me", apiPrefix + "/events", "/live?path=/", "/metrics", "/login"} {
		for _, two := range [][]way{{with(ada), with(mallory)}, {with(mallory), with(ada)}, {with(ada), with(ada)}} {
			if got := f.ask("GET", path, two...); got.StatusCode != http.StatusUnauthorized {
				t.Errorf("%s: status %d to %q", path, got.StatusCode, got.to())
			}
		}
	}
	f.wants(http.StatusUnauthorized, "GET", apiPrefix+"/me", with(&http.Cookie{Name: "__Host-weir_session", Value: ada.Value}))
	// Who speaks https takes no cookie that plain http could have set.
	s := besiege(t, func(c *Config, _ *Options) { c.PublicURL = "https://weir.example.org" })
	s.add("ada", auth.Admin)
	cookie := s.login("ada", calling("weir.example.org"))
	if cookie.Name != "__Host-weir_session" || !cookie.Secure || !cookie.HttpOnly || cookie.Path != "/" || cookie.Domain != "" || cookie.SameSite != http.SameSiteLaxMode {
		t.Errorf("the cookie is %s", cookie.Raw)
	}
	s.wants(http.StatusOK, "GET", apiPrefix+"/me", calling("weir.example.org"), with(cookie))
	s.wants(http.StatusUnauthorized, "GET", apiPrefix+"/me", calling("weir.example.org"), with(&http.Cookie{Name: "weir_session", Value: cookie.Value}))
}
