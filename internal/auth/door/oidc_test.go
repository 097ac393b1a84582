package door

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/zitadel/oidc/v3/example/server/exampleop"
	"github.com/zitadel/oidc/v3/example/server/storage"

	"github.com/weirhq/weir/internal/auth"
)

// provide starts a real identity provider and configures the door with it.
func provide(t *testing.T, h *house) *httptest.Server {
	t.Helper()
	var handler http.Handler
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(w, r) }))
	t.Cleanup(provider.Close)
	callback := h.URL + "/oidc/callback"
	handler = exampleop.SetupServer(provider.URL, storage.NewStorageWithClients(storage.NewUserStore(provider.URL),
		map[string]*storage.Client{"weir": storage.WebClient("weir", "a client secret", callback)}), slog.New(slog.DiscardHandler), false)
	client := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(client.CloseIdleConnections)
	var err error
	h.door.config.OIDC, err = auth.NewOIDC(auth.OIDCConfig{Issuer: provider.URL, ClientID: "weir", ClientSecret: "a client secret", RedirectURL: callback, HTTP: client}, h.store)
	must(t, err)
	return provider
}

// visit goes through the provider's pages and returns the path that it redirects back to.
func visit(t *testing.T, h *house, provider *httptest.Server, redirect string) string {
	t.Helper()
	client := &http.Client{CheckRedirect: func(r *http.Request, _ []*http.Request) error {
		if strings.HasPrefix(r.URL.String(), h.URL) {
			return http.ErrUseLastResponse
		}
		return nil
	}}
	defer client.CloseIdleConnections()
	page, err := client.Get(redirect)
	must(t, err)
	_, _ = io.Copy(io.Discard, page.Body)
	page.Body.Close()
	back, err := client.PostForm(provider.URL+"/login/username", url.Values{"username": {"test-user2"}, "password": {"verysecure"}, "id": {page.Request.URL.Query().Get("authRequestID")}})
	must(t, err)
	back.Body.Close()
	to, err := back.Location()
	must(t, err)
	return strings.TrimPrefix(to.String(), h.URL)
}

func TestOIDC(t *testing.T) {
	h := open(t, nil)
	h.wants("no provider", h.ask("GET", "/oidc", nil), http.StatusNotFound)
	h.wants("no provider", h.ask("GET", "/oidc/callback", nil), http.StatusNotFound)
	provider := provide(t, h)
	begin := func(next string) (*http.Cookie, string) {
		r := h.ask("GET", "/oidc?next="+url.QueryEscape(next), nil)
		h.wants("start", r, http.StatusSeeOther)
		c := r.Cookies()[0]
		if c.Name != "weir_oidc" || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.MaxAge <= 0 {
			t.Errorf("the cookie is %s", c.Raw)
		}
		return c, visit(t, h, provider, r.Header.Get("Location"))
	}
	mine, back := begin("/jobs?state=failed")
	theirs, _ := begin("/")
	// An answer to a visit that another browser started does not log this browser in
	// (login CSRF).
	h.wants("another browser", h.ask("GET", back, nil), http.StatusUnauthorized)
	h.wants("another visit", h.ask("GET", back, nil, with(theirs)), http.StatusUnauthorized)
	h.wants("two cookies", h.ask("GET", back, nil, with(theirs), with(mine)), http.StatusUnauthorized)
	r := h.ask("GET", back, nil, with(mine), header("Sec-Fetch-Site", "cross-site"))
	h.wants("finish", r, http.StatusSeeOther)
	if to := r.Header.Get("Location"); to != "/jobs?state=failed" {
		t.Errorf("sent to %q", to)
	}
	var session *http.Cookie
	for _, c := range r.Cookies() {
		if c.Name == "weir_session" {
			session = c
		} else if c.MaxAge != -1 {
			t.Errorf("the cookie of the visit stays: %s", c.Raw)
		}
	}
	if r := h.ask("GET", "/", nil, with(session)); r.body != "test-user2 at 127.0.0.1" {
		t.Errorf("got %q", r.body)
	}
	h.wants("replayed", h.ask("GET", back, nil, with(mine)), http.StatusUnauthorized)
	mine, back = begin("//evil.example")
	if to := h.ask("GET", back, nil, with(mine)).Header.Get("Location"); to != "/" {
		t.Errorf("sent to %q", to)
	}
}

// No secret of a browser is in the log of the server or in its database.
func TestCanary(t *testing.T) {
	h := open(t, nil)
	h.add("ada", auth.Viewer)
	cookie := h.login()
	_, err := h.db.Pool.Exec(t.Context(), `delete from weir.sessions`)
	must(t, err)
	h.ask("GET", "/?secret=", nil, with(cookie))
	h.ask("GET", "/", nil, with(cookie), with(cookie))
	h.ask("POST", "/change", nil, with(cookie), header("Sec-Fetch-Site", "cross-site"))
	h.ask("POST", "/login", url.Values{"name": {"ada"}, "password": {"canary in the mine"}})
	h.db.Pool.Close()
	h.wants("no database", h.ask("GET", "/api/", nil, header("Authorization", "Bearer weir_pat_"+strings.Repeat("0", 49))), http.StatusUnauthorized)
	h.ask("GET", "/", nil, with(cookie))
	log := h.log.String()
	if !strings.Contains(log, "request refused") {
		t.Fatalf("the log does not hold what it should: %s", log)
	}
	for _, secret := range []string{cookie.Value, "canary", good} {
		if strings.Contains(log, secret) {
			t.Errorf("a secret is in the log: %s", log)
		}
	}
	h.db.SkipDoctor("the pool is closed")
}
