package testdb

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/testwait"
)

// PoolerVariable names the environment variable that puts PgBouncer in transaction mode
// between the tests of a process and their databases: every DB.URL leads through it,
// DB.Pool does not.
const PoolerVariable = "WEIR_TEST_POOLER"

// Pooled reports whether DB.URL leads through PgBouncer.
func Pooled() bool { return os.Getenv(PoolerVariable) != "" }

// Direct skips a test in a run through PgBouncer, for a reason that lies in PgBouncer.
func Direct(t testing.TB, reason string) {
	t.Helper()
	if Pooled() {
		t.Skip("not through PgBouncer: " + reason)
	}
}

// Bounce puts a real PgBouncer in front of a database and returns the URL that leads
// through it. settings are lines of its configuration. It ends with the test.
//
// Each PgBouncer has one database, which its configuration names, because one that serves
// any database crashes now and then under load (pgbouncer#826), and all tests behind it
// fail.
func Bounce(t testing.TB, address string, settings ...string) string {
	t.Helper()
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		program = "/usr/sbin/pgbouncer" // not on the path of every user
		if _, err = os.Stat(program); err != nil {
			if os.Getenv("CI") == "true" {
				t.Fatal("PgBouncer is not installed: apt-get install -y pgbouncer")
			}
			t.Skip("SKIPPED, NOT TESTED: PgBouncer is not installed: apt-get install -y pgbouncer")
		}
	}
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", prefix)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) }) // the system removes what is left
	b := &bouncer{file: filepath.Join(dir, "pgbouncer.ini")}
	t.Cleanup(b.stop)
	// Another process may take the port before PgBouncer does.
	for range 5 {
		if err = b.start(program, *u, settings); err == nil {
			u.Host = b.host
			return u.String()
		}
	}
	t.Fatal(err)
	return ""
}

// bouncer is a PgBouncer process. If it ends by itself it is started again, as a service
// manager does.
type bouncer struct {
	file, host string
	says       bytes.Buffer
	answered   atomic.Bool
	ended      chan struct{}

	mu       sync.Mutex
	cmd      *exec.Cmd
	stopping bool
}

// start starts PgBouncer on a free port, and waits until it answers.
func (b *bouncer) start(program string, u url.URL, settings []string) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	b.host = l.Addr().String()
	port := l.Addr().(*net.TCPAddr).Port
	if err := l.Close(); err != nil {
		return err
	}
	password, _ := u.User.Password()
	name := strings.TrimPrefix(u.Path, "/")
	config := fmt.Sprintf("[databases]\n%s = host=%s port=%s dbname=%s user=%s password=%s\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = %d\nunix_socket_dir =\nauth_type = any\n%s\n",
		name, u.Hostname(), u.Port(), name, u.User.Username(), password, port, strings.Join(settings, "\n"))
	if err := os.WriteFile(b.file, []byte(config), 0o600); err != nil {
		return err
	}
	if err := b.launch(program); err != nil {
		return err
	}
	b.ended = make(chan struct{})
	go b.supervise(program, b.ended)
	ctx, cancel := context.WithTimeout(context.Background(), testwait.Limit)
	defer cancel()
	u.Host = b.host
	for {
		conn, err := pgx.Connect(ctx, u.String())
		if err == nil {
			b.answered.Store(true)
			return conn.Close(ctx) // the connection was only a check
		}
		if !loop.Wait(ctx, 5*time.Millisecond, nil) {
			return fmt.Errorf("PgBouncer does not answer: %w", err)
		}
		select {
		case <-b.ended:
			return fmt.Errorf("PgBouncer ended: %s", &b.says)
		default:
		}
	}
}

// launch starts the process, unless it is to stop.
func (b *bouncer) launch(program string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.stopping {
		return context.Canceled
	}
	args := []string{b.file}
	if os.Geteuid() == 0 {
		args = []string{"-u", "nobody", b.file}
	}
	b.says.Reset()
	b.cmd = exec.Command(program, args...) // #nosec G204 -- found by the caller
	// The process does not inherit the output of the tests, because a reader of that
	// output waits until all its writers are gone, and PgBouncer stays when the test
	// process crashes.
	b.cmd.Stderr = &b.says
	return b.cmd.Start()
}

// supervise starts PgBouncer again when it ends after it has answered.
func (b *bouncer) supervise(program string, ended chan struct{}) {
	defer close(ended)
	for {
		err := b.cmd.Wait()
		b.mu.Lock()
		stopping := b.stopping
		b.mu.Unlock()
		if stopping || !b.answered.Load() {
			return
		}
		said := b.says.Bytes()
		fmt.Fprintf(os.Stderr, "testdb: PgBouncer ended by itself, and is started again: %v\n%s", err, said[max(0, len(said)-2000):])
		if b.launch(program) != nil {
			return
		}
	}
}

// stop ends PgBouncer.
func (b *bouncer) stop() {
	b.mu.Lock()
	b.stopping = true
	if b.cmd != nil && b.cmd.Process != nil {
		_ = b.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	}
	b.mu.Unlock()
	if b.ended != nil {
		<-b.ended
	}
}
