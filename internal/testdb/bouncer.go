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
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// PoolerVariable names the environment variable that puts PgBouncer in transaction
// mode between the tests of a process and their databases: every DB.URL leads
// through it, DB.Pool does not.
const PoolerVariable = "WEIR_TEST_POOLER"

// Pooled reports whether DB.URL leads through PgBouncer.
func Pooled() bool { return os.Getenv(PoolerVariable) != "" }

// Direct skips a test in a run through PgBouncer, for a reason that is PgBouncer's.
func Direct(t testing.TB, reason string) {
	t.Helper()
	if Pooled() {
		t.Skip("not through PgBouncer: " + reason)
	}
}

// bouncer is the PgBouncer of this process, started by the first test that wants
// one and stopped by Main.
var bouncer struct {
	sync.Mutex
	host string
	stop func()
}

// throughPooler is an address by way of the PgBouncer of this process.
func throughPooler(t testing.TB, address string) string {
	t.Helper()
	bouncer.Lock()
	defer bouncer.Unlock()
	if bouncer.host == "" {
		dir, err := os.MkdirTemp("", prefix)
		if err != nil {
			t.Fatal(err)
		}
		through, stop := bounce(t, dir, address, "pool_mode = transaction", "default_pool_size = 10", "max_client_conn = 2000")
		u, err := url.Parse(through)
		if err != nil {
			t.Fatal(err)
		}
		bouncer.host, bouncer.stop = u.Host, func() {
			stop()
			_ = os.RemoveAll(dir) // the system sweeps what is left
		}
	}
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	u.Host = bouncer.host
	return u.String()
}

// Bounce puts a real PgBouncer before a database and returns the URL that leads
// through it. Settings are lines of its configuration. It ends with the test.
func Bounce(t testing.TB, address string, settings ...string) string {
	t.Helper()
	through, stop := bounce(t, t.TempDir(), address, settings...)
	t.Cleanup(stop)
	return through
}

func bounce(t testing.TB, dir, address string, settings ...string) (through string, stop func()) {
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
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	password, _ := u.User.Password()
	config := fmt.Sprintf("[databases]\n* = host=%s port=%s user=%s password=%s\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = %d\nunix_socket_dir =\nauth_type = any\n%s\n",
		u.Hostname(), u.Port(), u.User.Username(), password, port, strings.Join(settings, "\n"))
	file := filepath.Join(dir, "pgbouncer.ini")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"-q", file}
	if os.Geteuid() == 0 {
		args = []string{"-q", "-u", "nobody", file}
	}
	cmd := exec.Command(program, args...) // #nosec G204 -- found above
	// Not our own output: whoever reads that waits until all who have it are gone, and
	// this one stays when the process of the tests crashes.
	var says bytes.Buffer
	cmd.Stderr = &says
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stop = func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait() // it ends by the signal
	}
	u.Host = fmt.Sprintf("127.0.0.1:%d", port)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		conn, err := pgx.Connect(ctx, u.String())
		if err == nil {
			_ = conn.Close(ctx) // it was only to see
			return u.String(), stop
		}
		if ctx.Err() != nil {
			stop()
			t.Fatalf("PgBouncer does not answer: %v\n%s", err, &says)
		}
	}
}
