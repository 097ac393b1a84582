package docker_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"
)

// front stands before an engine, and looks at each container that is made before whoever
// made it hears of it. So it sees also those that remove themselves.
type front struct {
	*engine
	host string

	mu      sync.Mutex
	made    []container.InspectResponse
	entered []container.ExecCreateRequest
	// last is the end of a path: with the answer to that the engine hangs. Empty: it never does.
	last  string
	hangs bool
}

func newFront(t testing.TB, host string) *front {
	t.Helper()
	dir, err := os.MkdirTemp("", "weir-front-") // sockets have short names
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket := filepath.Join(dir, "docker.sock")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	f := &front{engine: newEngine(t, host), host: "unix://" + socket}
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", strings.TrimPrefix(host, "unix://"))
	}}
	through := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host = "http", "docker"
			f.enters(r.Out)
		},
		ModifyResponse: func(answer *http.Response) error {
			f.mu.Lock()
			f.hangs = f.hangs || f.last != "" && strings.HasSuffix(answer.Request.URL.Path, f.last)
			f.mu.Unlock()
			return f.makes(answer)
		},
		Transport: transport,
		ErrorLog:  log.New(io.Discard, "", 0), // clients that leave
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		hangs := f.hangs
		f.mu.Unlock()
		if hangs {
			<-r.Context().Done()
			return
		}
		through.ServeHTTP(w, r)
	}))
	_ = server.Listener.Close() // it has one of its own
	server.Listener = listener
	server.Start()
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
		transport.CloseIdleConnections()
	})
	return f
}

// makes notes a container that was made.
func (f *front) makes(answer *http.Response) error {
	if answer.StatusCode != http.StatusCreated || !strings.HasSuffix(answer.Request.URL.Path, "/containers/create") {
		return nil
	}
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	answer.Body = io.NopCloser(bytes.NewReader(text))
	var made container.CreateResponse
	if err := json.Unmarshal(text, &made); err != nil {
		return err
	}
	found, err := f.ContainerInspect(answer.Request.Context(), made.ID, client.ContainerInspectOptions{})
	f.mu.Lock()
	f.made = append(f.made, found.Container)
	f.mu.Unlock()
	return err
}

// enters notes a process that is to run in a container.
func (f *front) enters(r *http.Request) {
	if r.Method != http.MethodPost || path.Base(r.URL.Path) != "exec" {
		return
	}
	text, err := io.ReadAll(r.Body)
	var asked container.ExecCreateRequest
	if err == nil {
		err = json.Unmarshal(text, &asked)
	}
	if err != nil {
		f.Error(err)
	}
	r.Body = io.NopCloser(bytes.NewReader(text))
	f.mu.Lock()
	f.entered = append(f.entered, asked)
	f.mu.Unlock()
}

// hangAfter lets the engine hang once it has answered what a path ends with.
func (f *front) hangAfter(end string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last = end
}

// seen is all so far.
func (f *front) seen() ([]container.InspectResponse, []container.ExecCreateRequest) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.made, f.entered
}
