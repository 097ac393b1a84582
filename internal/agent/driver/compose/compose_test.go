package compose_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	nethttp "net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/moby/moby/client"

	"github.com/weirhq/weir/internal/agent/driver"
	"github.com/weirhq/weir/internal/agent/driver/compose"
	"github.com/weirhq/weir/internal/dockertest"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/problem"
)

func TestMain(m *testing.M) { dockertest.Main(m) }

// generous is a timeout that only a hanging test reaches.
const generous = 2 * time.Minute

// bench is an engine, a compose file with one service, and a driver.
type bench struct {
	t      *testing.T
	host   string
	config compose.Config
	driver *compose.Driver
	engine *client.Client
	port   int
	n      int
}

func newBench(t *testing.T) *bench {
	t.Helper()
	if _, err := exec.LookPath("docker-compose"); err != nil && exec.Command("docker", "compose", "version").Run() != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("there is no compose on this machine: scripts/setup-test installs it")
		}
		t.Skip("SKIPPED, there is no compose on this machine: scripts/setup-test installs it")
	}
	b := &bench{t: t, host: dockertest.Daemon(t), port: freePort(t)}
	image := dockertest.Image(t, b.host)
	b.config = compose.Config{Folder: t.TempDir(), Notes: filepath.Join(t.TempDir(), "notes"), Agent: "agent-of-" + t.Name(), Host: b.host}
	// The engine of the tests has no bridge network.
	b.write("compose.yaml", fmt.Sprintf(`version: "3"
services:
  echo:
    image: %s
    network_mode: host
    init: true
    command: ["serve", "127.0.0.1:%d"]
  deaf:
    image: %s
    network_mode: none
    init: true
    command: ["sleep"]
`, image, b.port, image))
	var err error
	if b.engine, err = client.New(client.WithHost(b.host)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.engine.Close() })
	b.driver = b.newDriver()
	return b
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func (b *bench) write(name, text string) {
	b.t.Helper()
	if err := os.WriteFile(filepath.Join(b.config.Folder, name), []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) newDriver() *compose.Driver {
	b.t.Helper()
	d, err := compose.New(b.config)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() {
		if err := d.Close(); err != nil {
			b.t.Error(err)
		}
	})
	return d
}

func (b *bench) url(path string) string { return fmt.Sprintf("http://127.0.0.1:%d%s", b.port, path) }

func (b *bench) work(path string) driver.Work {
	b.n++
	return driver.Work{
		Task: fmt.Sprint("task-", b.n), Attempt: 1, Fence: "f", Service: "echo", Params: json.RawMessage(`{"x":1}`),
		Run: node.Run{Driver: "compose", Compose: &node.Compose{Service: "echo", URL: b.url(path)}},
	}
}

func (b *bench) start(w driver.Work) (driver.Running, *output) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), generous)
	defer cancel()
	out := &output{}
	r, err := b.driver.Start(ctx, w, out)
	if err != nil {
		b.t.Fatalf("start: %v", err)
	}
	return r, out
}

func (b *bench) wait(r driver.Running) driver.Exit {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), generous)
	defer cancel()
	exit, err := r.Wait(ctx)
	if err != nil {
		b.t.Fatalf("wait: %v", err)
	}
	return exit
}

func (b *bench) run(w driver.Work) (driver.Exit, *output) {
	b.t.Helper()
	r, out := b.start(w)
	return b.wait(r), out
}

// services counts the running containers.
func (b *bench) services() int {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), generous)
	defer cancel()
	list, err := b.engine.ContainerList(ctx, client.ContainerListOptions{})
	if err != nil {
		b.t.Fatal(err)
	}
	return len(list.Items)
}

func (b *bench) idle(since time.Time) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), generous)
	defer cancel()
	if err := b.driver.Idle(ctx, "echo", since); err != nil {
		b.t.Fatal(err)
	}
}

// One test covers everything that happens to a service, because each start takes seconds.
func TestServiceIsStartedUsedAndStopped(t *testing.T) {
	b := newBench(t)
	exit, out := b.run(b.work("/"))
	if exit.Code != 0 || !strings.Contains(string(exit.Result), `"params":{"x":1}`) {
		t.Fatalf("exit %+v with %s", exit, exit.Result)
	}
	if text := out.err(); !strings.HasPrefix(text, "compose: starting echo\n") {
		t.Errorf("the log is %q", text)
	}
	if n := b.services(); n != 1 {
		t.Fatalf("%d services run, want 1", n)
	}

	// The next task finds the service up.
	if exit, out := b.run(b.work("/")); exit.Code != 0 || out.err() != "" {
		t.Errorf("exit %+v, log %q", exit, out.err())
	}

	// The service has not been idle for long enough, which is ten minutes by default.
	b.idle(time.Now().Add(-time.Hour))
	if n := b.services(); n != 1 {
		t.Errorf("stopped while it was just used: %d run", n)
	}

	// A service in use is not stopped, however short its idle time is.
	slow := b.work("/slow")
	slow.Run.Compose.Idle = node.Span(time.Nanosecond)
	r, _ := b.start(slow)
	b.idle(time.Now().Add(-time.Hour))
	if n := b.services(); n != 1 {
		t.Errorf("stopped while it was used: %d run", n)
	}
	b.goOn()
	if exit := b.wait(r); exit.Code != 0 {
		t.Errorf("exit %+v", exit)
	}

	// The idle time of another service of Weir does not affect this one.
	if err := b.driver.Idle(context.Background(), "another", time.Now().Add(-time.Hour)); err != nil || b.services() != 1 {
		t.Errorf("stopped for another service: %v", err)
	}

	// A later process of the agent stops the service.
	if err := b.driver.Close(); err != nil {
		t.Fatal(err)
	}
	b.driver = b.newDriver()
	poll(t, "end of the idle service", func() bool { b.idle(time.Time{}); return b.services() == 0 })
	if notes, err := os.ReadDir(b.config.Notes); err != nil || len(notes) != 0 {
		t.Errorf("notes are left: %v, %v", notes, err)
	}

	// It also starts the service again.
	if exit, _ := b.run(b.work("/")); exit.Code != 0 || b.services() != 1 {
		t.Errorf("exit %+v, %d run", exit, b.services())
	}
	b.kill()

	// A call discovers that the service died, and the service is started for the next
	// call.
	if exit, _ := b.run(b.work("/")); exit.Code != 1 || !strings.HasSuffix(exit.Reason, "connection refused") {
		t.Errorf("exit %+v, want a refused connection", exit)
	}
	poll(t, "service that is up again", func() bool { exit, _ := b.run(b.work("/")); return exit.Code == 0 })
	b.kill()
}

// goOn lets the slow call end.
func (b *bench) goOn() {
	b.t.Helper()
	answer, err := nethttp.Get(b.url("/go"))
	if err != nil {
		b.t.Fatal(err)
	}
	answer.Body.Close()
	nethttp.DefaultClient.CloseIdleConnections()
}

// kill ends all containers.
func (b *bench) kill() {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), generous)
	defer cancel()
	list, err := b.engine.ContainerList(ctx, client.ContainerListOptions{})
	if err != nil {
		b.t.Fatal(err)
	}
	for _, one := range list.Items {
		if _, err := b.engine.ContainerRemove(ctx, one.ID, client.ContainerRemoveOptions{Force: true}); err != nil {
			b.t.Error(err)
		}
	}
}

func TestServiceThatDoesNotListen(t *testing.T) {
	b := newBench(t)
	b.config.Ready = time.Second
	b.driver = b.newDriver()
	w := b.work("/")
	w.Run.Compose.Service = "deaf"
	_, err := b.driver.Start(context.Background(), w, &output{})
	wantProblem(t, err, problem.Unreachable, "")
	b.kill()
}

func TestUnknownService(t *testing.T) {
	b := newBench(t)
	w := b.work("/")
	w.Run.Compose.Service = "nobody"
	_, err := b.driver.Start(context.Background(), w, &output{})
	wantProblem(t, err, problem.NotFound, "compose.service")
}

func TestWhichCompose(t *testing.T) {
	b := newBench(t)
	which, err := b.driver.Which(context.Background())
	if err != nil || !strings.HasPrefix(which, "docker-compose ") && !strings.HasPrefix(which, "docker compose ") {
		t.Errorf("it is %q, %v", which, err)
	}
	if err := b.driver.Check(context.Background()); err != nil {
		t.Error(err)
	}
}

func poll(t *testing.T, what string, ok func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), generous)
	defer cancel()
	for !ok() {
		if !loop.Wait(ctx, 50*time.Millisecond, nil) {
			t.Fatalf("no %s within %v", what, generous)
		}
	}
}

func wantProblem(t *testing.T, err error, kind problem.Kind, field string) {
	t.Helper()
	p := new(problem.Problem)
	if !errors.As(err, &p) || p.Kind != kind || p.Field != field {
		t.Fatalf("error %v, want a problem of kind %v about %q", err, kind, field)
	}
}

// output keeps what the work prints.
type output struct {
	mu             sync.Mutex
	stdout, stderr bytes.Buffer
}

type stream struct {
	o  *output
	to *bytes.Buffer
}

func (s stream) Write(p []byte) (int, error) {
	s.o.mu.Lock()
	defer s.o.mu.Unlock()
	return s.to.Write(p)
}

func (o *output) Stdout() io.Writer     { return stream{o, &o.stdout} }
func (o *output) Stderr() io.Writer     { return stream{o, &o.stderr} }
func (o *output) Taken() (int64, int64) { return 0, 0 }
func (o *output) Alive()                {}

func (o *output) err() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.stderr.String()
}
