package redistest

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/weirhq/weir/internal/testwait"
)

// password is that of every server.
const password = "correct"

// Server is a private redis-server.
type Server struct {
	t       testing.TB
	dir     string
	port    int
	process *exec.Cmd
}

// New finds a place for a server and does not start it.
func New(t testing.TB) *Server {
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
	s := &Server{t: t, dir: t.TempDir(), port: l.Addr().(*net.TCPAddr).Port}
	t.Cleanup(s.Kill)
	return s
}

// URL is its address, with the password.
func (s *Server) URL() string { return s.URLWith(password) }

// URLWith is its address with another password.
func (s *Server) URLWith(password string) string {
	return fmt.Sprintf("redis://:%s@127.0.0.1:%d/0", password, s.port)
}

// Start starts it and waits until it answers.
func (s *Server) Start() {
	s.t.Helper()
	s.process = exec.Command("redis-server", "--port", fmt.Sprint(s.port), "--bind", "127.0.0.1", "--dir", s.dir, "--save", "", "--requirepass", password) // #nosec G204 -- a test starts its own server
	if err := s.process.Start(); err != nil {
		s.t.Fatal(err)
	}
	client := s.Client()
	defer client.Close()
	testwait.Until(s.t, "redis-server answers", func() bool { return client.Ping(s.t.Context()).Err() == nil })
}

// Kill ends it without a word, if it runs.
func (s *Server) Kill() {
	if s.process != nil {
		_ = s.process.Process.Kill()
		_ = s.process.Wait()
		s.process = nil
	}
}

// Client is a client of it, which the caller closes.
func (s *Server) Client() *redis.Client {
	options, err := redis.ParseURL(s.URL())
	if err != nil {
		s.t.Fatal(err)
	}
	return redis.NewClient(options)
}
