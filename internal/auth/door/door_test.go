package door

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/auth"
)

func TestCookie(t *testing.T) {
	for _, secure := range []bool{false, true} {
		h := open(t, func(c *Config) { c.Secure = secure })
		h.add("ada", auth.Viewer)
		cookie := h.login()
		name := map[bool]string{false: "weir_session", true: "__Host-weir_session"}[secure]
		if cookie.Name != name || cookie.Secure != secure || !cookie.HttpOnly || cookie.SameSite != http.SameSiteLaxMode || cookie.Path != "/" || cookie.Domain != "" {
			t.Errorf("secure %v: %s", secure, cookie.Raw)
		}
		if r := h.ask("GET", "/", nil, with(cookie)); r.body != "ada at 127.0.0.1" {
			t.Errorf("got %q", r.body)
		}
		if r := h.ask("GET", "/", nil); r.body != "nobody at 127.0.0.1" {
			t.Errorf("got %q", r.body)
		}
		// The cookie name for the other kind of connection does not count.
		elsewhere := &http.Cookie{Name: map[bool]string{true: "weir_session", false: "__Host-weir_session"}[secure], Value: cookie.Value}
		if r := h.ask("GET", "/", nil, with(elsewhere)); r.body != "nobody at 127.0.0.1" {
			t.Errorf("got %q", r.body)
		}
	}
}

func TestLogout(t *testing.T) {
	h := open(t, nil)
	h.add("ada", auth.Viewer)
	cookie := h.login()
	r := h.ask("POST", "/logout", nil, with(cookie))
	h.wants("log out", r, http.StatusOK)
	if cleared := r.Cookies(); len(cleared) != 1 || cleared[0].MaxAge != -1 || cleared[0].Name != cookie.Name {
		t.Errorf("the cookie stays: %v", cleared)
	}
	h.wants("after logging out", h.ask("GET", "/", nil, with(cookie)), http.StatusUnauthorized)
}

// An invalid credential is an error, never an anonymous request.
func TestWrongCredential(t *testing.T) {
	h := open(t, nil)
	ada := h.add("ada", auth.Viewer)
	_, token, err := h.store.CreateToken(t.Context(), ada, auth.NewToken{Name: "ci", Scopes: []string{"*:read"}})
	if err != nil {
		t.Fatal(err)
	}
	join, err := h.store.CreateJoin(t.Context(), auth.System("test"), auth.NewJoin{Any: true})
	if err != nil {
		t.Fatal(err)
	}
	node, err := h.store.Join(t.Context(), join, "n1")
	if err != nil {
		t.Fatal(err)
	}
	cookie := h.login()
	for _, good := range []struct{ value, want string }{{"Bearer " + token, "ada (token ci)"}, {"bearer  " + token, "ada (token ci)"}, {"Bearer " + node, "node n1"}} {
		if r := h.ask("GET", "/", nil, header("Authorization", good.value), with(cookie)); !strings.HasPrefix(r.body, good.want) {
			t.Errorf("%.12s…: %q", good.value, r.body)
		}
	}
	typo := token[:20] + "!" + token[21:]
	for name, bad := range map[string][]func(*http.Request){
		"typo":                   {header("Authorization", "Bearer "+typo)},
		"wrong, beside a cookie": {header("Authorization", "Bearer "+typo), with(cookie)},
		"basic":                  {header("Authorization", "Basic YWRhOmFkYQ=="), with(cookie)},
		"empty":                  {header("Authorization", ""), with(cookie)},
		"two":                    {header("Authorization", "Bearer "+token), header("Authorization", "Bearer "+token)},
		"a join token":           {header("Authorization", "Bearer "+join)},
		"cookie garbage":         {with(&http.Cookie{Name: cookie.Name, Value: "garbage!"})},
		"cookie of nobody":       {with(&http.Cookie{Name: cookie.Name, Value: cookie.Value[:20] + "AAAA" + cookie.Value[24:]})},
	} {
		for _, path := range []string{"/", "/api/v1/tasks"} {
			r := h.ask("GET", path, nil, bad...)
			h.wants(name, r, http.StatusUnauthorized)
			if r.Header.Get("WWW-Authenticate") == "" {
				t.Errorf("%s: the answer does not say how", name)
			}
		}
	}
	must(t, h.store.Disable(t.Context(), auth.System("test"), "ada"))
	h.wants("disabled", h.ask("GET", "/", nil, header("Authorization", "Bearer "+token)), http.StatusUnauthorized)
	must(t, h.store.RevokeNode(t.Context(), auth.System("test"), "n1"))
	h.wants("revoked", h.ask("GET", "/", nil, header("Authorization", "Bearer "+node)), http.StatusUnauthorized)
}

// A person with an expired session is sent to the login page, once: the cookie is
// deleted, so that the login page can be reached.
func TestStaleSession(t *testing.T) {
	h := open(t, nil)
	h.add("ada", auth.Viewer)
	cookie := h.login()
	_, err := h.db.Pool.Exec(t.Context(), `delete from weir.sessions`)
	must(t, err)
	r := h.ask("GET", "/jobs?state=failed", nil, with(cookie), header("Accept", "text/html,*/*"))
	h.wants("a page", r, http.StatusSeeOther)
	if to := r.Header.Get("Location"); to != "/login?next=%2Fjobs%3Fstate%3Dfailed" {
		t.Errorf("sent to %q", to)
	}
	if cleared := r.Cookies(); len(cleared) != 1 || cleared[0].MaxAge != -1 {
		t.Errorf("the cookie stays: %v", cleared)
	}
	if to := h.ask("GET", "/login?next=%2Fjobs", nil, with(cookie), header("Accept", "text/html")).Header.Get("Location"); to != "/login?next=%2Fjobs" {
		t.Errorf("the login page leads to %q", to)
	}
	h.wants("a stream", h.ask("GET", "/live", nil, with(cookie), header("Accept", "text/event-stream")), http.StatusUnauthorized)
	h.wants("the API", h.ask("GET", "/api/v1/tasks", nil, with(cookie), header("Accept", "text/html")), http.StatusUnauthorized)
}

// Of two cookies of the name one is planted, and neither counts.
func TestCookieTossing(t *testing.T) {
	for _, secure := range []bool{false, true} {
		h := open(t, func(c *Config) { c.Secure = secure })
		h.add("ada", auth.Viewer)
		mine, theirs := h.login(), h.login()
		h.wants("two", h.ask("GET", "/", nil, with(theirs), with(mine)), http.StatusUnauthorized)
		h.wants("two for a person", h.ask("GET", "/", nil, with(theirs), with(mine), header("Accept", "text/html")), http.StatusUnauthorized)
		h.wants("the same twice", h.ask("GET", "/", nil, with(mine), with(mine)), http.StatusUnauthorized)
		h.wants("one and an empty one", h.ask("GET", "/", nil, with(mine), with(&http.Cookie{Name: mine.Name})), http.StatusUnauthorized)
		h.wants("one", h.ask("GET", "/", nil, with(mine)), http.StatusOK)
	}
}

// Logging in gives a new id and ends the session before it, so that an attacker who
// planted a session id does not share the session.
func TestFixation(t *testing.T) {
	h := open(t, nil)
	h.add("ada", auth.Viewer)
	planted := h.login()
	mine := h.login(with(planted))
	if mine.Value == planted.Value {
		t.Fatal("the id stayed")
	}
	h.wants("the planted session", h.ask("GET", "/", nil, with(planted)), http.StatusUnauthorized)
	h.wants("the new one", h.ask("GET", "/", nil, with(mine)), http.StatusOK)
	// A made-up session id is not adopted either.
	h.wants("made up", h.ask("POST", "/login", url.Values{"name": {"ada"}, "password": {good}}, with(&http.Cookie{Name: mine.Name, Value: "d2Vpcl9zZXNfeA"})), http.StatusUnauthorized)
	link, err := h.store.NewLink(t.Context(), auth.System("test"), "ada", 0)
	must(t, err)
	r := h.ask("POST", "/link", url.Values{"secret": {link}}, with(mine))
	h.wants("link", r, http.StatusOK)
	h.wants("before the link", h.ask("GET", "/", nil, with(mine)), http.StatusUnauthorized)
	h.wants("after the link", h.ask("GET", "/", nil, with(r.Cookies()[0])), http.StatusOK)
	h.wants("the link again", h.ask("POST", "/link", url.Values{"secret": {link}}), http.StatusUnauthorized)
}

// A request that changes something must come from a page of this server, unless it has a
// token.
func TestCrossOrigin(t *testing.T) {
	h := open(t, func(c *Config) { c.Hosts = []string{"weir.example.com"} })
	ada := h.add("ada", auth.Viewer)
	_, token, err := h.store.CreateToken(t.Context(), ada, auth.NewToken{Name: "ci", Scopes: []string{"*:read"}})
	must(t, err)
	us := called("weir.example.com")
	cookie := h.login(us)
	for name, c := range map[string]struct {
		headers []func(*http.Request)
		want    int
	}{
		"our page":                {[]func(*http.Request){header("Sec-Fetch-Site", "same-origin"), with(cookie)}, http.StatusOK},
		"typed by the user":       {[]func(*http.Request){header("Sec-Fetch-Site", "none"), with(cookie)}, http.StatusOK},
		"another site":            {[]func(*http.Request){header("Sec-Fetch-Site", "cross-site"), with(cookie)}, http.StatusForbidden},
		"a neighbour":             {[]func(*http.Request){header("Sec-Fetch-Site", "same-site"), with(cookie)}, http.StatusForbidden},
		"an older browser":        {[]func(*http.Request){header("Origin", "https://evil.example"), with(cookie)}, http.StatusForbidden},
		"a sandbox":               {[]func(*http.Request){header("Origin", "null"), with(cookie)}, http.StatusForbidden},
		"our page, older browser": {[]func(*http.Request){header("Origin", "https://weir.example.com"), with(cookie)}, http.StatusOK},
		"login from elsewhere":    {[]func(*http.Request){header("Sec-Fetch-Site", "cross-site")}, http.StatusForbidden},
		"a program":               {[]func(*http.Request){header("Authorization", "Bearer "+token), header("Sec-Fetch-Site", "cross-site")}, http.StatusOK},
		"an empty bearer":         {[]func(*http.Request){header("Authorization", ""), header("Sec-Fetch-Site", "cross-site"), with(cookie)}, http.StatusUnauthorized},
	} {
		for _, method := range []string{"POST", "PUT", "PATCH", "DELETE"} {
			r := h.ask(method, "/change", nil, append(c.headers, us)...)
			want := c.want
			if want == http.StatusOK && method != "POST" {
				want = http.StatusMethodNotAllowed // it reached the site
			}
			h.wants(name+" "+method, r, want)
		}
	}
	h.wants("a look from elsewhere", h.ask("GET", "/", nil, header("Sec-Fetch-Site", "cross-site"), with(cookie), us), http.StatusOK)
}

func TestThrottle(t *testing.T) {
	h := open(t, nil)
	h.add("ada", auth.Viewer)
	var r reply
	for range 7 {
		r = h.ask("POST", "/login", url.Values{"name": {"ada"}, "password": {"a wrong guess"}})
	}
	h.wants("too often", r, http.StatusTooManyRequests)
	if wait := r.Header.Get("Retry-After"); wait != "1" && wait != "2" {
		t.Errorf("Retry-After is %q", wait)
	}
}

func TestHeaders(t *testing.T) {
	h := open(t, func(c *Config) { c.Secure = true })
	for name, r := range map[string]reply{"page": h.ask("GET", "/", nil), "refusal": h.ask("GET", "/", nil, called("evil.example")), "asset": h.ask("GET", "/asset", nil)} {
		for key, want := range map[string]string{
			"Content-Security-Policy":   "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
			"X-Content-Type-Options":    "nosniff",
			"X-Frame-Options":           "DENY",
			"Referrer-Policy":           "no-referrer",
			"Strict-Transport-Security": "max-age=31536000",
			"Cache-Control":             map[bool]string{true: "max-age=1", false: "no-store"}[name == "asset"],
		} {
			if got := r.Header.Values(key); !slices.Equal(got, []string{want}) {
				t.Errorf("%s: %s is %q", name, key, got)
			}
		}
	}
	if r := open(t, nil).ask("GET", "/", nil); r.Header.Get("Strict-Transport-Security") != "" {
		t.Error("plain http asks for https")
	}
}

func TestClient(t *testing.T) {
	h := open(t, func(c *Config) { c.Proxies = proxies })
	plain := open(t, nil)
	for forwarded, want := range map[string]string{
		"":                                   "127.0.0.1",
		"192.0.2.7":                          "192.0.2.7",
		"198.51.100.1, 192.0.2.7":            "192.0.2.7",
		"198.51.100.1, 192.0.2.7, 10.1.1.1":  "192.0.2.7",
		"198.51.100.1, garbage, 10.1.1.1":    "10.1.1.1",
		"garbage":                            "127.0.0.1",
		"::ffff:192.0.2.7":                   "192.0.2.7",
		"2001:db8::1%eth0":                   "2001:db8::1",
		"10.0.0.1, 10.0.0.2":                 "10.0.0.1",
		"192.0.2.7:1234":                     "127.0.0.1",
		"<script>, 192.0.2.8":                "192.0.2.8",
		"198.51.100.1, 192.0.2.7 , 10.1.1.1": "192.0.2.7",
	} {
		if r := h.ask("GET", "/", nil, header("X-Forwarded-For", forwarded)); r.body != "nobody at "+want {
			t.Errorf("%q: %q, wanted %s", forwarded, r.body, want)
		}
		if r := plain.ask("GET", "/", nil, header("X-Forwarded-For", forwarded)); r.body != "nobody at 127.0.0.1" {
			t.Errorf("without a trusted proxy, %q: %q", forwarded, r.body)
		}
	}
	// Each proxy may add a line of its own.
	if r := h.ask("GET", "/", nil, header("X-Forwarded-For", "198.51.100.1"), header("X-Forwarded-For", "192.0.2.7")); r.body != "nobody at 192.0.2.7" {
		t.Errorf("two lines: %q", r.body)
	}
}

func TestNext(t *testing.T) {
	h := open(t, nil)
	for next, want := range map[string]string{
		"":                              "/",
		"/":                             "/",
		"/jobs?state=failed#x":          "/jobs?state=failed#x",
		"/a/../b":                       "/b",
		"https://evil.example":          "/",
		"//evil.example":                "/",
		"//evil.example/x":              "/",
		"///evil.example":               "/",
		"/\\evil.example":               "/",
		"\\\\evil.example":              "/",
		"/\t/evil.example":              "/",
		"/x y?z=\u00e9":                 "/x%20y?z=%c3%a9",
		"\n//evil.example":              "/",
		"/%2f/evil.example":             "/",
		"/%5cevil.example":              "/",
		"javascript:alert(1)":           "/",
		"jobs":                          "/",
		"@evil.example":                 "/",
		"/x\r\nSet-Cookie: a=b":         "/",
		"/" + strings.Repeat("a", 3000): "/",
	} {
		r := h.ask("GET", "/next?next="+url.QueryEscape(next), nil)
		if to := r.Header.Get("Location"); to != want || len(r.Cookies()) != 0 {
			t.Errorf("%q leads to %q, wanted %q", next, to, want)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
