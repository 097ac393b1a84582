package remote

import (
	"context"
	"encoding/pem"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/agent/agenttest"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/auth/door"
	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/blob/blobtest"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/httpapi"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/testdb"
	"github.com/weirhq/weir/internal/vault"
)

func TestMain(m *testing.M) { testdb.Main(m) }

var system = auth.System("test")

// rig is a server on a real database with TLS, and the transports of agents to it.
type rig struct {
	t      *testing.T
	db     *testdb.DB
	server *httptest.Server
	auth   *auth.Store
	vault  *vault.Vault
	bucket blob.Bucket
	log    *slog.Logger
	// api is the server without the network.
	api http.Handler
	// ca is the file with the server's certificate.
	ca string
	// before, if set, sees every request first and returns whether it continues.
	before atomic.Pointer[func(http.ResponseWriter, *http.Request) bool]
}

func newRig(t *testing.T, bucket blob.Bucket, change ...func(*httptest.Server)) *rig {
	t.Helper()
	db := testdb.New(t)
	return newServer(t, &agenttest.Parts{DB: db, Bucket: bucket, Vault: vault.New(db.Pool, vault.RandomKeys(), nil)}, change...)
}

// newServer starts a server on the parts.
func newServer(t *testing.T, p *agenttest.Parts, change ...func(*httptest.Server)) *rig {
	t.Helper()
	r := &rig{t: t, db: p.DB, bucket: p.Bucket, vault: p.Vault}
	r.log = slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelInfo}))
	sdk, err := weir.New(r.db.Pool, &weir.Config{Logger: r.log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sdk.Close)
	r.auth = auth.New(r.db.Pool, auth.Options{Log: r.log})
	entrance, err := door.New(r.auth, door.Config{Log: r.log})
	if err != nil {
		t.Fatal(err)
	}
	api := httpapi.New(httpapi.Config{
		Store: view.New(r.db.Pool), Auth: r.auth, Door: entrance, Version: "1.2.3", Log: r.log,
		Desks: func(name string) httpapi.Desk {
			return node.NewDesk(r.db.Pool, name, node.Options{Bucket: p.Bucket, Vault: p.Vault, Hints: p.Hints, Log: r.log})
		},
	})
	r.api = api.Handler()
	r.server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if before := r.before.Load(); before == nil || (*before)(w, q) {
			r.api.ServeHTTP(w, q)
		}
	}))
	r.server.EnableHTTP2 = true
	r.server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)
	for _, f := range change {
		f(r.server)
	}
	r.server.StartTLS()
	r.ca = filepath.Join(t.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: r.server.Certificate().Raw})
	if err := os.WriteFile(r.ca, text, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		api.Close()
		r.server.Close()
	})
	return r
}

// intercept sets the function that sees every request first.
func (r *rig) intercept(f func(http.ResponseWriter, *http.Request) bool) { r.before.Store(&f) }

// token returns a join token for a node.
func (r *rig) token(name string) string {
	r.t.Helper()
	secret, err := r.auth.CreateJoin(r.t.Context(), system, auth.NewJoin{Node: name, Any: true})
	if err != nil {
		r.t.Fatal(err)
	}
	return secret
}

// exec runs a statement.
func (r *rig) exec(sql string, args ...any) {
	r.t.Helper()
	if _, err := r.db.Pool.Exec(r.t.Context(), sql, args...); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) config(name string) Config {
	return Config{Server: r.server.URL, Node: name, CA: r.ca, Version: "1.2.3", Log: r.log}
}

// open returns the transport of a node that has joined.
func (r *rig) open(name string, change ...func(*Config)) *Transport {
	r.t.Helper()
	c := r.config(name)
	for _, f := range change {
		f(&c)
	}
	t, err := Open(r.t.Context(), c, filepath.Join(r.t.TempDir(), "credential"), r.token(name))
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(t.Close)
	return t
}

// registered returns a transport whose node is registered.
func (r *rig) registered(name string, change ...func(*Config)) *Transport {
	r.t.Helper()
	t := r.open(name, change...)
	if err := t.Register(r.t.Context(), node.Info{Name: name, Capacity: map[string]int{"render": 4}, Drivers: []string{"exec"}, Version: "1.2.3"}); err != nil {
		r.t.Fatal(err)
	}
	return t
}

// submit submits a job of two steps: a, and b, which needs the output of a.
func (r *rig) submit() (job weir.ID) {
	r.t.Helper()
	err := r.db.Pool.QueryRow(r.t.Context(), `select weir.submit_job($1::jsonb, 'pair')`, `[
		{"service": "render", "key": "a", "run": {"driver": "exec", "argv": ["true"], "secrets": {"API_KEY": "api_key"}}},
		{"service": "render", "key": "b", "needs": ["a"], "run": {"driver": "exec", "argv": ["true"], "inputs": [{"from": "a"}]}}]`).Scan(&job)
	if err != nil {
		r.t.Fatal(err)
	}
	return job
}

const claimOne, claimTwo = "01890a5d-ac96-774b-bcce-b302099a8001", "01890a5d-ac96-774b-bcce-b302099a8002"

// claim leases one task and fails the test if there is none.
func (r *rig) claim(ctx context.Context, t *Transport, id string) node.Assignment {
	r.t.Helper()
	got, err := t.Claim(ctx, node.ClaimRequest{ID: id, Services: []string{"render"}, Slots: []int{1}, N: 1, Lease: 30 * time.Second, Wait: 20 * time.Second})
	if err != nil || len(got.Tasks) != 1 {
		r.t.Fatalf("claimed %+v: %v", got, err)
	}
	return got.Tasks[0]
}

// taken fails the test unless everything was accepted.
func taken(t *testing.T, refusals []node.Refusal, err error) {
	t.Helper()
	if err != nil || len(refusals) > 0 {
		t.Fatalf("refused %+v: %v", refusals, err)
	}
}

// state returns the state of a job.
func (r *rig) state(job weir.ID) string {
	r.t.Helper()
	found, err := view.New(r.db.Pool).Job(r.t.Context(), job)
	if err != nil {
		r.t.Fatal(err)
	}
	return found.State
}

func buckets(t *testing.T, f func(*testing.T, blob.Bucket)) {
	t.Run("folder", func(t *testing.T) { f(t, blobtest.Folder(t)) })
	t.Run("s3", func(t *testing.T) { f(t, blobtest.Open(t)) })
}

// closed returns an address at which nothing listens.
func closed(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
