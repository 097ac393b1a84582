package remote_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/auth/door"
	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/blob/blobtest"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/fleet"
	"github.com/weirhq/weir/internal/httpapi"
	"github.com/weirhq/weir/internal/httpapi/stream"
	"github.com/weirhq/weir/internal/node/wake"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/remote"
	"github.com/weirhq/weir/internal/rollout"
	"github.com/weirhq/weir/internal/testdb"
	"github.com/weirhq/weir/internal/timeline"
	"github.com/weirhq/weir/internal/vault"
	"github.com/weirhq/weir/internal/work"
	"github.com/weirhq/weir/internal/workflow"
)

func TestMain(m *testing.M) { testdb.Main(m) }

const password = "correct horse battery staple"

var system = auth.System("test")

// rig is a server on a real database, and clients of both.
type rig struct {
	t      *testing.T
	db     *testdb.DB
	server *httptest.Server
	auth   *auth.Store
	store  *view.Store
	sdk    *weir.Client
	flows  *workflow.Store
	bucket blob.Bucket
	rolls  *rollout.Store
	fleets *fleet.Store
	// before, if set, sees every request first and reports whether it goes on.
	before atomic.Pointer[func(http.ResponseWriter, *http.Request) bool]
}

func newRig(t *testing.T) *rig {
	t.Helper()
	return newRigOn(t, blobtest.Folder(t))
}

func newRigOn(t *testing.T, bucket blob.Bucket) *rig {
	t.Helper()
	r := &rig{t: t, db: testdb.New(t), bucket: bucket}
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelInfo}))
	var err error
	if r.sdk, err = weir.New(r.db.Pool, &weir.Config{Logger: log}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.sdk.Close)
	r.store, r.auth = view.New(r.db.Pool), auth.New(r.db.Pool, auth.Options{Log: log})
	d, err := door.New(r.auth, door.Config{Log: log})
	if err != nil {
		t.Fatal(err)
	}
	hub := timeline.NewHub(r.db.Pool, nil, timeline.Options{Gap: time.Millisecond})
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { hub.Run(ctx) })
	streams := stream.New(stream.Config{Hub: hub, Subject: d.Subject, Log: log})
	r.flows = workflow.New(r.db.Pool, workflow.Options{Log: log})
	secrets := vault.New(r.db.Pool, vault.RandomKeys(), log)
	r.fleets = fleet.New(r.db.Pool)
	r.rolls = rollout.New(r.db.Pool, rollout.Options{Vault: secrets, Log: log})
	served := httpapi.New(httpapi.Config{
		Store: r.store, Auth: r.auth, Door: d, Stream: streams, Version: "1.2.3", Log: log, Bucket: bucket, Hub: hub,
		Operations: op.Local{Stores: []any{work.New(r.db.Pool, r.sdk).Checked(r.flows.CheckRun, fleet.CheckScheduled), r.flows, r.rolls, r.fleets, secrets, wake.New(r.db.Pool, wake.Config{Log: log}), newYard(t, r), r.auth}},
		Follow: func(ctx context.Context, link string, payload json.RawMessage) (int, error) {
			return work.Follow(ctx, secrets, r.sdk, link, payload)
		},
	})
	api := served.Handler()
	r.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if before := r.before.Load(); before == nil || (*before)(w, q) {
			api.ServeHTTP(w, q)
		}
	}))
	t.Cleanup(func() {
		streams.Close()
		served.Close()
		r.server.Close()
		cancel()
		running.Wait()
	})
	return r
}

// stored returns a caller on the database itself.
func (r *rig) stored() op.Caller {
	store := work.New(r.db.Pool, r.sdk).Checked(r.flows.CheckRun, fleet.CheckScheduled)
	return op.Local{Stores: []any{store, r.auth}, Who: func(context.Context) auth.Subject { return system }}
}

// named names a task, ofJob a job.
func named(id weir.ID) *work.NamedTask { return &work.NamedTask{Task: id.String()} }

func ofJob(id weir.ID) *work.NamedJob { return &work.NamedJob{Job: id.String()} }

// deciding is a command on a task, or on a job.
func deciding(id weir.ID, reason string) *work.Deciding {
	return &work.Deciding{NamedTask: *named(id), Body: &op.DecisionBody{Reason: reason}}
}

func decidingJob(id weir.ID, reason string) *work.DecidingJob {
	return &work.DecidingJob{NamedJob: *ofJob(id), Body: &op.DecisionBody{Reason: reason}}
}

// submit submits a task, submitJob a job.
func submit(ctx context.Context, x op.Caller, task work.TaskSpec) (work.Submitted, error) {
	return work.SubmitTask.Call(ctx, x, &work.Submitting{Keyed: op.Keyed{IdempotencyKey: task.IdempotencyKey}, Body: task})
}

func submitJob(ctx context.Context, x op.Caller, job work.JobSpec) (weir.ID, error) {
	made, err := work.SubmitJob.Call(ctx, x, &work.SubmittingJob{Keyed: op.Keyed{IdempotencyKey: job.IdempotencyKey}, Body: job})
	return made.ID, err
}

// intercept sets the function that sees every request first.
func (r *rig) intercept(f func(http.ResponseWriter, *http.Request) bool) { r.before.Store(&f) }

// as returns a client with a token of a new user of a role.
func (r *rig) as(role auth.Role) *remote.Client {
	r.t.Helper()
	name := "a-" + string(role)
	if _, err := r.auth.CreateUser(r.t.Context(), system, auth.NewUser{Name: name, Role: role, Password: password}); err != nil {
		r.t.Fatal(err)
	}
	_, secret, err := r.auth.CreateToken(r.t.Context(), system, auth.NewToken{Name: "t", Scopes: []string{"*:*"}, User: name})
	if err != nil {
		r.t.Fatal(err)
	}
	return r.client(secret)
}

func (r *rig) client(token string) *remote.Client {
	r.t.Helper()
	c, err := remote.New(remote.Config{Server: r.server.URL, Token: token, Version: "9.9"})
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(c.Close)
	return c
}
