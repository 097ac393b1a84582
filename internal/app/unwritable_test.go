//go:build linux

package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/pg"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/testdb"
	"github.com/weirhq/weir/internal/testwait"
)

// command runs a statement that takes no arguments.
func command(t *testing.T, db *testdb.DB, format string, args ...any) {
	t.Helper()
	sql := fmt.Sprintf(format, args...)
	if _, err := db.Pool.Exec(context.Background(), sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// smallDisk is a tablespace that some megabytes fill. It is asked for before the
// database that moves there, so that it goes away after it.
func smallDisk(t *testing.T, admin *testdb.DB) (space string) {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "weir-small-*") // the server is another user, and homes are closed to it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Remove(dir) }) // an empty folder in /tmp does no harm
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size=96m"); err != nil {
		t.Skipf("a disk that can be filled is needed, and only root may mount one: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	var data string
	if err := admin.Pool.QueryRow(t.Context(), `show data_directory`).Scan(&data); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(data)
	if err != nil {
		t.Fatal(err)
	}
	owner := info.Sys().(*syscall.Stat_t) // on Linux it is
	if err := os.Chown(dir, int(owner.Uid), int(owner.Gid)); err != nil {
		t.Fatal(err)
	}
	space = strings.ReplaceAll(filepath.Base(dir), "-", "_")
	command(t, admin, `create tablespace %s location '%s'`, space, dir)
	t.Cleanup(func() { command(t, admin, `drop tablespace %s`, space) })
	return space
}

// writeRefused is how the API refuses a write that the database does not take.
func writeRefused(t *testing.T, f *fort, token string) bool {
	t.Helper()
	got := f.askOnce(http.MethodPost, "/api/v1/tasks", bearer(token), object("service", "nobody", "params", map[string]string{"x": strings.Repeat("x", 20_000)}))
	if got.StatusCode == http.StatusCreated {
		return false
	}
	if got.StatusCode != http.StatusServiceUnavailable || got.Header.Get("Retry-After") == "" || !strings.Contains(got.body, `"unreachable"`) {
		t.Errorf("a write is refused with %d %v %s", got.StatusCode, got.Header, got.body)
	}
	return true
}

// readiness is the status of /readyz.
func (f *fort) readiness() int {
	f.t.Helper()
	status, _ := f.get("/readyz")
	return status
}

// While the disk of the database is full, writes are refused as something that
// passes, reads are answered and the server is not ready. When there is room again
// it is ready by itself.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	admin := testdb.NewEmpty(t)
	space := smallDisk(t, admin)
	db := testdb.New(t)
	name := db.Pool.Config().ConnConfig.Database
	db.Pool.Reset()
	testwait.Until(t, "nobody is connected", func() bool {
		var n int
		err := admin.Pool.QueryRow(t.Context(), `select count(*) from pg_stat_activity where datname = $1`, name).Scan(&n)
		return err == nil && n == 0
	})
	command(t, admin, `alter database %s set tablespace %s`, name, space)
	f := besiegeOn(t, db)
	user := f.add("olga", auth.Operator)
	token, _ := f.token(user.Name, "*:*")
	if writeRefused(t, f, token) || f.readiness() != http.StatusOK {
		t.Fatal("it does not work with room on the disk")
	}

	command(t, db, `create table public.ballast (x text); alter table public.ballast alter x set storage plain`)
	for size := 1000; size > 0; size /= 10 {
		for full := false; !full; {
			_, err := db.Pool.Exec(t.Context(), `insert into public.ballast select repeat('x', 7000) from generate_series(1, $1)`, size)
			if full = err != nil; full && !isState(err, "53100") {
				t.Fatal(err)
			}
		}
	}
	testwait.Until(t, "a write is refused", func() bool { return writeRefused(t, f, token) })
	testwait.Until(t, "the server is not ready", func() bool { return f.readiness() == http.StatusServiceUnavailable })
	testwait.Until(t, "the log says why", func() bool {
		f.readiness()
		return strings.Contains(f.log.String(), pg.ErrNoSpace.Error())
	})
	f.wants(http.StatusOK, http.MethodGet, "/api/v1/pools", bearer(token))

	command(t, db, `drop table public.ballast`)
	command(t, db, `checkpoint`) // the files of a dropped table go then at the latest
	testwait.Until(t, "the server is ready", func() bool { return f.readiness() == http.StatusOK })
	if writeRefused(t, f, token) {
		t.Error("there is room, and a write is refused")
	}
}

func isState(err error, code string) bool {
	state := new(pgconn.PgError)
	return errors.As(err, &state) && state.Code == code
}

// The same for a primary that somebody made read-only, as a failover does.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	admin := testdb.NewEmpty(t)
	f := besiege(t)
	user := f.add("olga", auth.Operator)
	token, _ := f.token(user.Name, "*:*")
	name := f.db.Pool.Config().ConnConfig.Database
	turn := func(state string) {
		t.Helper()
		command(t, admin, `alter database %s set default_transaction_read_only = %s`, name, state)
		command(t, admin, `select pg_terminate_backend(pid) from pg_stat_activity where datname = '%s'`, name)
	}
	turn("on")
	testwait.Until(t, "a write is refused", func() bool { return writeRefused(t, f, token) })
	testwait.Until(t, "the server is not ready", func() bool { return f.readiness() == http.StatusServiceUnavailable })
	turn("off")
	testwait.Until(t, "the server is ready", func() bool { return f.readiness() == http.StatusOK })
	testwait.Until(t, "a write is taken", func() bool { return !writeRefused(t, f, token) })
}

// Who loses a deadlock may try again.
func TestDeadlock(t *testing.T) {
	t.Parallel()
	db := testdb.New(t)
	var held [2]chan struct{}
	var ended [2]chan error
	for i := range held {
		held[i], ended[i] = make(chan struct{}), make(chan error, 1)
	}
	for i := range held {
		go func() {
			tx, err := db.Pool.Begin(t.Context())
			if err != nil {
				ended[i] <- err
				return
			}
			_, err = tx.Exec(t.Context(), `select pg_advisory_xact_lock($1)`, 1000+i)
			close(held[i])
			<-held[1-i]
			if err == nil {
				_, err = tx.Exec(t.Context(), `select pg_advisory_xact_lock($1)`, 1001-i)
			}
			_ = tx.Rollback(t.Context()) // the loser's is over
			ended[i] <- err
		}()
	}
	err := errors.Join(<-ended[0], <-ended[1])
	p, hidden := problem.Public(err)
	if !isState(err, "40P01") || p.Kind.Status() != http.StatusServiceUnavailable || p.Kind.RetryAfter() == 0 || !hidden {
		t.Errorf("%v is %+v", err, p)
	}
}
