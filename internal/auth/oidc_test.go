package auth

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/zitadel/oidc/v3/example/server/exampleop"
	"github.com/zitadel/oidc/v3/example/server/storage"

	"github.com/weirhq/weir/internal/problem"
)

const callback = "http://localhost/login/oidc/callback"

// provider is a real OpenID provider on a port of its own. The test can change its
// answers in transit.
type provider struct {
	*httptest.Server
	storage *storage.Storage
	// spoil changes the claims of an id token before it is signed again.
	spoil func(claims map[string]any)
	// sign makes another signature, if set.
	sign func(claims []byte) string
	// asked counts the visits of the token endpoint.
	asked int
}

// people are the users of the provider, by id.
type people map[string]*storage.User

func (p people) GetUserByID(id string) *storage.User { return p[id] }
func (p people) ExampleClientID() string             { return "service" }
func (p people) GetUserByUsername(name string) *storage.User {
	for _, u := range p {
		if u.Username == name {
			return u
		}
	}
	return nil
}

func newProvider(t *testing.T) *provider {
	t.Helper()
	p := &provider{storage: storage.NewStorageWithClients(people{
		"id-1": {ID: "id-1", Username: "Ada Lovelace", Password: "x", Email: "ada@example.com", EmailVerified: true},
		"id-2": {ID: "id-2", Username: "ada", Password: "x", Email: "ada@example.com", EmailVerified: true},
	}, map[string]*storage.Client{"weir": storage.WebClient("weir", "a client secret", callback)})}
	var handler http.Handler
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/oauth/token" {
			handler.ServeHTTP(w, r)
			return
		}
		p.asked++
		rec := httptest.NewRecorder()
		handler.ServeHTTP(rec, r)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(rec.Code)
		_, _ = w.Write(p.rewrite(t, rec.Body.Bytes()))
	}))
	t.Cleanup(p.Close)
	handler = exampleop.SetupServer(p.URL, p.storage, slog.New(slog.DiscardHandler), false)
	return p
}

// rewrite changes the id token of an answer.
func (p *provider) rewrite(t *testing.T, body []byte) []byte {
	answer := map[string]any{}
	if err := json.Unmarshal(body, &answer); err != nil || answer["id_token"] == nil || (p.spoil == nil && p.sign == nil) {
		return body
	}
	token, err := jose.ParseSigned(answer["id_token"].(string), []jose.SignatureAlgorithm{jose.RS256})
	if err != nil {
		t.Error(err)
		return body
	}
	claims := map[string]any{}
	decoder := json.NewDecoder(bytes.NewReader(token.UnsafePayloadWithoutVerification()))
	decoder.UseNumber()
	if err := decoder.Decode(&claims); err != nil {
		t.Error(err)
	}
	if p.spoil != nil {
		p.spoil(claims)
	}
	text, _ := json.Marshal(claims)
	if p.sign == nil {
		key, _ := p.storage.SigningKey(context.Background())
		answer["id_token"] = signed(t, jose.RS256, key.Key(), key.ID(), text)
	} else {
		answer["id_token"] = p.sign(text)
	}
	out, _ := json.Marshal(answer)
	return out
}

func signed(t *testing.T, alg jose.SignatureAlgorithm, key any, id string, claims []byte) string {
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: jose.JSONWebKey{Key: key, KeyID: id}}, nil)
	if err != nil {
		t.Error(err)
		return ""
	}
	token, err := signer.Sign(claims)
	if err != nil {
		t.Error(err)
		return ""
	}
	text, _ := token.CompactSerialize()
	return text
}

// visit goes through the provider's pages like a browser and returns the query with which
// the provider redirects it back.
func (p *provider) visit(t *testing.T, redirect, username string) url.Values {
	t.Helper()
	client := &http.Client{CheckRedirect: func(r *http.Request, _ []*http.Request) error {
		if strings.HasPrefix(r.URL.String(), callback) {
			return http.ErrUseLastResponse
		}
		return nil
	}}
	defer client.CloseIdleConnections()
	page, err := client.Get(redirect)
	must(t, err)
	body, _ := io.ReadAll(page.Body)
	page.Body.Close()
	id := page.Request.URL.Query().Get("authRequestID")
	if id == "" {
		t.Fatalf("the provider refused the visit: %s", body)
	}
	back, err := client.PostForm(p.URL+"/login/username", url.Values{"username": {username}, "password": {"x"}, "id": {id}})
	must(t, err)
	back.Body.Close()
	u, err := back.Location()
	must(t, err)
	return u.Query()
}

// startOIDC is a store with an identity provider.
func startOIDC(t *testing.T, change func(*OIDCConfig)) (*setup, *provider, *OIDC) {
	t.Helper()
	x, p := start(t), newProvider(t)
	client := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(client.CloseIdleConnections)
	config := OIDCConfig{Issuer: p.URL, ClientID: "weir", ClientSecret: "a client secret", RedirectURL: callback, HTTP: client}
	if change != nil {
		change(&config)
	}
	o, err := NewOIDC(config, x.Store)
	must(t, err)
	return x, p, o
}

// enter logs a user of the provider in.
func enter(t *testing.T, p *provider, o *OIDC, username string) (Subject, error) {
	t.Helper()
	redirect, visit, err := o.Start(t.Context())
	must(t, err)
	_, subject, err := o.Finish(t.Context(), visit, p.visit(t, redirect, username), here)
	return subject, err
}

func TestOIDC(t *testing.T) {
	x, p, o := startOIDC(t, nil)
	ctx := t.Context()
	redirect, visit, err := o.Start(ctx)
	must(t, err)
	query, _ := url.Parse(redirect)
	for _, want := range []string{"nonce", "state", "code_challenge"} {
		if len(query.Query().Get(want)) < 43 {
			t.Errorf("%s is %q", want, query.Query().Get(want))
		}
	}
	if query.Query().Get("code_challenge_method") != "S256" {
		t.Error("PKCE is not used")
	}
	session, subject, err := o.Finish(ctx, visit, p.visit(t, redirect, "Ada Lovelace"), here)
	must(t, err)
	if subject.Name != "ada-lovelace" || subject.Role != Viewer {
		t.Errorf("got %+v", subject)
	}
	_, err = x.Session(ctx, session)
	must(t, err)
	again, err := enter(t, p, o, "Ada Lovelace")
	must(t, err)
	if again.UserID != subject.UserID {
		t.Error("the same person became two users")
	}
	// The provider is the only way in: no password can be set for its users.
	wants(t, x.SetPassword(ctx, again, "ada-lovelace", "", good), problem.Conflict)
	_, _, err = x.Login(ctx, "ada-lovelace", "", here)
	wants(t, err, problem.Unauthenticated)
	// Without a role claim, the role that an admin gave stays.
	must(t, x.SetRole(ctx, System("test"), "ada-lovelace", Maintainer))
	if again, err = enter(t, p, o, "Ada Lovelace"); err != nil || again.Role != Maintainer {
		t.Errorf("got %+v, %v", again, err)
	}
	x.add("root", Admin)
	must(t, x.Disable(ctx, System("test"), "ada-lovelace"))
	_, err = enter(t, p, o, "Ada Lovelace")
	wants(t, err, problem.Unauthenticated)
}

// Neither the name nor the e-mail of an identity leads to an existing account.
func TestOIDCTakesNothingOver(t *testing.T) {
	x, p, o := startOIDC(t, nil)
	owner, err := x.CreateUser(t.Context(), System("test"), NewUser{Name: "ada", Role: Admin, Password: good, Email: "ada@example.com"})
	must(t, err)
	subject, err := enter(t, p, o, "ada")
	must(t, err)
	if subject.UserID == owner.ID || subject.Name == "ada" || subject.Role != Viewer || !strings.HasPrefix(subject.Name, "ada-") {
		t.Errorf("the account was taken over: %+v", subject)
	}
	again, err := enter(t, p, o, "ada")
	must(t, err)
	if again.UserID != subject.UserID {
		t.Error("the same person became two users")
	}
	x.login("ada", good)
}

func TestOIDCRoles(t *testing.T) {
	groups := any(nil)
	x, p, o := startOIDC(t, func(c *OIDCConfig) {
		c.RoleClaim, c.Roles, c.DefaultRole = "groups", map[string]Role{"ops": Operator, "bosses": Admin}, Viewer
	})
	p.spoil = func(claims map[string]any) { claims["groups"] = groups }
	for _, c := range []struct {
		groups any
		want   Role
	}{
		{[]string{"ops", "others"}, Operator},
		{[]string{"ops", "bosses"}, Admin},
		{"ops", Admin}, // the last admin keeps the role
		{nil, Admin},
	} {
		groups = c.groups
		if subject, err := enter(t, p, o, "Ada Lovelace"); err != nil || subject.Role != c.want {
			t.Errorf("groups %v: %+v, %v", c.groups, subject, err)
		}
	}
	x.add("root", Admin)
	for _, c := range []struct {
		groups any
		want   Role
	}{{"ops", Operator}, {[]any{1, "others"}, Viewer}, {"bosses", Admin}, {nil, Viewer}, {map[string]any{"ops": true}, Viewer}} {
		groups = c.groups
		if subject, err := enter(t, p, o, "Ada Lovelace"); err != nil || subject.Role != c.want {
			t.Errorf("groups %v: %+v, %v", c.groups, subject, err)
		}
	}
	if !slices.Contains(x.events(), "role_set") {
		t.Error("the timeline does not tell of the role")
	}
}

// Each of these id tokens is signed by the provider, or pretends to be, and has one
// fault.
func TestOIDCBadToken(t *testing.T) {
	stranger, err := rsa.GenerateKey(rand.Reader, 2048)
	must(t, err)
	for name, bad := range map[string]func(t *testing.T, p *provider){
		"audience":       func(_ *testing.T, p *provider) { p.spoil = set("aud", []string{"somebody else"}) },
		"two audiences":  func(_ *testing.T, p *provider) { p.spoil = set("aud", []string{"weir", "other"}, "azp", "other") },
		"no party":       func(_ *testing.T, p *provider) { p.spoil = set("aud", []string{"weir", "other"}, "azp", "") },
		"issuer":         func(_ *testing.T, p *provider) { p.spoil = set("iss", "https://evil.example") },
		"nonce":          func(_ *testing.T, p *provider) { p.spoil = set("nonce", "of another visit") },
		"no nonce":       func(_ *testing.T, p *provider) { p.spoil = func(c map[string]any) { delete(c, "nonce") } },
		"expired":        func(_ *testing.T, p *provider) { p.spoil = set("exp", time.Now().Add(-time.Minute).Unix()) },
		"not yet":        func(_ *testing.T, p *provider) { p.spoil = set("nbf", time.Now().Add(time.Hour).Unix()) },
		"no subject":     func(_ *testing.T, p *provider) { p.spoil = set("sub", "") },
		"another person": func(_ *testing.T, p *provider) { p.spoil = set("sub", "id-2") },
		"signature": func(t *testing.T, p *provider) {
			p.sign = func(c []byte) string { return signed(t, jose.RS256, stranger, "", c) }
		},
		"HS256 and secret": func(t *testing.T, p *provider) {
			p.sign = func(c []byte) string { return signed(t, jose.HS256, []byte("a client secret, padded to 32 b."), "", c) }
		},
		"none": func(_ *testing.T, p *provider) {
			p.sign = func(c []byte) string {
				return "eyJhbGciOiJub25lIn0." + base64url(c) + "."
			}
		},
		"not a token": func(_ *testing.T, p *provider) { p.sign = func([]byte) string { return "x.y.z" } },
	} {
		t.Run(name, func(t *testing.T) {
			x, p, o := startOIDC(t, nil)
			bad(t, p)
			_, err := enter(t, p, o, "Ada Lovelace")
			wants(t, err, problem.Unauthenticated)
			if p.asked != 1 {
				t.Errorf("the token endpoint was asked %d times", p.asked)
			}
			if n := scan[int](x, `select (select count(*) from weir.users) + (select count(*) from weir.sessions)`); n != 0 {
				t.Error("somebody got in")
			}
			if got := x.events(); !slices.Equal(got, []string{"login_failed"}) {
				t.Errorf("the timeline says %v", got)
			}
			p.spoil, p.sign = nil, nil
			_, err = enter(t, p, o, "Ada Lovelace")
			must(t, err)
		})
	}
}

// An answer counts once, within its time, and only in the browser that started the visit.
func TestOIDCVisit(t *testing.T) {
	x, p, o := startOIDC(t, nil)
	ctx := t.Context()
	begin := func() (string, url.Values) {
		redirect, visit, err := o.Start(ctx)
		must(t, err)
		return visit, p.visit(t, redirect, "Ada Lovelace")
	}
	refused := func(what, visit string, query url.Values) {
		t.Helper()
		asked := p.asked
		_, _, err := o.Finish(ctx, visit, query, here)
		wants(t, err, problem.Unauthenticated)
		if p.asked != asked {
			t.Errorf("%s: the provider was asked", what)
		}
	}
	visit, query := begin()
	mine, theirs := begin()
	refused("the answer to another browser", mine, query)
	refused("no cookie", "", query)
	refused("a cookie of another kind", newSecret(sessionSecret), query)
	_, _, err := o.Finish(ctx, visit, query, here)
	must(t, err)
	refused("replayed", visit, query)
	x.pass(visitTTL)
	refused("expired", mine, theirs)
	visit, query = begin()
	query.Set("iss", "https://evil.example")
	refused("from another provider", visit, query)
	visit, query = begin()
	query.Del("code")
	refused("no code", visit, query)
	visit, query = begin()
	query.Set("error", "access_denied")
	refused("refused there", visit, query)
	// A code that was stolen from another visit fails at the provider: PKCE.
	visit, query = begin()
	_, stolen := begin()
	query.Set("code", stolen.Get("code"))
	_, _, err = o.Finish(ctx, visit, query, here)
	wants(t, err, problem.Unauthenticated)
}

func TestOIDCConfig(t *testing.T) {
	for name, bad := range map[string]OIDCConfig{
		"plain http":   {Issuer: "http://login.example.com", ClientID: "weir", RedirectURL: callback},
		"no issuer":    {ClientID: "weir", RedirectURL: callback},
		"no client":    {Issuer: "https://login.example.com", RedirectURL: callback},
		"redirect":     {Issuer: "https://login.example.com", ClientID: "weir", RedirectURL: "/callback"},
		"default role": {Issuer: "https://login.example.com", ClientID: "weir", RedirectURL: callback, DefaultRole: "king"},
		"role":         {Issuer: "https://login.example.com", ClientID: "weir", RedirectURL: callback, Roles: map[string]Role{"x": "king"}},
	} {
		_, err := NewOIDC(bad, nil)
		if wants(t, err, problem.Invalid); err == nil {
			t.Error(name)
		}
	}
	// A provider that does not answer does not keep Weir from starting.
	x, p, o := startOIDC(t, nil)
	p.Close()
	_, _, err := o.Start(x.t.Context())
	wants(t, err, problem.Unreachable)
}

func TestNameFrom(t *testing.T) {
	for in, want := range map[string]string{
		"Ada Lovelace": "ada-lovelace", "ada@example.com": "ada@example.com", "--x": "x", "": "user", "Äda": "da", "日本": "user", strings.Repeat("a", 99): strings.Repeat("a", 64),
	} {
		if got := nameFrom(in); got != want || !nameForm.MatchString(got) {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// set returns a function that replaces the values of claims, given as pairs.
func set(pairs ...any) func(map[string]any) {
	return func(claims map[string]any) {
		for i := 0; i < len(pairs); i += 2 {
			claims[pairs[i].(string)] = pairs[i+1]
		}
	}
}

func base64url(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }
