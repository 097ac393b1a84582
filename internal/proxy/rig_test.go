package proxy_test

import (
	"context"
	"encoding/base64"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/auth/door"
	"github.com/weirhq/weir/internal/proxy"
	"github.com/weirhq/weir/internal/proxy/activity"
	"github.com/weirhq/weir/internal/testdb"
	"github.com/weirhq/weir/internal/workspace"
	"github.com/weirhq/weir/internal/workspace/provider"
)

// stage is a provider whose containers are servers of the test, so that requests and
// answers are seen at both ends of the proxy. It only dials.
type stage struct {
	provider.Provider
	reach map[weir.ID]string
}

func (*stage) Name() string { return "stage" }

func (s *stage) Dial(ctx context.Context, id weir.ID) (net.Conn, error) {
	address, there := s.reach[id]
	if !there {
		return nil, provider.ErrNotRunning
	}
	return new(net.Dialer).DialContext(ctx, "tcp", address)
}

type rig struct {
	testing.TB
	db     *testdb.DB
	users  *auth.Store
	store  *workspace.Store
	meter  *activity.Meter
	proxy  *proxy.Proxy
	stage  *stage
	server *httptest.Server
	at     workspace.Address
	now    func() time.Time
}

// option changes how the rig is made.
type option func(*setup)

type setup struct {
	secure    bool
	now       func() time.Time
	providers []provider.Provider
	client    func(*http.Request) string
}

// newRig serves a dashboard that can only open workspaces, and the proxy, on one port, as
// the server does.
func newRig(t testing.TB, options ...option) *rig {
	t.Helper()
	s := &setup{now: time.Now}
	for _, o := range options {
		o(s)
	}
	db := testdb.New(t)
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	r := &rig{TB: t, db: db, users: auth.New(db.Pool, auth.Options{Log: log}), store: workspace.New(db.Pool), stage: &stage{reach: map[weir.ID]string{}}, now: s.now}
	var err error
	r.meter, err = activity.New(activity.Config{Store: r.store, Now: s.now, Log: log})
	r.ok(err)
	guard, err := door.New(r.users, door.Config{Secure: s.secure, Log: log})
	r.ok(err)
	dashboard := guard.Wrap(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		id, err := weir.ParseID(strings.TrimSuffix(strings.TrimPrefix(q.URL.Path, "/workspaces/"), "/open"))
		if err != nil {
			http.NotFound(w, q)
			return
		}
		to, err := r.store.Open(q.Context(), auth.From(q.Context()), id, r.at, q.FormValue("next"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusForbidden)
			return
		}
		http.Redirect(w, q, to, http.StatusSeeOther)
	}))
	r.server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if r.proxy.Owns(q.Host) {
			r.proxy.ServeHTTP(w, q)
		} else {
			dashboard.ServeHTTP(w, q)
		}
	}))
	r.server.EnableHTTP2 = true
	if s.secure {
		r.server.StartTLS()
	} else {
		r.server.Start()
	}
	u, err := url.Parse(r.server.URL)
	r.ok(err)
	r.at = workspace.Address{Scheme: u.Scheme, Domain: "localhost", Port: u.Port()}
	r.proxy, err = proxy.New(proxy.Config{
		Store: r.store, Providers: append(s.providers, r.stage), Address: r.at, Dashboard: r.server.URL, Meter: r.meter, Log: log, Now: s.now, Client: s.client,
	})
	r.ok(err)
	t.Cleanup(func() {
		r.proxy.Close()
		r.server.CloseClientConnections()
		r.server.Close()
		r.ok(r.meter.Close())
	})
	return r
}

func secure(s *setup) { s.secure = true }

func (r *rig) ok(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

func (r *rig) exec(sql string, args ...any) {
	r.Helper()
	_, err := r.db.Pool.Exec(r.Context(), sql, args...)
	r.ok(err)
}

func scan[T any](r *rig, sql string, args ...any) (v T) {
	r.Helper()
	r.ok(r.db.Pool.QueryRow(r.Context(), sql, args...).Scan(&v))
	return v
}

// user creates a user and logs them in.
func (r *rig) user(name string, role auth.Role) *person {
	r.Helper()
	if scan[int](r, `select count(*) from weir.users where name = $1`, name) == 0 {
		_, err := r.users.CreateUser(r.Context(), auth.System("test"), auth.NewUser{Name: name, Role: role})
		r.ok(err)
	}
	link, err := r.users.NewLink(r.Context(), auth.System("test"), name, 0)
	r.ok(err)
	secret, subject, err := r.users.UseLink(r.Context(), link, auth.NewUser{}, auth.Client{Address: "127.0.0.1"})
	r.ok(err)
	p := &person{rig: r, Subject: subject, secret: secret}
	p.browser = r.browser()
	u, err := url.Parse(r.server.URL)
	r.ok(err)
	cookie := &http.Cookie{Name: "weir_session", Value: base64Of(secret), Path: "/"}
	if r.at.Secure() {
		cookie.Name, cookie.Secure = "__Host-weir_session", true
	}
	p.browser.Jar.SetCookies(u, []*http.Cookie{cookie})
	return p
}

// person is a user with a browser.
type person struct {
	*rig
	auth.Subject
	secret  string
	browser *http.Client
}

// browser keeps cookies, and resolves all names to the server.
func (r *rig) browser() *http.Client {
	jar, err := cookiejar.New(nil)
	r.ok(err)
	address := r.server.Listener.Addr().String()
	transport := r.server.Client().Transport.(*http.Transport).Clone()
	transport.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, address)
	}
	if transport.TLSClientConfig != nil {
		transport.TLSClientConfig.ServerName = "example.com" // the name of the test's certificate
	}
	r.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Jar: jar}
}

// made creates a workspace in a phase, served by a handler if it runs.
func (r *rig) made(owner *person, name string, phase string, handler http.Handler) weir.ID {
	r.Helper()
	id := scan[weir.ID](r, `
		insert into weir.workspaces (id, owner, name, provider, created_at, desired, desired_at, last_access_at, phase, phase_changed_at, had_home)
		values (gen_random_uuid(), $1, $2, 'stage', now(), case when $3 in ('RUNNING', 'STANDBY', 'ARCHIVED') then $3 else 'RUNNING' end, now(), now(), $3, now(), true) returning id`, owner.UserID, name, phase)
	if handler != nil {
		r.runs(id, handler)
	}
	return id
}

// runs makes a handler the container of a workspace.
func (r *rig) runs(id weir.ID, handler http.Handler) {
	upstream := httptest.NewServer(handler)
	r.Cleanup(func() {
		upstream.CloseClientConnections()
		upstream.Close()
	})
	r.stage.reach[id] = upstream.Listener.Addr().String()
}

type answer struct {
	*http.Response
	body string
}

type header [2]string

var html = header{"Accept", "text/html,application/xhtml+xml,*/*;q=0.8"}

// ask sends a request as a browser does, and follows redirects.
func (p *person) ask(method, address string, headers ...header) answer {
	p.Helper()
	return p.send(p.browser, method, address, headers...)
}

// once does not follow redirects.
func (p *person) once(method, address string, headers ...header) answer {
	p.Helper()
	still := *p.browser
	still.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return p.send(&still, method, address, headers...)
}

func (r *rig) send(client *http.Client, method, address string, headers ...header) answer {
	r.Helper()
	q, err := http.NewRequestWithContext(r.Context(), method, address, nil)
	r.ok(err)
	for _, h := range headers {
		q.Header.Add(h[0], h[1])
	}
	a, err := client.Do(q) // #nosec G704 -- to the test's own server
	r.ok(err)
	defer a.Body.Close()
	body, err := io.ReadAll(a.Body)
	r.ok(err)
	return answer{a, string(body)}
}

func (r *rig) wants(what string, a answer, status int) {
	r.Helper()
	if a.StatusCode != status {
		r.Errorf("%s: %d %s", what, a.StatusCode, a.body)
	}
}

// enter brings a browser into a workspace.
func (p *person) enter(id weir.ID) {
	p.Helper()
	if a := p.ask("GET", p.at.URL(id)+"/", html); a.StatusCode != http.StatusOK {
		p.Fatalf("%s could not enter: %d %s", p.Name, a.StatusCode, a.body)
	}
}

// cookie returns the browser's cookie for a workspace.
func (p *person) cookie(id weir.ID) *http.Cookie {
	p.Helper()
	u, err := url.Parse(p.at.URL(id))
	p.ok(err)
	for _, c := range p.browser.Jar.Cookies(u) {
		if strings.HasSuffix(c.Name, "weir_workspace") {
			return c
		}
	}
	p.Fatal("no cookie of the workspace")
	return nil
}

func base64Of(secret string) string { return base64.RawURLEncoding.EncodeToString([]byte(secret)) }
