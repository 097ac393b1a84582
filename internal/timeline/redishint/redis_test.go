package redishint

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/weirhq/weir/internal/patience"
	"github.com/weirhq/weir/internal/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// server is a private redis-server with its own port and folder.
type server struct {
	t        *testing.T
	dir      string
	port     int
	password string
	process  *exec.Cmd
}

// newServer finds a place for a server and does not start it.
func newServer(t *testing.T) *server {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skipf("SKIPPED, nothing was tested: %v", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	s := &server{t: t, dir: t.TempDir(), port: l.Addr().(*net.TCPAddr).Port, password: "correct"}
	t.Cleanup(s.kill)
	return s
}

func (s *server) url() string { return s.urlWith(s.password) }

func (s *server) urlWith(password string) string {
	return fmt.Sprintf("redis://:%s@127.0.0.1:%d/0", password, s.port)
}

// start starts it and waits until it answers.
func (s *server) start() {
	s.t.Helper()
	s.process = exec.Command("redis-server", "--port", fmt.Sprint(s.port), "--bind", "127.0.0.1", "--dir", s.dir, "--save", "", "--requirepass", s.password) // #nosec G204 -- a test starts its own server
	if err := s.process.Start(); err != nil {
		s.t.Fatal(err)
	}
	client := s.client()
	defer client.Close()
	patience.Until(s.t, "redis-server answers", func() bool { return client.Ping(s.t.Context()).Err() == nil })
}

// kill ends it without a word, if it runs.
func (s *server) kill() {
	if s.process != nil {
		_ = s.process.Process.Kill()
		_ = s.process.Wait()
		s.process = nil
	}
}

func (s *server) client() *redis.Client {
	options, err := redis.ParseURL(s.url())
	if err != nil {
		s.t.Fatal(err)
	}
	return redis.NewClient(options)
}

// journal is a log that a test can read.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journal) log() *slog.Logger { return slog.New(slog.NewTextHandler(j, nil)) }

func (j *journal) count(part string) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return strings.Count(j.text.String(), part)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

// hinted waits for a hint.
func hinted(t *testing.T, b *Bus, what string) {
	t.Helper()
	select {
	case <-b.C():
	case <-time.After(patience.Limit):
		t.Fatalf("no hint: %s", what)
	}
}

// runBus runs a bus until the test ends.
func runBus(t *testing.T, url string, j *journal) *Bus {
	t.Helper()
	b, err := New(url, "", j.log())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var run sync.WaitGroup
	run.Go(func() { b.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		run.Wait()
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}
