package pagetest_test

import (
	"encoding/base64"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/webtest"
)

const evil = `<script>alert(1)</script>"'><img src=x onerror=alert(1)>`

var inPath = regexp.MustCompile(`\{[a-z]+\}`)

// somewhere is a path of a route, with something in its places.
func somewhere(path string) string { return inPath.ReplaceAllString(path, "x") }

// Nobody gets in anywhere without logging in.
func TestNobody(t *testing.T) {
	s := webtest.Start(t)
	s.User(t, "ada", auth.Admin)
	c := s.Nobody(t)
	for _, r := range s.Web.Routes() {
		a := c.Get(t, somewhere(r.Path))
		if r.Method == http.MethodPost {
			a = c.Post(t, somewhere(r.Path), form())
		}
		if a.Status != http.StatusSeeOther || !strings.HasPrefix(a.To(), "/login") {
			t.Errorf("%s %s: %d, leads to %q", r.Method, r.Path, a.Status, a.To())
		}
	}
}

// A form on another site can do nothing, on no route.
func TestOtherSites(t *testing.T) {
	s := webtest.Start(t)
	c := s.Login(t, "ada", auth.Admin)
	paths := []string{"/login", "/logout", "/setup"}
	for _, r := range s.Web.Routes() {
		if r.Method == http.MethodPost {
			paths = append(paths, somewhere(r.Path))
		}
	}
	for _, path := range paths {
		c.PostFrom(t, "https://evil.example", path, form("name", "eve")).Is(t, http.StatusForbidden)
	}
	c.Get(t, "/account").Is(t, http.StatusOK)
}

// Each role gets to the pages it may see, and is told so elsewhere.
func TestRoles(t *testing.T) {
	s := webtest.Start(t)
	for _, role := range auth.Roles() {
		c := s.Login(t, "u-"+string(role), role)
		for _, r := range s.Web.Routes() {
			if r.Method != http.MethodGet || strings.Contains(r.Path, "{") {
				continue
			}
			subject := auth.Subject{Kind: auth.KindUser, ID: "me", UserID: "me", Role: role}
			object := auth.Object{Kind: r.Kind}
			if r.Own {
				object.Owner = "me"
			}
			may := auth.Can(subject, r.Verb, object)
			a := c.Get(t, r.Path)
			switch {
			case !may:
				a.Is(t, http.StatusForbidden).Has(t, "You may not do this")
			case a.Status == http.StatusForbidden || a.Status >= 500:
				t.Errorf("%s gets %d at %s\n%s", role, a.Status, r.Path, a.Body)
			}
		}
	}
}

// The navigation shows what the reader may open, and nothing else.
func TestNavigation(t *testing.T) {
	s := webtest.Start(t)
	s.Login(t, "ada", auth.Viewer).Get(t, "/account").Has(t, `href="/health"`, `href="/tokens"`).Lacks(t, `href="/users"`, `href="/settings"`)
	s.Login(t, "bob", auth.Admin).Get(t, "/users").Has(t, `href="/users" aria-current`, `href="/settings"`)
}

func TestNotFound(t *testing.T) {
	s := webtest.Start(t)
	c := s.Login(t, "ada", auth.Admin)
	c.Get(t, "/no/such/"+url.PathEscape(evil)).Is(t, http.StatusNotFound).Has(t, "There is nothing here", `href="/"`).Lacks(t, "<script>alert")
	c.Get(t, "/users/nobody").Is(t, http.StatusNotFound)
	c.Get(t, "/users/nobody/enable").Is(t, http.StatusNotFound)
}

// What was done is said once, on the next page, and only by us.
func TestFlash(t *testing.T) {
	s := webtest.Start(t)
	c := s.Login(t, "ada", auth.Admin)
	s.User(t, "bob", auth.Viewer)
	to := c.Post(t, "/users/bob/role", form("role", "operator")).Is(t, http.StatusSeeOther).To()
	c.Get(t, to).Is(t, 200).Has(t, "bob is operator now.")
	c.Get(t, to).Is(t, 200).Lacks(t, "bob is operator now.")

	c.Post(t, "/users/bob/role", form("role", "viewer")).Is(t, http.StatusSeeOther)
	base, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	cookies := c.HTTP.Jar.Cookies(base)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	changed := false
	for _, cookie := range cookies {
		if cookie.Name == "weir_flash" {
			_, sum, _ := strings.Cut(cookie.Value, ".")
			cookie.Value, changed = base64.RawURLEncoding.EncodeToString([]byte(`{"t":"send me your password"}`))+"."+sum, true
		}
	}
	if !changed {
		t.Fatal("there is no flash to change")
	}
	jar.SetCookies(base, cookies)
	c.HTTP.Jar = jar
	c.Get(t, to).Is(t, 200).Lacks(t, "send me your password")
}

// A refused form comes back with what was filled in, and the fault at its field.
func TestForm(t *testing.T) {
	s := webtest.Start(t)
	c := s.Login(t, "ada", auth.Admin)
	c.Post(t, "/new-user", form("name", "bad name", "email", "x@example.org", "role", "operator", "password", "secret")).
		Is(t, http.StatusUnprocessableEntity).
		Has(t, `value="bad name"`, `aria-invalid="true"`, `value="x@example.org"`, `value="operator" selected`).Lacks(t, `value="secret"`)
	c.Post(t, "/account/password", form("old", webtest.Password, "new", "another long one", "again", "different")).
		Is(t, http.StatusUnprocessableEntity).Has(t, "The two passwords differ")
	// Without a password the new user gets a link, told once.
	a := c.Post(t, "/new-user", form("name", "bob", "role", "viewer")).Is(t, 200).Has(t, "/setup?code=")
	if a.Header.Get("Cache-Control") != "no-store" {
		t.Error("a secret may be kept by a cache")
	}
}

func TestTokens(t *testing.T) {
	s := webtest.Start(t)
	c := s.Login(t, "ada", auth.Operator)
	c.Get(t, "/tokens").Is(t, 200).Has(t, "No token yet", "weir token create").Lacks(t, "Everybody")
	c.Post(t, "/new-token", form("name", "ci", "days", "900", "scopes", "*:read")).Is(t, http.StatusUnprocessableEntity)
	c.Post(t, "/new-token", form("name", "ci", "days", "30", "scopes", "*:read", "more", "nonsense")).Is(t, http.StatusUnprocessableEntity)
	a := c.Post(t, "/new-token", form("name", "ci", "days", "30", "scopes", "*:read", "scopes", "task:submit")).Is(t, 200)
	secret := regexp.MustCompile(`weir_pat_[A-Za-z0-9_-]+`).FindString(a.Body)
	if subject, err := s.Auth.Token(t.Context(), secret); err != nil || subject.Name != "ada" || len(subject.Scopes) != 2 {
		t.Fatalf("%+v, %v", subject, err)
	}
	list := c.Get(t, "/tokens").Is(t, 200).Has(t, "ci", "task:submit").Lacks(t, secret)
	revoke := regexp.MustCompile(`/tokens/[^/"]+/revoke`).FindString(list.Body)
	c.Get(t, revoke).Is(t, 200).Has(t, "cannot be undone")
	// Somebody else's does not exist for others.
	s.Login(t, "eve", auth.Operator).Post(t, revoke, form()).Is(t, http.StatusNotFound)
	c.Post(t, revoke, form()).Is(t, http.StatusSeeOther)
	if _, err := s.Auth.Token(t.Context(), secret); err == nil {
		t.Error("a revoked token works")
	}
}

// Texts from outside stay texts on every page that shows them.
func TestEverythingIsText(t *testing.T) {
	s := webtest.Start(t, func(c *site.Config) {
		c.Env, c.Version = evil, evil
		c.Settings = func() []site.Setting {
			return []site.Setting{{Name: evil, Value: evil, Origin: evil, Default: evil, Help: evil, Variable: evil}}
		}
	})
	c := s.Login(t, "ada", auth.Admin)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/account", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("User-Agent", evil)
	if response, err := c.HTTP.Do(request); err == nil {
		_ = response.Body.Close() // only the agent counts
	}
	c.Post(t, "/new-token", form("name", evil, "days", "30", "scopes", evil))
	for _, path := range []string{"/account", "/tokens", "/settings", "/users", "/search?q=" + url.QueryEscape(evil), "/" + url.PathEscape(evil), "/users/" + url.PathEscape(evil), "/tokens?whose=" + url.QueryEscape(evil)} {
		a := c.Get(t, path)
		if a.Status >= 500 {
			t.Errorf("%s: %d", path, a.Status)
		}
		a.Lacks(t, "<script>alert", "<img src=x")
	}
}

// The headers of every page keep scripts of others out.
func TestHeaders(t *testing.T) {
	s := webtest.Start(t)
	c := s.Login(t, "ada", auth.Viewer)
	for _, path := range []string{"/account", "/nothing", "/login"} {
		h := c.Get(t, path).Header
		if policy := h.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
			t.Errorf("%s: policy %q", path, policy)
		}
		if h.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: the type may be guessed", path)
		}
	}
}
