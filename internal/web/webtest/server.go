package webtest

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/auth/door"
	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/fleet"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/node/wake"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/rollout"
	"github.com/weirhq/weir/internal/testdb"
	"github.com/weirhq/weir/internal/timeline"
	"github.com/weirhq/weir/internal/vault"
	"github.com/weirhq/weir/internal/web"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/work"
	"github.com/weirhq/weir/internal/workflow"
	"github.com/weirhq/weir/internal/workspace"
)

// Password is that of every user that a test makes.
const Password = "correct horse battery staple"

// Server is the dashboard on a database of its own.
type Server struct {
	URL    string
	DB     *testdb.DB
	Web    *web.Web
	Auth   *auth.Store
	Store  *view.Store
	Client *weir.Client
	// Flows, Rollouts, Fleets, Bucket, Vault and Waker are the real ones; the bucket is a
	// folder.
	Flows    *workflow.Store
	Rollouts *rollout.Store
	Fleets   *fleet.Store
	Bucket   blob.Bucket
	Vault    *vault.Vault
	Waker    *wake.Waker
	// Workspaces are kept, and none of them ever runs.
	Workspaces *workspace.Host

	server *httptest.Server
	atEnd  []func()
}

// AtEnd does something when the browser and the server have ended, right before
// the database is examined: what must be fresh then.
func (s *Server) AtEnd(do func()) { s.atEnd = append(s.atEnd, do) }

// Cut closes every connection to the server, as a bad network does.
func (s *Server) Cut() { s.server.CloseClientConnections() }

// Start runs the dashboard until the test ends. Changes adjust its set-up.
func Start(t testing.TB, changes ...func(*site.Config)) *Server {
	t.Helper()
	s := &Server{DB: testdb.New(t)}
	t.Cleanup(func() {
		for _, do := range s.atEnd {
			do()
		}
	})
	s.Auth, s.Store = auth.New(s.DB.Pool, auth.Options{}), view.New(s.DB.Pool)
	entry, err := door.New(s.Auth, door.Config{})
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(writer{t}, nil))
	if s.Client, err = weir.New(s.DB.Pool, &weir.Config{Logger: log}); err != nil {
		t.Fatal(err)
	}
	s.stores(t, log)
	hub := timeline.NewHub(s.DB.Pool, nil, timeline.Options{})
	config := site.Config{
		Store: s.Store, Auth: s.Auth, Door: entry, Hub: hub, Version: "test", Env: "webtest", Log: log,
		Health: health, Settings: settings, Workflows: s.Flows, Rollouts: s.Rollouts, Operations: op.Local{Stores: []any{work.New(s.DB.Pool, s.Client).Checked(s.Flows.CheckRun, fleet.CheckScheduled), s.Flows, s.Rollouts, s.Fleets, s.Vault, s.Waker, s.Workspaces, s.Auth}}, Fleets: s.Fleets, Workspaces: s.Workspaces, Bucket: s.Bucket, Secrets: s.Vault,
	}
	for _, change := range changes {
		change(&config)
	}
	if s.Web, err = web.New(config); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(s.Web.Handler())
	s.URL, s.server = server.URL, server

	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var running sync.WaitGroup
	running.Go(func() { hub.Run(ctx) })
	t.Cleanup(func() {
		s.Web.Close()
		server.CloseClientConnections()
		server.Close()
		cancel()
		running.Wait()
		s.Client.Close()
	})
	return s
}

func health(context.Context) site.Health {
	return site.Health{
		Checks: []site.Check{{Name: "database", OK: true, Detail: "answers in 1ms"}, {Name: "schema", OK: true, Detail: "version 2"}, {Name: "loops", OK: false, Detail: "loop gates failed 3 times in a row: canceling statement due to lock timeout"}},
		Epoch:  7,
		Loops: []loop.Stats{
			{Name: "expire", Every: time.Second, Ticks: 1412, Took: 3 * time.Second, Last: time.Now().Add(-time.Second), LastTook: 2 * time.Millisecond},
			{Name: "gates", Every: 15 * time.Second, Ticks: 96, Took: time.Second, Last: time.Now().Add(-4 * time.Second), Failing: 3, Error: "canceling statement due to lock timeout"},
		},
	}
}

func settings() []site.Setting {
	return []site.Setting{
		{Name: "database_url", Variable: "WEIR_DATABASE_URL", Help: "PostgreSQL to use; empty: Weir runs its own in the data folder", Value: "postgres://weir:***@db.example.org/weir", Origin: "environment"}, // #nosec G101 -- the password is masked
		{Name: "listen", Variable: "WEIR_LISTEN", Help: "address for HTTP", Value: "127.0.0.1:8470", Default: "127.0.0.1:8470", Origin: "default"},
		{Name: "retention", Variable: "WEIR_RETENTION", Help: "how long history is kept: 720h, 30d or forever", Value: "90d", Default: "30d", Origin: "file"},
	}
}

// Account is a user that can log in.
type Account struct{ Name, Password string }

// User makes a user.
func (s *Server) User(t testing.TB, name string, role auth.Role) Account {
	t.Helper()
	_, err := s.Auth.CreateUser(t.Context(), auth.System("test"), auth.NewUser{Name: name, Role: role, Password: Password})
	if err != nil {
		t.Fatal(err)
	}
	return Account{name, Password}
}

// SetupLink is the path of a first-run link.
func (s *Server) SetupLink(t testing.TB) string {
	t.Helper()
	secret, err := s.Auth.NewLink(t.Context(), auth.System("test"), "", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return "/setup?code=" + secret
}

// Exec runs statements on the database, such as select weir.submit('x').
func (s *Server) Exec(t testing.TB, statements ...string) {
	t.Helper()
	for _, sql := range statements {
		if _, err := s.DB.Pool.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
}

// writer sends the server's log to the test.
type writer struct{ t testing.TB }

func (w writer) Write(p []byte) (int, error) {
	// A log line after the end of the test would panic.
	if w.t.Context().Err() == nil {
		w.t.Log(strings.TrimSpace(string(p)))
	}
	return len(p), nil
}

// One reads one text from the database.
func (s *Server) One(t testing.TB, query string) (text string) {
	t.Helper()
	if err := s.DB.Pool.QueryRow(t.Context(), query).Scan(&text); err != nil {
		t.Fatal(err)
	}
	return text
}
