//go:build unix

package pg

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// logLimit is the size at which a start moves the log aside.
const logLimit = 16 << 20

// errNotOurs means that the server that answers is not the one of this folder.
var errNotOurs = errors.New("the server that answers is not the one of this folder")

// launch runs the server and waits until it answers. Two failures pass by themselves and
// are retried: a port that another program took in the meantime, and the last processes
// of a server that was killed and still hold its memory.
func (c *Cluster) launch(ctx context.Context, bin binaries) error {
	if err := c.writeConf(bin); err != nil {
		return err
	}
	// A killed process that waits for the disk ends when the disk has answered, and one
	// that has just started may wait for its client for the minute that it has to log in.
	began, told := time.Now(), time.Now()
	patience := began.Add(2*time.Minute + 30*time.Second)
	for avoid := 0; ; avoid = c.port {
		if err := c.choosePort(avoid); err != nil {
			return err
		}
		said, err := c.run(ctx, bin)
		if err == nil {
			return os.WriteFile(c.path("port"), []byte(strconv.Itoa(c.port)+"\n"), 0o600)
		}
		portTaken := strings.Contains(said, "could not create any TCP/IP sockets")
		oldServer := strings.Contains(said, "pre-existing shared memory block") || strings.Contains(said, "lock file \"postmaster.pid\" already exists")
		switch {
		case ctx.Err() != nil || time.Now().After(patience):
			return err
		case portTaken && c.cfg.Port == 0:
		case oldServer:
			c.port = 0 // the port is fine and need not be avoided
			if time.Since(told) > 10*time.Second {
				told = time.Now()
				c.log.Info("processes of an earlier PostgreSQL still hold its memory: waiting for them", "since", time.Since(began).Round(time.Second))
			}
			if !pause(ctx, 100*time.Millisecond) {
				return err
			}
		default:
			return err
		}
	}
}

// choosePort chooses the configured port, or the one used last, or any free one, but not
// the one to avoid.
func (c *Cluster) choosePort(avoid int) error {
	if c.cfg.Port != 0 {
		c.port = c.cfg.Port
		if !free(c.port) {
			return fmt.Errorf("port %d of 127.0.0.1 is taken by another program: stop it, or let Weir choose a port", c.port)
		}
		return nil
	}
	text, _ := os.ReadFile(c.path("port")) // missing or broken: choose
	if port, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && port != avoid && free(port) {
		c.port = port
		return nil
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	c.port = l.Addr().(*net.TCPAddr).Port
	return l.Close()
}

func free(port int) bool {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	return err == nil && l.Close() == nil
}

// run starts one server process on c.port. On failure no process is left and the first
// result is what the server logged.
func (c *Cluster) run(ctx context.Context, bin binaries) (said string, err error) {
	if c.sockets, err = c.socketFolder(); err != nil {
		return "", err
	}
	log, err := c.openLog()
	if err != nil {
		return "", err
	}
	defer log.Close()
	from, err := log.Seek(0, 2)
	if err != nil {
		return "", err
	}
	cmd := exec.Command(bin.path("postgres"), "-D", c.data(),
		"-c", "port="+strconv.Itoa(c.port),
		"-c", "listen_addresses=127.0.0.1",
		"-c", "unix_socket_directories="+c.sockets,
		"-c", "unix_socket_permissions=0700",
		"-c", "logging_collector=off", "-c", "log_destination=stderr")
	cmd.Dir, cmd.Env, cmd.SysProcAttr = c.home, serverEnv(), c.account.attributes()
	cmd.Stdout, cmd.Stderr = log, log
	dieWithParent(cmd.SysProcAttr)
	if c.process, err = spawn(cmd); err != nil {
		return "", fmt.Errorf("run %s: %w", cmd.Path, err)
	}
	if err = c.await(ctx, 0); err == nil {
		return "", nil
	}
	err = errors.Join(err, c.process.stop(context.WithoutCancel(ctx)))
	said = tail(c.path("server.log"), from)
	return said, fmt.Errorf("%w. The end of its log (%s):\n%s", err, c.path("server.log"), said)
}

// socketFolder returns run/ in our folder, or, if the socket's name would be too long for
// the system there, a short folder of our own.
func (c *Cluster) socketFolder() (string, error) {
	limit := 107
	if runtime.GOOS != "linux" {
		limit = 103
	}
	dir := c.path("run")
	if len(filepath.Join(dir, ".s.PGSQL.65535.lock")) <= limit {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return "", err
		}
		return dir, c.account.own(dir)
	}
	dir, err := os.MkdirTemp("", "weir-")
	if err != nil {
		return "", err
	}
	return dir, c.account.own(dir)
}

func (c *Cluster) openLog() (*os.File, error) {
	path := c.path("server.log")
	if info, err := os.Stat(path); err == nil && info.Size() > logLimit {
		if err := os.Rename(path, path+".old"); err != nil {
			return nil, err
		}
	}
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
}

// await waits until the process answers as ours, has ended, or ctx ends. With patience >
// 0 it also stops waiting for a process that gives no answer for that long.
func (c *Cluster) await(ctx context.Context, patience time.Duration) error {
	began, answered, told := time.Now(), time.Now(), time.Now()
	for wait := 5 * time.Millisecond; ; wait = min(2*wait, 100*time.Millisecond) {
		err := c.probe(ctx)
		if errors.As(err, new(*pgconn.PgError)) {
			answered = time.Now()
		}
		switch {
		case err == nil || errors.Is(err, errNotOurs):
			return err
		case c.process.ended():
			return errors.New("the server did not start")
		case patience > 0 && time.Since(answered) > patience:
			return fmt.Errorf("it does not answer on port %d: %w", c.port, err)
		case time.Since(told) > 10*time.Second:
			told = time.Now()
			c.log.Info("PostgreSQL is still starting", "since", time.Since(began).Round(time.Second), "answer", err)
		}
		if !pause(ctx, wait) {
			return fmt.Errorf("wait for the server to answer: %w (last answer: %w)", ctx.Err(), err)
		}
	}
}

// probe asks the server on c.port for its identity. Nil means ours and ready, and
// errNotOurs means a foreign server; every other error may pass.
func (c *Cluster) probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, c.URL("postgres"))
	if err != nil {
		if refused := new(pgconn.PgError); errors.As(err, &refused) && strings.HasPrefix(refused.Code, "28") {
			return fmt.Errorf("%w: it refuses our password", errNotOurs)
		}
		return err
	}
	defer conn.Close(ctx)
	var data, version string
	if err := conn.QueryRow(ctx, `select current_setting('data_directory'), current_setting('server_version')`).Scan(&data, &version); err != nil {
		return err
	}
	theirs, err := os.Stat(data)
	if err != nil {
		return fmt.Errorf("%w: it serves %s", errNotOurs, data)
	}
	ours, err := os.Stat(c.data())
	if err != nil || !os.SameFile(theirs, ours) {
		return fmt.Errorf("%w: it serves %s", errNotOurs, data)
	}
	c.version, _, _ = strings.Cut(version, " ")
	return nil
}

// tail returns the end of a log, reading no further back than from.
func tail(path string, from int64) string {
	f, err := os.Open(path)
	if err != nil {
		return err.Error()
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err.Error()
	}
	text := make([]byte, min(info.Size()-from, 8<<10))
	n, _ := f.ReadAt(text, info.Size()-int64(len(text))) // short reads show less
	return lastLines(string(text[:n]), 15)
}

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
