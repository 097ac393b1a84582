package remote_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/account"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/remote"
	"github.com/weirhq/weir/internal/work"
)

// cut closes the connection without an answer.
func cut(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err == nil {
		_ = conn.Close()
	}
}

// A safe call survives a broken connection; an unsafe one is not sent twice.
func TestConnectionLost(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := r.as(auth.Operator)
	var seen atomic.Int64
	lose := func(n int64) {
		seen.Store(0)
		r.intercept(func(w http.ResponseWriter, _ *http.Request) bool {
			if seen.Add(1) <= n {
				cut(w)
				return false
			}
			return true
		})
	}
	lose(2)
	if _, err := work.ListTasks.Call(t.Context(), c, &work.ListingTasks{}); err != nil || seen.Load() != 3 {
		t.Errorf("read: %v after %d tries", err, seen.Load())
	}
	lose(1)
	if _, err := submit(t.Context(), c, work.TaskSpec{Service: "x", IdempotencyKey: "k"}); err != nil || seen.Load() != 2 {
		t.Errorf("submit with a key: %v after %d tries", err, seen.Load())
	}
	lose(1)
	_, err := submit(t.Context(), c, work.TaskSpec{Service: "x"})
	if p := problem.Explain(err); p.Kind != problem.Unreachable || seen.Load() != 1 {
		t.Errorf("submit without a key: %v after %d tries", err, seen.Load())
	}
	lose(100)
	_, err = work.ListTasks.Call(t.Context(), c, &work.ListingTasks{})
	p := problem.Explain(err)
	if p.Kind != problem.Unreachable || seen.Load() != 4 || !strings.Contains(p.What, r.server.URL) || p.Next == "" {
		t.Errorf("a server that is away: %+v after %d tries", p, seen.Load())
	}
}

// A delete whose answer was lost has succeeded.
func TestDeleteAnswerLost(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := r.as(auth.Maintainer)
	if err := putPool(t.Context(), c, "p", work.PoolSpec{Size: weir.Size(1)}); err != nil {
		t.Fatal(err)
	}
	var seen atomic.Int64
	r.intercept(func(w http.ResponseWriter, q *http.Request) bool {
		if seen.Add(1) > 1 {
			return true
		}
		if err := r.sdk.DropPool(q.Context(), "p", false, ""); err != nil {
			t.Error(err)
		}
		cut(w)
		return false
	})
	if err := dropPool(t.Context(), c, "p", false); err != nil || seen.Load() != 2 {
		t.Errorf("%v after %d tries", err, seen.Load())
	}
	if err := dropPool(t.Context(), c, "p", false); problem.Explain(err).Kind != problem.NotFound || !errors.Is(err, weir.ErrNotFound) {
		t.Errorf("a pool that is not there: %v", err)
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for name, c := range map[string]struct {
		client *remote.Client
		kind   problem.Kind
	}{
		"nobody":      {r.client(""), problem.Unauthenticated},
		"wrong token": {r.client("weir_pat_nonsense"), problem.Unauthenticated},
		"viewer":      {r.as(auth.Viewer), problem.Forbidden},
	} {
		_, err := submit(t.Context(), c.client, work.TaskSpec{Service: "x"})
		if p := problem.Explain(err); p.Kind != c.kind || p.Next == "" {
			t.Errorf("%s: %+v", name, p)
		}
	}
	away := httptest.NewServer(nil)
	away.Close()
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	for name, c := range map[string]struct {
		url, what string
		kind      problem.Kind
	}{"away": {away.URL, "does not answer", problem.Unreachable}, "no Weir": {other.URL, "404", problem.Failed}} {
		client, err := remote.New(remote.Config{Server: c.url})
		if err != nil {
			t.Fatal(err)
		}
		_, err = client.Version(t.Context())
		if p := problem.Explain(err); p.Kind != c.kind || !strings.Contains(p.What, c.what) || !strings.Contains(p.What, c.url) || p.Next == "" {
			t.Errorf("%s: %+v", name, p)
		}
		client.Close()
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.client("").Version(ctx); problem.Explain(err).Kind != problem.Canceled {
		t.Errorf("canceled: %v", err)
	}
	for _, bad := range []string{"", "weir.example.org", "ftp://x", "http://", "http://u:p@x", "http://x?y", "http://x#y", "::"} {
		if _, err := remote.New(remote.Config{Server: bad}); problem.Explain(err).Field != "server" {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// A redirect is not followed, because the token is for the server that made it.
func TestNoRedirect(t *testing.T) {
	var reached atomic.Bool
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Store(true) }))
	defer other.Close()
	server := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer server.Close()
	c, err := remote.New(remote.Config{Server: server.URL, Token: "weir_pat_x"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Version(t.Context()); err == nil || reached.Load() {
		t.Errorf("%v, reached %v", err, reached.Load())
	}
}

// done carries out an operation without a result.
func done[S, In any](t *testing.T, c op.Caller, o *op.Op[S, In, op.Nothing], in *In) {
	t.Helper()
	if _, err := o.Call(t.Context(), c, in); err != nil {
		t.Errorf("%s %s: %v", o.Noun, o.Verb, err)
	}
}

// A person logs in, does what tokens may not, and logs out.
func TestPeople(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := r.as(auth.Admin)
	ctx := t.Context()
	me, err := c.Me(ctx)
	if err != nil || me.Kind != auth.KindToken || me.Name != "a-admin" || me.Token != "t" || me.Role != auth.Admin {
		t.Fatalf("%+v, %v", me, err)
	}
	x := &account.CreatingToken{Body: account.TokenBody{Name: "x", Scopes: []string{"*:read"}}}
	if _, err := account.CreateToken.Call(ctx, c, x); problem.Explain(err).Kind != problem.Forbidden {
		t.Errorf("a token makes a token: %v", err)
	}
	if err := c.Login(ctx, "a-admin", "wrong password"); problem.Explain(err).Kind != problem.Unauthenticated {
		t.Errorf("wrong password: %v", err)
	}
	if err := c.Login(ctx, "a-admin", password); err != nil {
		t.Fatal(err)
	}
	if me, err := c.Me(ctx); err != nil || me.Kind != auth.KindUser || me.Session == "" {
		t.Fatalf("%+v, %v", me, err)
	}
	made, err := account.CreateToken.Call(ctx, c, x)
	if err != nil || made.Token.Name != "x" || !strings.HasPrefix(made.Secret, "weir_pat_") {
		t.Fatalf("%+v, %v", made.Token, err)
	}
	if _, err := work.ListTasks.Call(ctx, r.client(made.Secret), &work.ListingTasks{}); err != nil {
		t.Error(err)
	}
	user, err := account.CreateUser.Call(ctx, c, &account.CreatingUser{Body: auth.NewUser{Name: "ada", Role: auth.Viewer, Password: password, Email: "ada@example.org"}})
	if err != nil || user.Name != "ada" || user.Email != "ada@example.org" {
		t.Fatalf("%+v, %v", user, err)
	}
	ada := account.NamedUser{User: "ada"}
	link, err := account.NewLink.Call(ctx, c, &account.Linking{NamedUser: ada})
	if err != nil || link.Secret == "" {
		t.Errorf("link: %v", err)
	}
	role := &account.SettingRole{NamedUser: ada}
	role.Body.Role = auth.Operator
	done(t, c, account.SetRole, role)
	done(t, c, account.SetPassword, &account.SettingPassword{NamedUser: ada, Body: account.PasswordBody{New: password + "!"}})
	done(t, c, account.Disable, &ada)
	done(t, c, account.Enable, &ada)
	done(t, c, account.RevokeToken, &account.NamedToken{Token: made.Token.ID})
	if u, err := account.ShowUser.Call(ctx, c, &ada); err != nil || u.Role != auth.Operator {
		t.Errorf("%+v, %v", u, err)
	}
	if users, err := account.ListUsers.Call(ctx, c, &op.Paged{}); err != nil || len(users.Items) != 2 {
		t.Errorf("%d users, %v", len(users.Items), err)
	}
	if tokens, err := account.ListTokens.Call(ctx, c, &account.ListingTokens{All: true}); err != nil || len(tokens.Items) != 1 {
		t.Errorf("%d tokens, %v", len(tokens.Items), err)
	}
	sessions, err := account.ListSessions.Call(ctx, c, &account.ListingSessions{})
	if err != nil || len(sessions.Items) != 1 {
		t.Errorf("%d sessions, %v", len(sessions.Items), err)
	}
	join, err := account.CreateJoin.Call(ctx, c, &account.CreatingJoin{Body: account.JoinBody{Node: "n1", Any: true}})
	if err != nil {
		t.Fatal(err)
	}
	joins, err := account.ListJoins.Call(ctx, c, &struct{}{})
	if err != nil || len(joins.Items) != 1 {
		t.Errorf("%d joins, %v", len(joins.Items), err)
	}
	credential, err := r.client("").Join(ctx, join.Secret, "n1")
	if err != nil {
		t.Fatal(err)
	}
	if me, err := r.client(credential).Me(ctx); err != nil || me.Kind != auth.KindNode || me.Name != "n1" {
		t.Errorf("%+v, %v", me, err)
	}
	done(t, c, account.DeleteUser, &ada)
	if err := c.Logout(ctx); err != nil {
		t.Error(err)
	}
	if me, err := c.Me(ctx); err != nil || me.Kind != auth.KindToken {
		t.Errorf("after logging out: %+v, %v", me, err)
	}
	if v, err := c.Version(ctx); err != nil || v != (remote.Version{Version: "1.2.3", API: "v1"}) {
		t.Errorf("%+v, %v", v, err)
	}
}

func TestTLS(t *testing.T) {
	var agent atomic.Value
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		agent.Store(r.UserAgent())
		_, _ = w.Write([]byte(`{"version":"x","api":"v1"}`))
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // the client that does not trust it causes a log line
	server.StartTLS()
	defer server.Close()
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	trusting, err := remote.New(remote.Config{Server: server.URL + "/", TLS: &tls.Config{RootCAs: roots}, Version: "7"})
	if err != nil {
		t.Fatal(err)
	}
	defer trusting.Close()
	if v, err := trusting.Version(t.Context()); err != nil || v.Version != "x" || agent.Load() != "weir/7" {
		t.Errorf("%+v, %v, agent %v", v, err, agent.Load())
	}
	doubting, err := remote.New(remote.Config{Server: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	defer doubting.Close()
	if _, err := doubting.Version(t.Context()); problem.Explain(err).Kind != problem.Unreachable || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("got %v", err)
	}
}
