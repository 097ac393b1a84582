package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/auth/door"
	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/fleet"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/node/wake"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/rollout"
	"github.com/weirhq/weir/internal/testdb"
	"github.com/weirhq/weir/internal/vault"
	"github.com/weirhq/weir/internal/work"
	"github.com/weirhq/weir/internal/workflow"
)

var rewrite = flag.Bool("rewrite", false, "write golden files again")

func TestMain(m *testing.M) { testdb.Main(m) }

const password = "correct horse battery staple"

// rig is a server on a real database.
type rig struct {
	t     testing.TB
	db    *testdb.DB
	api   *API
	url   string
	auth  *auth.Store
	store *view.Store
	sdk   *weir.Client
	log   *logged

	vault  *vault.Vault
	bucket blob.Bucket
}

// logged keeps the log's output.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func newRig(t testing.TB, change ...func(*Config)) *rig {
	t.Helper()
	db := testdb.New(t)
	l := &logged{}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the log ends with:\n%s", tail(l.String()))
		}
	})
	log := slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
	sdk, err := weir.New(db.Pool, &weir.Config{Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sdk.Close)
	store := auth.New(db.Pool, auth.Options{Log: log})
	d, err := door.New(store, door.Config{Log: log})
	if err != nil {
		t.Fatal(err)
	}
	bucket, err := blob.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	secrets := vault.New(db.Pool, vault.RandomKeys(), log)
	flows := workflow.New(db.Pool, workflow.Options{Log: log, Vault: secrets})
	config := Config{
		Deliver: flows.Deliver, Store: view.New(db.Pool), Auth: store, Door: d, Version: "test", Log: log,
		Bucket: bucket, Operations: op.Local{Stores: []any{work.New(db.Pool, sdk).Checked(flows.CheckRun, fleet.CheckScheduled), rollout.New(db.Pool, rollout.Options{Vault: secrets, Log: log}), flows, fleet.New(db.Pool), secrets, wake.New(db.Pool, wake.Config{Log: log}), store}},
		Desks: func(name string) Desk {
			return node.NewDesk(db.Pool, name, node.Options{Bucket: bucket, Vault: secrets, Log: log})
		},
	}
	for _, f := range change {
		f(&config)
	}
	api := New(config)
	server := httptest.NewServer(api.Handler())
	t.Cleanup(server.Close)
	t.Cleanup(api.Close)
	return &rig{t: t, db: db, api: api, url: server.URL, auth: store, store: view.New(db.Pool), sdk: sdk, log: l, vault: secrets, bucket: bucket}
}

// exec runs SQL that a test needs.
func (r *rig) exec(sql string) {
	r.t.Helper()
	if _, err := r.db.Pool.Exec(r.t.Context(), sql); err != nil {
		r.t.Fatalf("%s: %v", sql, err)
	}
}

// system is the subject that sets a test up.
var system = auth.System("test")

// user creates a user.
func (r *rig) user(name string, role auth.Role) auth.User {
	r.t.Helper()
	u, err := r.auth.CreateUser(context.Background(), system, auth.NewUser{Name: name, Role: role, Password: password})
	if err != nil {
		r.t.Fatal(err)
	}
	return u
}

// as is a client of the API.
type as struct {
	rig    *rig
	name   string
	bearer string
	http   *http.Client
}

// anybody returns a client without credentials.
func (r *rig) anybody() *as {
	jar, err := cookiejar.New(nil)
	if err != nil {
		r.t.Fatal(err)
	}
	client := &http.Client{Jar: jar, Transport: &http.Transport{}}
	r.t.Cleanup(client.CloseIdleConnections)
	return &as{rig: r, name: "nobody", http: client}
}

// login returns a client that has logged in.
func (r *rig) login(name string) *as {
	r.t.Helper()
	a := r.anybody()
	a.name = name
	a.want(http.StatusNoContent, "POST", "/login", map[string]string{"name": name, "password": password})
	return a
}

// token returns a client with a token of a user.
func (r *rig) token(user string, scopes ...string) *as {
	r.t.Helper()
	_, secret, err := r.auth.CreateToken(context.Background(), system, auth.NewToken{Name: strings.Join(scopes, " "), Scopes: scopes, User: user})
	if err != nil {
		r.t.Fatal(err)
	}
	a := r.anybody()
	a.name, a.bearer = user+"'s token "+strings.Join(scopes, " "), secret
	return a
}

// node returns a client with the credential of a node.
func (r *rig) node(name string) *as {
	r.t.Helper()
	secret, err := r.auth.CreateJoin(context.Background(), system, auth.NewJoin{Node: name, Any: true})
	if err != nil {
		r.t.Fatal(err)
	}
	var made struct{ Credential string }
	a := r.anybody()
	a.want(http.StatusCreated, "POST", "/join", map[string]string{"secret": secret, "node": name}).into(&made)
	a.name, a.bearer = "node "+name, made.Credential
	return a
}

// answered is the answer to a request.
type answered struct {
	t      testing.TB
	status int
	header http.Header
	body   []byte
}

func (a *answered) into(v any) {
	a.t.Helper()
	if err := json.Unmarshal(a.body, v); err != nil {
		a.t.Fatalf("%v: %s", err, a.body)
	}
}

func (a *answered) refusal() Refusal {
	a.t.Helper()
	if kind := a.header.Get("Content-Type"); kind != "application/problem+json" {
		a.t.Fatalf("status %d is no problem: %s: %s", a.status, kind, a.body)
	}
	var r Refusal
	a.into(&r)
	return r
}

// call sends a request. The body is encoded as JSON, or sent unchanged if it is text.
func (a *as) call(method, path string, body any, headers ...string) *answered {
	a.rig.t.Helper()
	var reader io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		reader = strings.NewReader(b)
	case []byte:
		reader = bytes.NewReader(b)
	default:
		text, err := json.Marshal(b)
		if err != nil {
			a.rig.t.Fatal(err)
		}
		reader = bytes.NewReader(text)
	}
	r, err := http.NewRequest(method, a.rig.url+prefix+path, reader)
	if err != nil {
		a.rig.t.Fatal(err)
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if a.bearer != "" {
		r.Header.Set("Authorization", "Bearer "+a.bearer)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	response, err := a.http.Do(r)
	if err != nil {
		a.rig.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		a.rig.t.Fatal(err)
	}
	return &answered{a.rig.t, response.StatusCode, response.Header, text}
}

// want is call with an expected status.
func (a *as) want(status int, method, path string, body any, headers ...string) *answered {
	a.rig.t.Helper()
	got := a.call(method, path, body, headers...)
	if got.status != status {
		a.rig.t.Fatalf("%s: %s %s: status %d, want %d: %s", a.name, method, path, got.status, status, got.body)
	}
	return got
}
