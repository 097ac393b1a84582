package pagetest_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/web/webtest"
)

func form(pairs ...string) url.Values {
	v := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		v.Add(pairs[i], pairs[i+1])
	}
	return v
}

// Who is not logged in is asked to, and comes back to where they wanted to go.
func TestLogin(t *testing.T) {
	s := webtest.Start(t)
	ada := s.User(t, "ada", auth.Viewer)
	c := s.Nobody(t)
	if to := c.Get(t, "/health?x=1").Is(t, http.StatusSeeOther).To(); to != "/login?next=%2Fhealth%3Fx%3D1" {
		t.Errorf("leads to %s", to)
	}
	c.Get(t, "/login?next=%2Fhealth").Is(t, 200).Has(t, `name="next" value="/health"`, "Password")
	c.Post(t, "/login", form("name", "ada", "password", "wrong wrong")).Is(t, http.StatusUnauthorized).
		Has(t, `role="alert"`, `value="ada"`).Lacks(t, "wrong wrong")
	if to := c.Post(t, "/login", form("name", "ada", "password", ada.Password, "next", "/health")).Is(t, http.StatusSeeOther).To(); to != "/health" {
		t.Errorf("leads to %s", to)
	}
	c.Get(t, "/account").Is(t, 200).Has(t, "ada")
	if to := c.Get(t, "/login").Is(t, http.StatusSeeOther).To(); to != "/" {
		t.Errorf("the login page of somebody who is logged in leads to %s", to)
	}
	c.Post(t, "/logout", nil).Is(t, http.StatusSeeOther)
	c.Get(t, "/account").Is(t, http.StatusSeeOther)
}

// The login leads nowhere but to our own pages.
func TestLoginOpenRedirect(t *testing.T) {
	s := webtest.Start(t)
	ada := s.User(t, "ada", auth.Viewer)
	for _, next := range []string{"https://evil.example", "//evil.example", `/\evil.example`, "/\t/evil.example", "javascript:alert(1)", "evil"} {
		c := s.Nobody(t)
		if to := c.Post(t, "/login", form("name", "ada", "password", ada.Password, "next", next)).Is(t, http.StatusSeeOther).To(); to != "/" {
			t.Errorf("%q leads to %q", next, to)
		}
	}
}

// Too many tries are told to wait, and for how long.
func TestLoginThrottle(t *testing.T) {
	s := webtest.Start(t)
	s.User(t, "ada", auth.Viewer)
	c := s.Nobody(t)
	for range 50 {
		a := c.Post(t, "/login", form("name", "ada", "password", "wrong"))
		if a.Status == http.StatusTooManyRequests {
			a.Has(t, `role="alert"`)
			if a.Header.Get("Retry-After") == "" {
				t.Error("it does not say how long to wait")
			}
			return
		}
		a.Is(t, http.StatusUnauthorized)
	}
	t.Error("50 wrong tries are not too many")
}

// A link is used by the button alone, once, and makes the first user.
func TestSetup(t *testing.T) {
	s := webtest.Start(t)
	c := s.Nobody(t)
	c.Get(t, "/login").Is(t, 200).Has(t, "weir open").Lacks(t, `type="password"`)
	link := s.SetupLink(t)
	for range 2 {
		c.Get(t, link).Is(t, 200).Has(t, "Welcome to Weir", `value="admin"`)
	}
	code := strings.TrimPrefix(link, "/setup?code=")
	c.Post(t, "/setup", form("code", code, "name", "root<b>", "password", "")).Is(t, http.StatusUnprocessableEntity).Has(t, "Welcome to Weir", `class="fault"`, "root&lt;b&gt;")
	c.Post(t, "/setup", form("code", code, "name", "ada", "password", "short")).Is(t, http.StatusUnprocessableEntity).Has(t, `class="fault"`)
	c.Post(t, "/setup", form("code", code, "name", "ada", "password", webtest.Password)).Is(t, http.StatusSeeOther)
	c.Get(t, "/users").Is(t, 200).Has(t, "ada", "admin")
	again := s.Nobody(t)
	if a := again.Post(t, "/setup", form("code", code, "name", "eve")); a.Status < 400 {
		t.Errorf("a link works twice: %d", a.Status)
	}
	if a := again.Get(t, "/setup?code=wrong"); a.Status < 400 {
		t.Errorf("a wrong code works: %d", a.Status)
	}
}

// A link for somebody who exists asks for no name, and says whose it is.
func TestLoginLink(t *testing.T) {
	s := webtest.Start(t)
	s.User(t, "ada", auth.Viewer)
	secret, err := s.Auth.NewLink(t.Context(), auth.System("test"), "ada", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	c := s.Nobody(t)
	c.Get(t, "/setup?code="+secret).Is(t, 200).Has(t, "Log in as ada").Lacks(t, `name="password"`)
	c.Post(t, "/setup", form("code", secret)).Is(t, http.StatusSeeOther)
	c.Get(t, "/account").Is(t, 200).Has(t, "ada")
}
