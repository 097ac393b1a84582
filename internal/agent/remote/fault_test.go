package remote

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"github.com/weirhq/weir/internal/blob/blobtest"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/testwait"
)

// cut closes the connection without an answer.
func cut() { panic(http.ErrAbortHandler) }

// Lost answers are made up for: nothing is done twice, and nothing is forgotten.
func TestAnswersLost(t *testing.T) {
	t.Parallel()
	r := newRig(t, blobtest.Folder(t))
	n1 := r.registered("n1")
	ctx := t.Context()
	var mu sync.Mutex
	lost := map[string]int{}
	r.intercept(func(_ http.ResponseWriter, q *http.Request) bool {
		mu.Lock()
		lost[q.URL.Path]++
		nth := lost[q.URL.Path]
		mu.Unlock()
		if nth > 2 {
			return true
		}
		r.api.ServeHTTP(httptest.NewRecorder(), q) // the call is done, and its answer is lost
		cut()
		return false
	})
	r.submit()
	a := r.claim(ctx, n1, claimOne)
	refused, err := n1.Start(ctx, []node.Lease{a.Holds()}, 0)
	taken(t, refused, err)
	if err := n1.Upload(ctx, a.Holds(), node.ArtifactMeta{Kind: node.OutputArtifact, Name: "x"}, strings.NewReader("hello")); err != nil {
		t.Error(err)
	}
	refused, err = n1.End(ctx, []node.Outcome{{Lease: a.Holds(), Verdict: node.Done}})
	for _, r := range refused {
		if r.Refusal != node.Repeated {
			t.Errorf("refused %+v", r)
		}
	}
	if err != nil || len(lost) < 5 {
		t.Errorf("%v after %v", err, lost)
	}
	for what, sql := range map[string]string{
		"ends": `select count(*) from weir.finished where task = $1`, "artifacts": `select count(*) from weir.artifacts where task = $1`,
		"claims": `select count(*) from weir.events where type = 'claimed' and ($1 = any (tasks) or task = $1)`,
	} {
		var n int
		if err := r.db.Pool.QueryRow(ctx, sql, a.Task).Scan(&n); err != nil || n != 1 {
			t.Errorf("%d %s: %v", n, what, err)
		}
	}
}

// A call is retried if the server fails, is overloaded or restarts, but not if the server
// refuses it.
func TestAskedAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t, blobtest.Folder(t))
	n1 := r.registered("n1")
	for name, c := range map[string]struct {
		answer func(http.ResponseWriter)
		again  bool
		kind   problem.Kind
	}{
		"starting":   {func(w http.ResponseWriter) { http.Error(w, "starting", http.StatusServiceUnavailable) }, true, 0},
		"gateway":    {func(w http.ResponseWriter) { http.Error(w, "<html>", http.StatusBadGateway) }, true, 0},
		"failed":     {func(w http.ResponseWriter) { http.Error(w, "no", http.StatusInternalServerError) }, true, 0},
		"throttled":  {func(w http.ResponseWriter) { w.WriteHeader(http.StatusTooManyRequests) }, true, 0},
		"cut":        {func(http.ResponseWriter) { cut() }, true, 0},
		"portal":     {func(w http.ResponseWriter) { w.WriteHeader(http.StatusFound) }, false, problem.Failed},
		"not a Weir": {func(w http.ResponseWriter) { http.NotFound(w, nil) }, false, problem.Failed},
		"html":       {func(w http.ResponseWriter) { _, _ = w.Write([]byte("<html>")) }, false, problem.Failed},
	} {
		var calls atomic.Int64
		r.intercept(func(w http.ResponseWriter, _ *http.Request) bool {
			if calls.Add(1) > 2 {
				return true
			}
			c.answer(w)
			return false
		})
		_, err := n1.Heartbeat(t.Context())
		if c.again && (err != nil || calls.Load() != 3) || !c.again && (calls.Load() != 1 || err == nil || problem.Explain(err).Kind != c.kind) {
			t.Errorf("%s: %v after %d calls", name, err, calls.Load())
		}
	}
	// The retries end with the caller's context, and the error says what was wrong.
	r.intercept(func(http.ResponseWriter, *http.Request) bool { cut(); return false })
	ctx, cancel := context.WithTimeout(t.Context(), 400*time.Millisecond)
	defer cancel()
	if _, err := n1.Heartbeat(ctx); problem.Explain(err).Kind != problem.Unreachable || !strings.Contains(err.Error(), r.server.URL) {
		t.Errorf("a server that stays away: %v", err)
	}
	n1.patience = time.Millisecond
	if _, err := n1.Heartbeat(t.Context()); problem.Explain(err).Kind != problem.Unreachable {
		t.Errorf("a server that stays away: %v", err)
	}
	gone, end := context.WithCancel(t.Context())
	end()
	if _, err := n1.Heartbeat(gone); !errors.Is(err, context.Canceled) {
		t.Errorf("nobody waits: %v", err)
	}
}

// certificate returns a certificate that the machine trusts through the file ca.
func certificate(t *testing.T, from, to time.Time, names ...string) (_ tls.Certificate, ca string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: from, NotAfter: to, DNSNames: names, IsCA: true, BasicConstraintsValid: true}
	if len(names) == 0 {
		template.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	ca = filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key}, ca
}

// A permanent error is returned at once, with what to do about it.
func TestSaysWhatIsWrong(t *testing.T) {
	now := time.Now()
	fresh, ca := certificate(t, now.Add(-time.Hour), now.Add(time.Hour))
	old, oldCA := certificate(t, now.Add(-2*time.Hour), now.Add(-time.Hour))
	early, earlyCA := certificate(t, now.Add(time.Hour), now.Add(2*time.Hour))
	other, otherCA := certificate(t, now.Add(-time.Hour), now.Add(time.Hour), "weir.example.org")
	for name, c := range map[string]struct {
		cert  *tls.Certificate
		ca    string
		plain bool
		says  string
	}{
		"unknown authority": {&fresh, "", false, "--ca FILE"},
		"another authority": {&fresh, otherCA, false, "--ca FILE"},
		"expired":           {&old, oldCA, false, "clock"},
		"not yet valid":     {&early, earlyCA, false, "clock"},
		"another name":      {&other, otherCA, false, "another name"},
		"no TLS":            {nil, ca, true, "does not speak TLS"},
	} {
		var calls atomic.Int64
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { calls.Add(1) }))
		server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)
		if c.cert != nil {
			server.TLS = &tls.Config{Certificates: []tls.Certificate{*c.cert}}
			server.StartTLS()
		} else {
			server.Start()
		}
		n1, err := New(Config{Server: "https://" + server.Listener.Addr().String(), Node: "n1", Credential: "weir_node_x", CA: c.ca})
		if err != nil {
			t.Fatal(err)
		}
		_, err = n1.Heartbeat(t.Context())
		if p := problem.Explain(err); err == nil || !strings.Contains(p.What+" "+p.Next, c.says) || p.Kind == problem.Unreachable {
			t.Errorf("%s: %v", name, problem.Explain(err))
		}
		if calls.Load() > 0 {
			t.Errorf("%s: the credential went out", name)
		}
		n1.Close()
		server.Close()
	}
}

// Invalid addresses and files are refused before anything is sent.
func TestConfig(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		config Config
		field  string
	}{
		"nothing":       {Config{}, "server"},
		"scheme":        {Config{Server: "ftp://weir.example.org"}, "server"},
		"password":      {Config{Server: "https://a:b@weir.example.org"}, "server"},
		"query":         {Config{Server: "https://weir.example.org/?x=1"}, "server"},
		"clear text":    {Config{Server: "http://weir.example.org"}, "server"},
		"clear address": {Config{Server: "http://192.0.2.1:8080"}, "server"},
		"no file":       {Config{Server: "https://weir.example.org", CA: empty + ".not"}, "ca"},
		"no PEM":        {Config{Server: "https://weir.example.org", CA: empty}, "ca"},
	} {
		if _, err := New(c.config); err == nil || problem.Explain(err).Field != c.field {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, c := range map[string]Config{
		"https": {Server: "https://weir.example.org/below/"}, "this machine": {Server: "http://localhost:8080"}, "loopback": {Server: "http://[::1]:8080"},
		"meant": {Server: "http://192.0.2.1:8080", Plain: true},
	} {
		if _, err := New(c); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The error distinguishes a server of another version from a server that refuses the
// call.
func TestOlderServer(t *testing.T) {
	t.Parallel()
	r := newRig(t, blobtest.Folder(t))
	n1 := r.open("n1")
	r.intercept(func(w http.ResponseWriter, q *http.Request) bool {
		if !strings.Contains(q.URL.Path, "/agent/") {
			return true
		}
		q.URL.Path = "/api/v1/nothing"
		return true
	})
	err := n1.Register(t.Context(), node.Info{Name: "n1"})
	if p := problem.Explain(err); err == nil || !strings.Contains(p.What, "1.2.3") || !strings.Contains(p.Next, "same version") {
		t.Errorf("got %v", problem.Explain(err))
	}
}

// Redirects are not followed, because the credential is only for the server.
func TestRedirectGetsNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t, blobtest.Folder(t))
	n1 := r.registered("n1")
	var followed atomic.Int64
	thief := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed.Add(1) }))
	defer thief.Close()
	r.intercept(func(w http.ResponseWriter, q *http.Request) bool {
		http.Redirect(w, q, thief.URL, http.StatusTemporaryRedirect)
		return false
	})
	if _, err := n1.Heartbeat(t.Context()); err == nil || followed.Load() != 0 {
		t.Errorf("%v, followed %d times", err, followed.Load())
	}
}

// protocols runs a test with one connection for all calls, and with one for each.
func protocols(t *testing.T, f func(t *testing.T, change func(*httptest.Server))) {
	t.Run("HTTP/2", func(t *testing.T) { f(t, func(*httptest.Server) {}) })
	t.Run("HTTP/1.1", func(t *testing.T) { f(t, func(s *httptest.Server) { s.EnableHTTP2 = false }) })
}

// A network that drops everything is noticed, and when it heals the agent continues: the
// claim that was under way is repeated and nothing is lost.
func TestPartition(t *testing.T) {
	t.Parallel()
	protocols(t, func(t *testing.T, change func(*httptest.Server)) {
		r := newRig(t, blobtest.Folder(t), change)
		proxy := newProxy(t, r.server.URL)
		n1 := r.registered("n1", func(c *Config) { c.Server = "https://" + proxy.Listen })
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
		defer cancel()
		if _, err := n1.Heartbeat(ctx); err != nil {
			t.Fatal(err)
		}
		// The claim has reached the server, and continues when the network is cut.
		var claims atomic.Int64
		cut := make(chan struct{})
		goOn := sync.OnceFunc(func() { close(cut) })
		defer goOn()
		r.intercept(func(_ http.ResponseWriter, q *http.Request) bool {
			if strings.HasSuffix(q.URL.Path, "/claim") {
				claims.Add(1)
				<-cut
			}
			return true
		})
		type result struct {
			got node.Claimed
			err error
		}
		answer := make(chan result, 1)
		go func() {
			got, err := n1.Claim(ctx, node.ClaimRequest{ID: claimOne, Services: []string{"render"}, Slots: []int{1}, N: 1, Wait: 3 * time.Second})
			answer <- result{got, err}
		}()
		testwait.Until(t, "the claim is under way", func() bool { return claims.Load() == 1 })
		for _, stream := range []string{"upstream", "downstream"} {
			if _, err := proxy.Toxics.AddToxicJson(strings.NewReader(`{"name": "` + stream + `", "type": "timeout", "stream": "` + stream + `", "attributes": {"timeout": 0}}`)); err != nil {
				t.Fatal(err)
			}
		}
		// The work arrives while the agent is cut off; the claim that is at the server
		// takes it, and its answer is lost.
		r.submit()
		goOn()
		testwait.Until(t, "the claim takes the work", func() bool {
			var n int
			err := r.db.Pool.QueryRow(ctx, `select count(*) from weir.running`).Scan(&n)
			return err == nil && n == 1
		})
		proxy.Toxics.ResetToxics(context.Background())
		got := <-answer
		if got.err != nil || len(got.got.Tasks) != 1 || got.got.Tasks[0].Token != claimOne {
			t.Fatalf("got %+v", got)
		}
		refused, err := n1.End(ctx, []node.Outcome{{Lease: got.got.Tasks[0].Holds(), Verdict: node.Done}})
		taken(t, refused, err)
	})
}

// A connection that went silent is replaced.
func TestSilence(t *testing.T) {
	t.Parallel()
	protocols(t, func(t *testing.T, change func(*httptest.Server)) {
		r := newRig(t, blobtest.Folder(t), change)
		between := newDeaf(t, r.server.Listener.Addr().String())
		n1 := r.registered("n1", func(c *Config) { c.Server = "https://" + between.Addr().String() })
		n1.each = time.Second
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		if _, err := n1.Heartbeat(ctx); err != nil {
			t.Fatal(err)
		}
		between.deafen()
		if _, err := n1.Heartbeat(ctx); err != nil {
			t.Errorf("the silent connection is still asked: %v", err)
		}
	})
}

// deaf forwards connections until it gets the order to drop the existing ones. New
// connections work.
type deaf struct {
	net.Listener
	mu    sync.Mutex
	conns []net.Conn
	now   chan struct{}
}

func newDeaf(t *testing.T, to string) *deaf {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d := &deaf{Listener: l, now: make(chan struct{})}
	var group sync.WaitGroup
	group.Go(func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", to)
			if err != nil {
				in.Close()
				return
			}
			d.mu.Lock()
			d.conns = append(d.conns, in, out)
			now := d.now
			d.mu.Unlock()
			group.Go(func() { pass(in, out, now) })
			group.Go(func() { pass(out, in, now) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		d.mu.Lock()
		for _, c := range d.conns {
			c.Close()
		}
		d.mu.Unlock()
		group.Wait()
	})
	return d
}

func (d *deaf) deafen() {
	d.mu.Lock()
	defer d.mu.Unlock()
	close(d.now)
	d.now = make(chan struct{})
}

// pass copies until deaf is closed; then it reads and discards the bytes.
func pass(from, to net.Conn, deaf <-chan struct{}) {
	b := make([]byte, 32<<10)
	for {
		n, err := from.Read(b)
		if err != nil {
			select {
			case <-deaf: // the bytes are lost
			default:
				to.Close()
			}
			return
		}
		select {
		case <-deaf:
			continue
		default:
		}
		if _, err := to.Write(b[:n]); err != nil {
			return
		}
	}
}

func newProxy(t *testing.T, to string) *toxiproxy.Proxy {
	t.Helper()
	u, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(prometheus.NewRegistry()), zerolog.Nop())
	proxy := toxiproxy.NewProxy(server, t.Name(), "127.0.0.1:0", u.Host)
	if err := proxy.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Stop)
	return proxy
}
