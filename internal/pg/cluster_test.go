//go:build unix

package pg

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

func startCluster(t *testing.T, cfg Config) *Cluster {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	c, err := Start(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stopCluster(t, c) })
	return c
}

// quick is the configuration of a cluster whose durability does not matter.
func quick(t *testing.T) Config {
	return Config{Dir: t.TempDir(), Settings: map[string]string{"fsync": "off"}}
}

func stopCluster(t *testing.T, c *Cluster) {
	t.Helper()
	if err := c.Stop(context.Background()); err != nil {
		t.Error(err)
	}
}

// ask runs statements and returns the single text of the last.
func ask(t *testing.T, url string, statements ...string) (answer string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	for i, s := range statements {
		if i < len(statements)-1 {
			_, err = conn.Exec(ctx, s)
		} else {
			err = conn.QueryRow(ctx, s).Scan(&answer)
		}
		if err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	return answer
}

// abandon leaves the server running without an owner, as a kill -9 of Weir does where the
// kernel does not signal the children.
func abandon(t *testing.T, c *Cluster) {
	t.Helper()
	if err := unlockFolder(c.lock); err != nil {
		t.Fatal(err)
	}
}

func TestFreshStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := startCluster(t, Config{Dir: dir, Settings: map[string]string{"work_mem": "7MB", "weir.note": `it's a \ test`}})
	if c.Adopted() {
		t.Error("a fresh cluster counts as adopted")
	}
	for setting, want := range map[string]string{
		"fsync": "on", "data_checksums": "on", "server_encoding": "UTF8", "lc_collate": "C", "password_encryption": "scram-sha-256",
		"listen_addresses": "127.0.0.1", "port": strconv.Itoa(c.port), "work_mem": "7MB", "weir.note": `it's a \ test`, "TimeZone": "UTC",
	} {
		if setting == "lc_collate" {
			if got := ask(t, c.URL("postgres"), `select datcollate from pg_database where datname = current_database()`); got != want {
				t.Errorf("collation is %q, want %q", got, want)
			}
			continue
		}
		if got := ask(t, c.URL("postgres"), `select current_setting('`+setting+`')`); got != want {
			t.Errorf("%s is %q, want %q", setting, got, want)
		}
	}
	if !strings.HasPrefix(ask(t, c.URL("postgres"), `show server_version`), c.Version()) || c.Version() == "" {
		t.Errorf("version %q", c.Version())
	}
	if info, err := os.Stat(filepath.Join(dir, "postgres/password")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("password file: %v, %v", info.Mode(), err)
	}
	wrong := strings.Replace(c.URL("postgres"), c.password, "guess", 1)
	if _, err := pgx.Connect(context.Background(), wrong); err == nil || !strings.Contains(err.Error(), "28P01") {
		t.Errorf("a wrong password got %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "postgres/pwfile")); len(left) > 0 {
		t.Error("initdb's copy of the password is still there")
	}
	for range 2 {
		if err := c.EnsureDatabase(context.Background(), "weir"); err != nil {
			t.Error(err)
		}
	}
	if got := ask(t, c.URL("weir"), `select current_database()::text`); got != "weir" {
		t.Errorf("connected to %s", got)
	}
}

func TestRestartKeepsDataAndPort(t *testing.T) {
	t.Parallel()
	cfg := Config{Dir: t.TempDir()}
	c := startCluster(t, cfg)
	ask(t, c.URL("postgres"), `create table kept (x text)`, `insert into kept values ('here') returning x`)
	url := c.URL("postgres")
	stopCluster(t, c)
	stopCluster(t, c) // stopping twice does nothing
	if alive(c.Pid()) {
		t.Fatal("the server runs on after Stop")
	}
	c = startCluster(t, cfg)
	if c.URL("postgres") != url {
		t.Errorf("the address moved from %s to %s", url, c.URL("postgres"))
	}
	if got := ask(t, c.URL("postgres"), `select x from kept`); got != "here" {
		t.Errorf("got %q", got)
	}
}

func TestServerProcess(t *testing.T) {
	t.Parallel()
	c := startCluster(t, quick(t))
	group, err := syscall.Getpgid(c.Pid())
	if err != nil {
		t.Fatal(err)
	}
	if group == syscall.Getpgrp() {
		t.Error("the server is in our process group: Ctrl-C would stop it before Weir")
	}
	if os.Geteuid() != 0 {
		t.Log("not root: the server's user is ours")
		return
	}
	info, err := os.Stat(fmt.Sprintf("/proc/%d", c.Pid()))
	if err != nil {
		t.Skip("SKIPPED, NOT TESTED: no /proc here")
	}
	if uid := info.Sys().(*syscall.Stat_t).Uid; uid == 0 {
		t.Error("the server runs as root")
	}
	environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", c.Pid()))
	if err != nil || bytes.Contains(environ, []byte("HOME=")) {
		t.Errorf("the server has our environment: %q, %v", environ, err)
	}
}

func TestRootNeedsAFolderTheServerCanEnter(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root starts the server as another user")
	}
	private := t.TempDir()
	t.Setenv("TMPDIR", t.TempDir()) // so that private is not below the temporary folder
	if err := os.Chmod(private, 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := Start(context.Background(), Config{Dir: filepath.Join(private, "weir")})
	if err == nil || !strings.Contains(err.Error(), "chmod o+x "+private) {
		t.Errorf("got %v", err)
	}
	if info, _ := os.Stat(private); info.Mode().Perm() != 0o700 {
		t.Error("Start opened a folder that is not its own")
	}
}

func TestSecondStartIsRefused(t *testing.T) {
	t.Parallel()
	cfg := quick(t)
	c := startCluster(t, cfg)
	_, err := Start(context.Background(), cfg)
	if !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), strconv.Itoa(os.Getpid())) {
		t.Errorf("got %v, want ErrInUse with pid %d", err, os.Getpid())
	}
	if got := ask(t, c.URL("postgres"), `select 'fine'`); got != "fine" {
		t.Errorf("the first cluster answers %q", got)
	}
}

func TestAdoptsItsOwnServer(t *testing.T) {
	t.Parallel()
	cfg := quick(t)
	orphan := startCluster(t, cfg)
	ask(t, orphan.URL("postgres"), `create table kept (x text)`, `insert into kept values ('here') returning x`)
	abandon(t, orphan)

	c := startCluster(t, cfg)
	if !c.Adopted() || c.Pid() != orphan.Pid() || c.Version() == "" {
		t.Errorf("adopted = %v, pid %d, orphan's pid %d, version %q", c.Adopted(), c.Pid(), orphan.Pid(), c.Version())
	}
	if got := ask(t, c.URL("postgres"), `select x from kept`); got != "here" {
		t.Errorf("got %q", got)
	}
	stopCluster(t, c)
	if alive(orphan.Pid()) {
		t.Error("the adopted server runs on after Stop")
	}
}

func TestAdoptedServerMovesToTheExplicitPort(t *testing.T) {
	t.Parallel()
	cfg := quick(t)
	orphan := startCluster(t, cfg)
	abandon(t, orphan)
	cfg.Port = freePort(t)
	c := startCluster(t, cfg)
	if c.Adopted() || ask(t, c.URL("postgres"), `show port`) != strconv.Itoa(cfg.Port) {
		t.Errorf("adopted = %v, address %s", c.Adopted(), c.URL("postgres"))
	}
}

func TestServerThatRefusesOurPasswordIsLeftAlone(t *testing.T) {
	t.Parallel()
	cfg := quick(t)
	theirs := startCluster(t, cfg)
	abandon(t, theirs)
	if err := os.WriteFile(theirs.path("password"), []byte("another\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Start(context.Background(), cfg)
	if !errors.Is(err, errNotOurs) || !strings.Contains(err.Error(), strconv.Itoa(theirs.Pid())) {
		t.Errorf("got %v", err)
	}
	if got := ask(t, theirs.URL("postgres"), `select 'alive'`); got != "alive" {
		t.Errorf("it answers %q", got)
	}
}

func TestForeignClusterIsNeverTouched(t *testing.T) {
	t.Parallel()
	foreign := startCluster(t, quick(t))
	cfg := quick(t)
	c := startCluster(t, cfg)
	ask(t, c.URL("postgres"), `create table kept (x text)`, `insert into kept values ('ours') returning x`)
	stopCluster(t, c)

	// Our folder points at the foreign server by pid and by port, as after a reboot that
	// gave our old pid and port to another program.
	text, err := os.ReadFile(filepath.Join(foreign.data(), "postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	pidFile := filepath.Join(c.data(), "postmaster.pid")
	if err := errors.Join(os.WriteFile(pidFile, text, 0o600), c.account.own(pidFile),
		os.WriteFile(c.path("port"), []byte(strconv.Itoa(foreign.port)), 0o600)); err != nil {
		t.Fatal(err)
	}
	c = startCluster(t, cfg)
	if c.Adopted() || c.Pid() == foreign.Pid() || c.port == foreign.port {
		t.Errorf("adopted = %v, pid %d, port %d; the foreign one has pid %d, port %d", c.Adopted(), c.Pid(), c.port, foreign.Pid(), foreign.port)
	}
	if got := ask(t, c.URL("postgres"), `select x from kept`); got != "ours" {
		t.Errorf("got %q", got)
	}
	stopCluster(t, c)
	if got := ask(t, foreign.URL("postgres"), `select 'alive'`); got != "alive" {
		t.Errorf("the foreign cluster answers %q", got)
	}
}

// TestServerKilled is about the stale postmaster.pid: the server died by kill -9, and its
// children may live for another moment.
func TestServerKilled(t *testing.T) {
	t.Parallel()
	cfg := Config{Dir: t.TempDir()}
	c := startCluster(t, cfg)
	ask(t, c.URL("postgres"), `create table kept (x text)`, `insert into kept values ('here') returning x`)
	for range 3 {
		if err := syscall.Kill(c.Pid(), syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		<-c.Done()
		stopCluster(t, c)
		c = startCluster(t, cfg)
		if c.Adopted() {
			t.Error("a dead server was adopted")
		}
		if got := ask(t, c.URL("postgres"), `select x from kept`); got != "here" {
			t.Errorf("got %q", got)
		}
	}
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

func TestOccupiedPort(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	taken := l.Addr().(*net.TCPAddr).Port

	cfg := quick(t)
	c := startCluster(t, cfg)
	stopCluster(t, c)
	if err := os.WriteFile(c.path("port"), []byte(strconv.Itoa(taken)), 0o600); err != nil {
		t.Fatal(err)
	}
	c = startCluster(t, cfg)
	if c.port == taken {
		t.Error("it claims a port that is taken")
	}
	stopCluster(t, c)

	cfg.Port = taken
	if _, err := Start(context.Background(), cfg); err == nil || !strings.Contains(err.Error(), strconv.Itoa(taken)) {
		t.Errorf("an explicit port that is taken: %v", err)
	}
}

func TestWrongMajorVersionIsRefused(t *testing.T) {
	t.Parallel()
	cfg := quick(t)
	c := startCluster(t, cfg)
	stopCluster(t, c)
	version := filepath.Join(c.data(), "PG_VERSION")
	if err := os.WriteFile(version, []byte("14\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	before := listing(t, c.data())
	_, err := Start(context.Background(), cfg)
	if !errors.Is(err, ErrMajorVersion) || !strings.Contains(err.Error(), "pg_upgrade") {
		t.Errorf("got %v", err)
	}
	if after := listing(t, c.data()); after != before {
		t.Errorf("the data folder was changed:\n%s\n%s", before, after)
	}
}

// listing returns every file of a folder with its size and time of change.
func listing(t *testing.T, dir string) string {
	t.Helper()
	var text strings.Builder
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil {
			fmt.Fprintln(&text, path, info.Size(), info.ModTime().UnixNano())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return text.String()
}

func TestFailedStartShowsTheLogAndLeavesNothing(t *testing.T) {
	t.Parallel()
	cfg := quick(t)
	cfg.Settings["shared_buffers"] = "lots"
	_, err := Start(context.Background(), cfg)
	if err == nil || !strings.Contains(err.Error(), `invalid value for parameter "shared_buffers": "lots"`) {
		t.Errorf("got %v", err)
	}
	cfg.Settings = map[string]string{"a b": "c"}
	if _, err := Start(context.Background(), cfg); err == nil || !strings.Contains(err.Error(), `"a b"`) {
		t.Errorf("got %v", err)
	}
	cfg.Settings = nil
	startCluster(t, cfg) // the folder is free and intact
}

func TestStartGivesUpWithItsContext(t *testing.T) {
	t.Parallel()
	cfg := quick(t)
	c := startCluster(t, cfg)
	stopCluster(t, c)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Start(ctx, cfg); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(filepath.Join(c.data(), "postmaster.pid")); err == nil {
		t.Error("a server is left behind")
	}
}

func TestMissingPasswordIsExplained(t *testing.T) {
	t.Parallel()
	cfg := quick(t)
	c := startCluster(t, cfg)
	stopCluster(t, c)
	if err := os.Remove(c.path("password")); err != nil {
		t.Fatal(err)
	}
	if _, err := Start(context.Background(), cfg); err == nil || !strings.Contains(err.Error(), "password is missing") {
		t.Errorf("got %v", err)
	}
}

func TestLongFolderName(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), strings.Repeat("long", 30))
	c := startCluster(t, Config{Dir: dir, Settings: map[string]string{"fsync": "off"}})
	if strings.HasPrefix(c.sockets, dir) {
		t.Errorf("the sockets are in %s", c.sockets)
	}
	if got := ask(t, c.URL("postgres"), `show unix_socket_directories`); got != c.sockets {
		t.Errorf("the server has %s, we think %s", got, c.sockets)
	}
	stopCluster(t, c)
	if _, err := os.Stat(c.sockets); err == nil {
		t.Error("the socket folder is left behind")
	}
}
