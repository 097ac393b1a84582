package pg_test

import (
	"context"
	"errors"
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

	"github.com/weirhq/weir/internal/pg"
	"github.com/weirhq/weir/internal/testdb"
)

// throughPgBouncer puts PgBouncer in transaction mode before the database, with
// fewer connections than its clients, and returns the URL that leads through it.
func throughPgBouncer(t *testing.T, db *testdb.DB) string {
	t.Helper()
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		program = "/usr/sbin/pgbouncer" // not on the path of every user
		if _, err = os.Stat(program); err != nil {
			if os.Getenv("CI") == "true" {
				t.Fatal("pgbouncer is not installed: apt-get install -y pgbouncer")
			}
			t.Skip("SKIPPED, NOT TESTED: pgbouncer is not installed: apt-get install -y pgbouncer")
		}
	}
	target, err := url.Parse(db.URL)
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
	password, _ := target.User.Password()
	config := fmt.Sprintf("[databases]\n* = host=%s port=%s user=%s password=%s\n"+
		"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = %d\nunix_socket_dir =\n"+
		"auth_type = any\npool_mode = transaction\ndefault_pool_size = 4\nmax_client_conn = 100\n",
		target.Hostname(), target.Port(), target.User.Username(), password, port)
	file := filepath.Join(t.TempDir(), "pgbouncer.ini")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"-q", file}
	if os.Geteuid() == 0 {
		args = []string{"-q", "-u", "nobody", file}
	}
	cmd := exec.Command(program, args...)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait() // it ends by the signal
	})
	target.Host = fmt.Sprintf("127.0.0.1:%d", port)
	awaitConnect(t, target.String())
	return target.String()
}

func awaitConnect(t *testing.T, url string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	for {
		conn, err := pgx.Connect(ctx, url)
		if err == nil {
			_ = conn.Close(ctx)
			return
		}
		if ctx.Err() != nil {
			t.Fatalf("pgbouncer does not answer: %v", err)
		}
	}
}

func TestThroughPgBouncer(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	db := testdb.NewEmpty(t)
	url := throughPgBouncer(t, db)

	errs := make([]error, 10)
	var wait sync.WaitGroup
	for i := range errs {
		wait.Go(func() { _, errs[i] = pg.Migrate(ctx, url, base.fs()) })
	}
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	if n := get[int](t, db.Pool, `select count(*) from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())`); n != 0 {
		t.Errorf("%d advisory locks are left on PgBouncer's connections", n)
	}

	pool, err := pg.Open(ctx, url, pg.Options{Pooler: true, MaxConns: 12})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	for i := range 12 {
		wait.Go(func() {
			for range 50 {
				if err := pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
					var name string
					return tx.QueryRow(ctx, `select name from weir.thing where id = $1 and name <> $2`, 1+i%2, strings.Repeat("x", i)).Scan(&name)
				}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wait.Wait()
}
