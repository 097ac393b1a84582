package agenttest

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/agent"
	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/listen"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/testdb"
	"github.com/weirhq/weir/internal/vault"
)

// Parts are the real parts behind a transport.
type Parts struct {
	DB     *testdb.DB
	Bucket blob.Bucket
	Vault  *vault.Vault
	Hints  *node.Hints
}

// New returns a transport for a node that is not registered yet.
type New func(t *testing.T, p *Parts, name string) agent.Transport

func newParts(t *testing.T) *Parts {
	t.Helper()
	p := &Parts{DB: testdb.New(t)}
	var err error
	if p.Bucket, err = blob.Open(t.Context(), "folder://"+t.TempDir()); err != nil {
		t.Fatal(err)
	}
	p.Vault = vault.New(p.DB.Pool, vault.RandomKeys(), nil)
	listener := listen.New(p.DB.Pool.Config().ConnConfig, nil)
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan struct{})
	go func() {
		defer close(over)
		_ = listener.Run(ctx) // until the test ends
	}()
	p.Hints = node.NewHints(p.DB.Pool, listener)
	t.Cleanup(func() {
		p.Hints.Close()
		cancel()
		<-over
	})
	return p
}

// rig is one test: the parts and the transports of two nodes.
type rig struct {
	*testing.T
	*Parts
	mine, other agent.Transport
}

func newRig(t *testing.T, make New) *rig {
	t.Helper()
	r := &rig{T: t, Parts: newParts(t)}
	r.mine, r.other = make(t, r.Parts, "mine"), make(t, r.Parts, "other")
	for name, transport := range map[string]agent.Transport{"mine": r.mine, "other": r.other} {
		info := node.Info{Name: name, Labels: map[string]string{"zone": "eu"}, Capacity: map[string]int{"svc": 10}, Drivers: []string{"exec"}, Version: "v1"}
		r.ok(transport.Register(t.Context(), info))
	}
	return r
}

func (r *rig) ok(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

// exec runs a statement.
func (r *rig) exec(sql string, args ...any) {
	r.Helper()
	_, err := r.DB.Pool.Exec(r.Context(), sql, args...)
	r.ok(err)
}

// text reads a single value as text.
func (r *rig) text(sql string, args ...any) (s string) {
	r.Helper()
	r.ok(r.DB.Pool.QueryRow(r.Context(), sql, args...).Scan(&s))
	return s
}

// submit submits a job of steps.
func (r *rig) submit(steps ...map[string]any) weir.ID {
	r.Helper()
	for _, s := range steps {
		if s["service"] == nil {
			s["service"] = "svc"
		}
		s["backoff"] = "0.001 s"
	}
	text, err := json.Marshal(steps)
	r.ok(err)
	id, err := weir.ParseID(r.text(`select weir.submit_job($1, 'suite')::text`, text))
	r.ok(err)
	return id
}

func newID() string {
	var id weir.ID
	_, _ = rand.Read(id[:]) // never fails
	return id.String()
}

func request(n int) node.ClaimRequest {
	return node.ClaimRequest{ID: newID(), Services: []string{"svc"}, Slots: []int{n}, N: n, Lease: 30 * time.Second}
}

// claim claims n tasks and fails the test if there are fewer.
func (r *rig) claim(n int) []node.Assignment {
	r.Helper()
	got, err := r.mine.Claim(r.Context(), request(n))
	r.ok(err)
	if len(got.Tasks) != n {
		r.Fatalf("claimed %d of %d", len(got.Tasks), n)
	}
	return got.Tasks
}

// one submits a step and claims it.
func (r *rig) one(step map[string]any) node.Assignment {
	r.Helper()
	step["key"] = "a"
	r.submit(step)
	return r.claim(1)[0]
}

// state returns the state of a task.
func (r *rig) state(id weir.ID) string {
	r.Helper()
	return r.text(`select state from weir.task where id = $1`, id)
}

// refusal returns the refusal about one lease, or ok if there is none.
func (r *rig) refusal(list []node.Refusal, err error) string {
	r.Helper()
	r.ok(err)
	switch len(list) {
	case 0:
		return "ok"
	case 1:
		return list[0].Refusal
	}
	r.Fatalf("%d answers about one lease", len(list))
	return ""
}
