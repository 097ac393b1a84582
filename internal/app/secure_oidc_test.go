package app

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/zitadel/oidc/v3/example/server/exampleop"
	"github.com/zitadel/oidc/v3/example/server/storage"
)

const oidcSecret = "a secret that only the provider knows"

// provided starts a server with a real identity provider beside it.
func provided(t *testing.T) (*fort, *httptest.Server) {
	t.Helper()
	var handler atomic.Value
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler.Load().(http.Handler).ServeHTTP(w, r) }))
	t.Cleanup(provider.Close)
	f := besiege(t, func(c *Config, _ *Options) {
		c.OIDC = OIDC{Issuer: provider.URL, ClientID: "weir", ClientSecret: oidcSecret}
	})
	callback := "http://" + f.listen + "/login/oidc/return"
	handler.Store(exampleop.SetupServer(provider.URL, storage.NewStorageWithClients(storage.NewUserStore(provider.URL),
		map[string]*storage.Client{"weir": storage.WebClient("weir", oidcSecret, callback)}), slog.New(slog.DiscardHandler), false))
	return f, provider
}

// visit goes to the provider, logs in there, and gives the path it sends back to.
func (f *fort) visit(provider *httptest.Server, redirect string) string {
	f.t.Helper()
	client := &http.Client{CheckRedirect: func(r *http.Request, _ []*http.Request) error {
		if r.URL.Host == f.listen {
			return http.ErrUseLastResponse
		}
		return nil
	}}
	defer client.CloseIdleConnections()
	page, err := client.Get(redirect)
	if err != nil {
		f.t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, page.Body) // only where it led counts
	page.Body.Close()
	back, err := client.PostForm(provider.URL+"/login/username", url.Values{"username": {"test-user2"}, "password": {"verysecure"}, "id": {page.Request.URL.Query().Get("authRequestID")}})
	if err != nil {
		f.t.Fatal(err)
	}
	back.Body.Close()
	to, err := back.Location()
	if err != nil {
		f.t.Fatalf("the provider answers %d: %v", back.StatusCode, err)
	}
	return strings.TrimPrefix(to.String(), "http://"+f.listen)
}

// Whoever comes back from the identity provider stays on this site, logs in only
// in the browser that left, and only once; the provider's code is not kept.
func TestSecureOIDCReturn(t *testing.T) {
	t.Parallel()
	f, provider := provided(t)
	for _, next := range []string{"https://evil.example/", "//evil.example", `/\evil.example`, "/%5cevil.example", "javascript:x()", "/jobs"} {
		start := f.wants(http.StatusSeeOther, "GET", "/login/oidc?next="+url.QueryEscape(next))
		if !strings.HasPrefix(start.to(), provider.URL) || len(start.Cookies()) != 1 {
			t.Fatalf("sent to %q with %v", start.to(), start.Cookies())
		}
		visitor := start.Cookies()[0]
		back := f.visit(provider, start.to())
		for name, wrong := range map[string][]way{
			"another browser": nil, "a forged visit": {header("Cookie", "weir_oidc=d2Vpcl92aXNpdF8w")}, "two cookies": {with(visitor), with(visitor)},
		} {
			if got := f.wants(http.StatusUnauthorized, "GET", back, wrong...); strings.Contains(got.Header.Get("Set-Cookie"), "weir_session=d2") {
				t.Errorf("%s logs in", name)
			}
		}
		got := f.wants(http.StatusSeeOther, "GET", back, with(visitor))
		if leadsAway(got.to(), f.listen) || next == "/jobs" && got.to() != "/jobs" {
			t.Errorf("with %q sent to %q", next, got.to())
		}
		f.wants(http.StatusOK, "GET", apiPrefix+"/me", with(f.session(got)))
		f.wants(http.StatusUnauthorized, "GET", back, with(visitor))
		code, _ := url.Parse(back)
		canaries{"code": code.Query().Get("code"), "state": code.Query().Get("state"), "OIDC secret": oidcSecret}.in(t, "the log", f.log.String())
	}
}
