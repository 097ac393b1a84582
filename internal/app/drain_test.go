package app

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/testdb"
	"github.com/weirhq/weir/internal/testwait"
)

// member is one of several servers in this process. Its draining lasts until
// drained is closed: how fast a machine is does not matter then.
type member struct {
	url        *url.URL
	out        testwait.Text
	end, force context.CancelFunc
	drained    chan struct{}
	ended      chan error

	// What a balancer knows of it.
	mu    sync.Mutex
	ready bool
	busy  int
}

// join starts a server beside others.
func join(t *testing.T, db *testdb.DB) *member {
	t.Helper()
	ctx, end := context.WithCancel(context.Background())
	force, hurry := context.WithCancel(context.Background())
	m := &member{end: end, force: hurry, drained: make(chan struct{}), ended: make(chan error, 1)}
	config := Config{DatabaseURL: db.URL, Listen: "127.0.0.1:0", DrainDelay: time.Hour, RolloutWorkers: -1}.Defaults()
	go func() {
		m.ended <- Serve(ctx, config, Options{Version: "test", Out: &m.out, Force: force, drained: m.drained})
	}()
	t.Cleanup(func() { end(); hurry() })
	testwait.Until(t, "the server is up", func() bool { return strings.Contains(m.out.String(), "Weir is up after ") })
	at, err := url.Parse(told.FindString(m.out.String()))
	if err != nil {
		t.Fatal(err)
	}
	m.url = at
	return m
}

// look is what a balancer does all the time.
func (m *member) look(ctx context.Context, client *http.Client) {
	status := 0
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, m.url.String()+"/readyz", nil)
	if err == nil {
		if response, err := client.Do(request); err == nil {
			status = response.StatusCode
			_ = response.Body.Close() // only the status counts
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ready = status == http.StatusOK
}

// idle says that the balancer sends it nothing, and waits for nothing.
func (m *member) idle() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return !m.ready && m.busy == 0
}

func (m *member) take() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ready {
		m.busy++
	}
	return m.ready
}

func (m *member) give() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.busy--
}

// balancer sends each request to one of the servers that are ready. It tries
// nothing twice, so that each error is seen.
type balancer struct {
	mu      sync.Mutex
	members []*member
	next    int
	errors  []error
	proxy   *httputil.ReverseProxy
}

type memberKey struct{}

func newBalancer() *balancer {
	b := &balancer{}
	b.proxy = &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(r.In.Context().Value(memberKey{}).(*member).url) // ServeHTTP has put it there
		},
		Transport: &http.Transport{},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.errors = append(b.errors, err)
			w.WriteHeader(http.StatusBadGateway)
		},
	}
	return b
}

func (b *balancer) all() []*member {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]*member(nil), b.members...)
}

func (b *balancer) set(i int, m *member) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.members[i] = m
}

func (b *balancer) pick() *member {
	b.mu.Lock()
	defer b.mu.Unlock()
	for range b.members {
		b.next++
		if m := b.members[b.next%len(b.members)]; m.take() {
			return m
		}
	}
	return nil
}

func (b *balancer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m := b.pick()
	if m == nil {
		http.Error(w, "nobody is ready", http.StatusServiceUnavailable)
		return
	}
	defer m.give()
	b.proxy.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), memberKey{}, m)))
}

// operatorToken is for whoever submits tasks.
func operatorToken(t *testing.T, db *testdb.DB) string {
	t.Helper()
	people := auth.New(db.Pool, auth.Options{})
	if _, err := people.CreateUser(t.Context(), auth.System("test"), auth.NewUser{Name: "writer", Role: auth.Operator}); err != nil {
		t.Fatal(err)
	}
	_, secret, err := people.CreateToken(t.Context(), auth.System("test"), auth.NewToken{Name: "write", Scopes: []string{"*:*"}, User: "writer"})
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

// submit asks for a task and returns the status and whether the server closes the
// connection.
func submit(ctx context.Context, client *http.Client, at, token string) (status int, closes bool, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, at+"/api/v1/tasks", strings.NewReader(`{"service": "nobody"}`))
	if err != nil {
		return 0, false, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := client.Do(request)
	if err != nil {
		return 0, false, err
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	return response.StatusCode, response.Close, err
}

// slowSubmit sends a request whose body the server waits for, and returns what sends the
// rest of it and how the server answers.
func slowSubmit(t *testing.T, m *member, token string) (rest func(), answer <-chan string) {
	t.Helper()
	read, write := io.Pipe()
	begun, answered := make(chan struct{}), make(chan string, 1)
	trace := &httptrace.ClientTrace{Got100Continue: func() { close(begun) }}
	request, err := http.NewRequestWithContext(httptrace.WithClientTrace(t.Context(), trace), http.MethodPost, m.url.String()+"/api/v1/tasks", read)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Expect", "100-continue")
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+token)
	go func() {
		transport := &http.Transport{ExpectContinueTimeout: time.Minute}
		defer transport.CloseIdleConnections()
		response, err := transport.RoundTrip(request)
		if err != nil {
			answered <- err.Error()
			return
		}
		response.Body.Close()
		answered <- response.Status
	}()
	select {
	case <-begun:
	case said := <-answered:
		t.Fatalf("it did not wait for the body: %s", said)
	}
	return func() {
		_, _ = io.WriteString(write, `{"service": "nobody"}`) // the answer tells whether it arrived
		_ = write.Close()
	}, answered
}

// Three servers behind a balancer are restarted one after the other while clients
// write: no request fails, and every task that was acknowledged is there.
func TestRollingRestart(t *testing.T) {
	t.Parallel()
	db := testdb.New(t)
	token := operatorToken(t, db)
	b := newBalancer()
	for range 3 {
		b.members = append(b.members, join(t, db))
	}
	front := httptest.NewServer(b)
	defer front.Close()
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	defer b.proxy.Transport.(*http.Transport).CloseIdleConnections()

	ctx, end := context.WithCancel(t.Context())
	var looks sync.WaitGroup
	defer looks.Wait()
	defer end()
	looks.Go(func() {
		for loop.Wait(ctx, 10*time.Millisecond, nil) {
			for _, m := range b.all() {
				m.look(ctx, client)
			}
		}
	})
	ready := func(m *member) func() bool {
		return func() bool { m.mu.Lock(); defer m.mu.Unlock(); return m.ready }
	}
	for _, m := range b.all() {
		testwait.Until(t, "the balancer sees a server", ready(m))
	}

	var mu sync.Mutex
	acknowledged, faults := 0, []string(nil)
	busy, rest := context.WithCancel(ctx)
	var clients sync.WaitGroup
	defer clients.Wait()
	defer rest()
	for range 3 {
		clients.Go(func() {
			for busy.Err() == nil {
				status, _, err := submit(ctx, client, front.URL, token)
				mu.Lock()
				if err == nil && status == http.StatusCreated {
					acknowledged++
				} else {
					faults = append(faults, fmt.Sprint(status, " ", err))
				}
				mu.Unlock()
			}
		})
	}
	count := func() int { mu.Lock(); defer mu.Unlock(); return acknowledged }

	for i, m := range b.all() {
		before := count()
		testwait.Until(t, "clients write", func() bool { return count() > before+3 })
		m.end()
		testwait.Until(t, "the balancer sends nothing more to a server that stops", m.idle)
		close(m.drained)
		if err := <-m.ended; err != nil {
			t.Error(err)
		}
		again := join(t, db)
		b.set(i, again)
		testwait.Until(t, "the balancer sees the new one", ready(again))
	}
	rest()
	clients.Wait()
	if len(faults)+len(b.errors) > 0 {
		t.Errorf("%d requests failed: %v, %v", len(faults), faults, b.errors)
	}
	var kept int
	if err := db.Pool.QueryRow(t.Context(), `select count(*) from weir.task`).Scan(&kept); err != nil || kept != acknowledged {
		t.Errorf("%d tasks of %d acknowledged, %v", kept, acknowledged, err)
	}
	for _, m := range b.all() {
		m.end()
		close(m.drained)
		if err := <-m.ended; err != nil {
			t.Error(err)
		}
	}
}

// A server that stops says so first, answers on, ends streams cleanly, lets requests end,
// and ends.
func TestDrain(t *testing.T) {
	t.Parallel()
	db := testdb.New(t)
	token := operatorToken(t, db)
	m := join(t, db)
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, m.url.String()+"/api/v1/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	stream, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	if status, closes, err := submit(t.Context(), client, m.url.String(), token); status != http.StatusCreated || closes || err != nil {
		t.Fatalf("before: %d, closes %v, %v", status, closes, err)
	}

	m.end()
	testwait.Until(t, "it is not ready", func() bool {
		response, err := client.Get(m.url.String() + "/readyz")
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		var ready Readiness
		return json.NewDecoder(response.Body).Decode(&ready) == nil && response.StatusCode == http.StatusServiceUnavailable && ready.Checks[0].Name == "server"
	})
	if status, closes, err := submit(t.Context(), client, m.url.String(), token); status != http.StatusCreated || !closes || err != nil {
		t.Errorf("while it drains: %d, closes %v, %v", status, closes, err)
	}
	rest, answer := slowSubmit(t, m, token)
	close(m.drained)
	testwait.Until(t, "it takes no more connections", func() bool {
		conn, err := net.Dial("tcp", m.url.Host)
		if err == nil {
			conn.Close()
		}
		return err != nil
	})
	rest()
	if said := <-answer; said != "201 Created" {
		t.Errorf("a request under way ends with %s", said)
	}
	for lines := bufio.NewReader(stream.Body); ; {
		if _, err := lines.ReadString('\n'); err != nil {
			if !errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("the stream ends with %v", err)
			}
			break
		}
	}
	if err := <-m.ended; err != nil {
		t.Error(err)
	}
	if _, _, err := submit(t.Context(), client, m.url.String(), token); err == nil {
		t.Error("it still answers")
	}

	// A second signal does not wait for balancers.
	m = join(t, db)
	m.end()
	testwait.Until(t, "it drains", func() bool { return strings.Contains(m.out.String(), "Draining") })
	m.force()
	if err := <-m.ended; err != nil {
		t.Error(err)
	}
}

// A stop is told by the first probe behind it, also where an answer of before is still
// fresh: a balancer may ask once more and then no longer.
func TestAStopIsToldAtOnce(t *testing.T) {
	t.Parallel()
	h := &health{server: &Server{}, last: Readiness{Ready: true}, at: time.Now().Add(time.Hour)}
	if !h.ready(t.Context()).Ready {
		t.Fatal("a fresh answer is not repeated")
	}
	h.server.draining.Store(true)
	if h.ready(t.Context()).Ready {
		t.Error("it is ready although it stops")
	}
}
