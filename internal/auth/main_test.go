package auth

import (
	"bytes"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// These passwords are good enough.
const (
	good  = "seven boats in a bottle"
	other = "nine lamps under the stair"
)

var here = Client{Address: "192.0.2.7", Agent: "a browser"}

// setup is a store on a database of its own, with a clock that the test moves.
type setup struct {
	*Store
	t   *testing.T
	db  *testdb.DB
	mu  sync.Mutex
	now time.Time
	log bytes.Buffer
}

func start(t *testing.T) *setup {
	t.Helper()
	x := &setup{t: t, db: testdb.New(t), now: time.Now().Truncate(time.Second)}
	x.Store = New(x.db.Pool, Options{At: x.time, Log: slog.New(slog.NewTextHandler(&x.log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	return x
}

func (x *setup) time() time.Time {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.now
}

func (x *setup) pass(d time.Duration) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.now = x.now.Add(d)
}

// add creates a user and returns the subject that logging in would return.
func (x *setup) add(name string, role Role) Subject {
	x.t.Helper()
	u, err := x.CreateUser(x.t.Context(), System("test"), NewUser{Name: name, Role: role, Password: good})
	if err != nil {
		x.t.Fatal(err)
	}
	return Subject{Kind: KindUser, ID: u.ID, Name: u.Name, UserID: u.ID, Role: u.Role}
}

// login logs in and fails the test if that fails.
func (x *setup) login(name, password string) (string, Subject) {
	x.t.Helper()
	secret, subject, err := x.Login(x.t.Context(), name, password, here)
	if err != nil {
		x.t.Fatal(err)
	}
	return secret, subject
}

// events are the types of all events of auth, oldest first.
func (x *setup) events() []string {
	x.t.Helper()
	types, err := collect(x.t.Context(), x.db.Pool, "events", func(s *string) []any { return []any{s} }, `select type from weir.events where kind = 'auth' order by seq`)
	if err != nil {
		x.t.Fatal(err)
	}
	return types
}

// wants fails the test unless err is a problem of a kind.
func wants(t *testing.T, err error, kind problem.Kind) *problem.Problem {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, wanted %s", kind.Code())
	}
	var p *problem.Problem
	if !errors.As(err, &p) || p.Kind != kind {
		t.Fatalf("got %v, wanted %s", err, kind.Code())
	}
	return p
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func scan[T any](x *setup, sql string, args ...any) (out T) {
	x.t.Helper()
	if err := x.db.Pool.QueryRow(x.t.Context(), sql, args...).Scan(&out); err != nil {
		x.t.Fatalf("%s: %v", sql, err)
	}
	return out
}
