package remote

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/agent"
	"github.com/weirhq/weir/internal/agent/agenttest"
	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/blob/blobtest"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/problem"
)

// The suite that every transport passes, over HTTPS.
func TestSuite(t *testing.T) {
	agenttest.Suite(t, func(t *testing.T, p *agenttest.Parts, name string) agent.Transport {
		return newServer(t, p).open(name)
	})
}

// A job of two steps over HTTPS, with artifacts straight into a bucket and
// through the server.
func TestWork(t *testing.T) {
	t.Parallel()
	buckets(t, func(t *testing.T, bucket blob.Bucket) {
		r := newRig(t, bucket)
		ctx := t.Context()
		if err := r.vault.Put(ctx, "test", "api_key", "canary", ""); err != nil {
			t.Fatal(err)
		}
		n1 := r.registered("n1")
		orders, err := n1.Heartbeat(ctx)
		if err != nil || orders.Mode != node.Active || orders.Capacity["render"] != 4 {
			t.Errorf("orders %+v: %v", orders, err)
		}
		job := r.submit()
		a := r.claim(ctx, n1, claimOne)
		if a.Key != "a" || a.Job != job || a.Lease <= 0 {
			t.Errorf("claimed %+v", a)
		}
		lease := a.Holds()
		refused, err := n1.Start(ctx, []node.Lease{lease}, 0)
		taken(t, refused, err)
		refused, err = n1.Renew(ctx, []node.Lease{lease}, 0)
		taken(t, refused, err)
		refused, err = n1.Record(ctx, []node.Note{{Lease: lease, Type: "progress", Data: []byte(`{"percent": 40}`)}})
		taken(t, refused, err)
		secrets, err := n1.Secrets(ctx, lease)
		if err != nil || secrets["api_key"] != "canary" {
			t.Errorf("secrets %v: %v", secrets, err)
		}
		if err := n1.AppendLog(ctx, lease, node.LogChunk{Lines: []byte("{\"text\":\"\\u0000\"}\n")}); err != nil {
			t.Error(err)
		}
		large := make([]byte, 3<<20)
		_, _ = rand.Read(large) // never fails
		for name, body := range map[string]io.Reader{
			"dir/large file.bin": bytes.NewReader(large), "empty": strings.NewReader(""), "once": io.MultiReader(strings.NewReader("only once")),
		} {
			meta := node.ArtifactMeta{Kind: node.OutputArtifact, Name: name, ContentType: "application/octet-stream"}
			if name == "once" {
				meta.Size = int64(len("only once"))
			}
			if err := n1.Upload(ctx, lease, meta, body); err != nil {
				t.Fatalf("upload %s: %v", name, err)
			}
		}
		refused, err = n1.End(ctx, []node.Outcome{{Lease: lease, Verdict: node.Done, Result: []byte(`{"ok": true}`)}})
		taken(t, refused, err)

		b := r.claim(ctx, n1, claimTwo)
		inputs, err := n1.Inputs(ctx, b.Holds())
		if err != nil || len(inputs) != 3 {
			t.Fatalf("inputs %+v: %v", inputs, err)
		}
		for _, in := range inputs {
			object, err := n1.Fetch(ctx, b.Holds(), in.Key)
			if err != nil {
				t.Fatalf("fetch %s: %v", in.Name, err)
			}
			got, err := io.ReadAll(object)
			object.Close()
			want := map[string][]byte{"dir/large file.bin": large, "empty": {}, "once": []byte("only once")}[in.Name]
			if err != nil || !bytes.Equal(got, want) || in.Size != int64(len(want)) {
				t.Errorf("%s came back with %d bytes, %d were put: %v", in.Name, len(got), len(want), err)
			}
		}
		refused, err = n1.End(ctx, []node.Outcome{{Lease: b.Holds(), Verdict: node.Done}})
		taken(t, refused, err)
		if got := r.state(job); got != "done" {
			t.Errorf("the job is %s", got)
		}
		_, err = n1.Secrets(ctx, lease)
		if !errors.Is(err, weir.ErrLeaseLost) || problem.Explain(err).Kind != problem.Stale {
			t.Errorf("the secrets of what has ended: %v", err)
		}
		if err := n1.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
}

// The bytes go directly to a bucket that has addresses, without the credential.
func TestDirect(t *testing.T) {
	t.Parallel()
	r := newRig(t, blobtest.Open(t))
	n1 := r.registered("n1")
	r.submit()
	a := r.claim(t.Context(), n1, claimOne)
	var carried atomic.Int64
	r.intercept(func(_ http.ResponseWriter, q *http.Request) bool {
		if q.Method == http.MethodPut {
			carried.Add(1)
		}
		return true
	})
	meta := node.ArtifactMeta{Kind: node.OutputArtifact, Name: "x"}
	if err := n1.Upload(t.Context(), a.Holds(), meta, strings.NewReader("hello")); err != nil {
		t.Fatal(err)
	}
	if carried.Load() != 0 {
		t.Error("it went through the server")
	}
	inner := n1.bucket.Transport
	n1.bucket.Transport = trip(func(q *http.Request) (*http.Response, error) {
		if q.Header.Get("Authorization") != "" {
			t.Error("the bucket gets the credential")
		}
		return inner.RoundTrip(q)
	})
	if err := n1.Upload(t.Context(), a.Holds(), meta, strings.NewReader("other")); err != nil {
		t.Fatal(err)
	}
	// A machine that does not reach the bucket goes through the server.
	n1.bucket.Transport = trip(func(*http.Request) (*http.Response, error) { return nil, errors.New("no route to host") })
	meta.Name = "y"
	if err := n1.Upload(t.Context(), a.Holds(), meta, strings.NewReader("through")); err != nil {
		t.Fatal(err)
	}
	if carried.Load() != 1 {
		t.Errorf("%d went through the server", carried.Load())
	}
	refused, err := n1.End(t.Context(), []node.Outcome{{Lease: a.Holds(), Verdict: node.Done}})
	taken(t, refused, err)
	b := r.claim(t.Context(), n1, claimTwo)
	inputs, err := n1.Inputs(t.Context(), b.Holds())
	if err != nil || len(inputs) != 2 {
		t.Fatalf("inputs %+v: %v", inputs, err)
	}
	for _, in := range inputs {
		object, err := n1.Fetch(t.Context(), b.Holds(), in.Key)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(object)
		object.Close()
		if want := map[string]string{"x": "other", "y": "through"}[in.Name]; err != nil || string(got) != want {
			t.Errorf("%s is %q: %v", in.Name, got, err)
		}
	}
}

type trip func(*http.Request) (*http.Response, error)

func (f trip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A lease of another node gives no access, and neither does a lost one.
func TestForeign(t *testing.T) {
	t.Parallel()
	buckets(t, func(t *testing.T, bucket blob.Bucket) {
		r := newRig(t, bucket)
		n1, n2 := r.registered("n1"), r.registered("n2")
		r.submit()
		a := r.claim(t.Context(), n1, claimOne)
		lease := a.Holds()
		ctx := t.Context()
		for what, f := range map[string]func() error{
			"secrets": func() error { _, err := n2.Secrets(ctx, lease); return err },
			"log":     func() error { return n2.AppendLog(ctx, lease, node.LogChunk{Lines: []byte("{}\n")}) },
			"upload": func() error {
				return n2.Upload(ctx, lease, node.ArtifactMeta{Kind: node.OutputArtifact, Name: "x"}, strings.NewReader("x"))
			},
			"stream": func() error {
				return n2.Upload(ctx, lease, node.ArtifactMeta{Kind: node.OutputArtifact, Name: "x", Size: 1}, io.MultiReader(strings.NewReader("x")))
			},
			"inputs": func() error { _, err := n2.Inputs(ctx, lease); return err },
			"fetch":  func() error { _, err := n2.Fetch(ctx, lease, "outputs/x"); return err },
		} {
			if err := f(); !errors.Is(err, weir.ErrLeaseLost) {
				t.Errorf("%s: %v", what, err)
			}
		}
		for what, f := range map[string]func() ([]node.Refusal, error){
			"start":  func() ([]node.Refusal, error) { return n2.Start(ctx, []node.Lease{lease}, 0) },
			"renew":  func() ([]node.Refusal, error) { return n2.Renew(ctx, []node.Lease{lease}, 0) },
			"record": func() ([]node.Refusal, error) { return n2.Record(ctx, []node.Note{{Lease: lease, Type: "progress"}}) },
			"end": func() ([]node.Refusal, error) {
				return n2.End(ctx, []node.Outcome{{Lease: lease, Verdict: node.Failed}})
			},
		} {
			refused, err := f()
			if err != nil || len(refused) != 1 || refused[0].Refusal != node.LeaseLost || refused[0].Task != lease.Task {
				t.Errorf("%s: %+v, %v", what, refused, err)
			}
		}
		refused, err := n1.End(ctx, []node.Outcome{{Lease: lease, Verdict: node.Done}})
		taken(t, refused, err)
	})
}

// Long lists are sent in pieces.
func TestManyLeases(t *testing.T) {
	t.Parallel()
	r := newRig(t, blobtest.Folder(t))
	n1 := r.registered("n1")
	var calls atomic.Int64
	r.intercept(func(http.ResponseWriter, *http.Request) bool { calls.Add(1); return true })
	leases := make([]node.Lease, 2500)
	for i := range leases {
		leases[i] = node.Lease{Task: weir.ID{1, byte(i), byte(i >> 8)}, Attempt: 1, Token: claimOne}
	}
	refused, err := n1.Renew(t.Context(), leases, 0)
	if err != nil || len(refused) != len(leases) || calls.Load() != 3 {
		t.Errorf("%d refusals in %d calls: %v", len(refused), calls.Load(), err)
	}
	if refused, err := n1.Renew(context.WithoutCancel(t.Context()), nil, 0); err != nil || len(refused) != 0 || calls.Load() != 3 {
		t.Errorf("nothing to say: %+v, %v in %d calls", refused, err, calls.Load())
	}
}
