package dockertest

import (
	"context"
	"crypto/rand"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/moby/moby/client"

	"github.com/weirhq/weir/internal/loop"
)

//go:embed guard.sh
var guardScript string

// upOrDown is the timeout for the start or the stop of an engine.
const upOrDown = 90 * time.Second

// Engine is a private Docker engine.
type Engine struct {
	// Host is the engine's address, as in DOCKER_HOST.
	Host string

	dir, cgroup, storage string

	guard *exec.Cmd
	// pipe is the guard's input: closing it ends everything.
	pipe io.Closer

	mu     sync.Mutex
	daemon *exec.Cmd
	exited chan struct{}
}

// launch starts an engine in a new folder. Its second choice is the storage driver that
// copies, which works everywhere.
func launch(ctx context.Context) (*Engine, error) {
	e, err := launchWith(ctx, "overlay2")
	if err != nil && ctx.Err() == nil {
		second, again := launchWith(ctx, "vfs")
		if again == nil {
			return second, nil
		}
		err = errors.Join(err, again)
	}
	return e, err
}

func launchWith(ctx context.Context, storage string) (*Engine, error) {
	dir, err := os.MkdirTemp("", "weir-dockertest-")
	if err != nil {
		return nil, err
	}
	e := &Engine{
		Host:    "unix://" + filepath.Join(dir, "docker.sock"),
		dir:     dir,
		cgroup:  "weir-dockertest-" + strings.ToLower(rand.Text()),
		storage: storage,
	}
	// #nosec G204 -- our own script, with a folder and a name that we made
	e.guard = exec.Command("sh", "-c", guardScript, "guard", e.dir, e.cgroup)
	// A signal for the test process (Ctrl-C) is not meant for the guard.
	e.guard.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if e.pipe, err = e.guard.StdinPipe(); err != nil {
		return nil, err
	}
	if err := e.guard.Start(); err != nil {
		return nil, fmt.Errorf("start the guard of the engine: %w", err)
	}
	if err := e.up(ctx); err != nil {
		return nil, errors.Join(err, e.stop())
	}
	return e, nil
}

// up starts dockerd and waits until it answers.
func (e *Engine) up(ctx context.Context) error {
	bin, err := find("dockerd")
	if err != nil {
		return err
	}
	log, err := os.OpenFile(filepath.Join(e.dir, "dockerd.log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	// The pid file of a killed engine would keep the next one from starting.
	_ = os.Remove(filepath.Join(e.dir, "dockerd.pid"))
	// #nosec G204 -- the engine of the machine, with flags of our own
	cmd := exec.Command(bin,
		"--config-file", filepath.Join(e.dir, "none.json"),
		"--data-root", filepath.Join(e.dir, "data"),
		"--exec-root", filepath.Join(e.dir, "exec"),
		"--pidfile", filepath.Join(e.dir, "dockerd.pid"),
		"--host", e.Host,
		"--storage-driver", e.storage,
		"--cgroup-parent", "/"+e.cgroup,
		"--exec-opt", "native.cgroupdriver=cgroupfs",
		"--bridge", "none", "--iptables=false", "--ip6tables=false",
		"--shutdown-timeout", "5",
	)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Env = append(os.Environ(), "PATH="+os.Getenv("PATH")+":/usr/sbin:/sbin:/usr/bin:/bin")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := os.WriteFile(filepath.Join(e.dir, "none.json"), []byte("{}"), 0o600); err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start dockerd: %w", err)
	}
	exited := make(chan struct{})
	go func() {
		defer close(exited)
		_ = cmd.Wait() // the log says why
	}()
	e.mu.Lock()
	e.daemon, e.exited = cmd, exited
	e.mu.Unlock()

	ctx, cancel := context.WithTimeout(ctx, upOrDown)
	defer cancel()
	for !e.answers(ctx) {
		select {
		case <-exited:
			return fmt.Errorf("dockerd (storage driver %s) ended at once: %s", e.storage, e.complaint())
		default:
		}
		if !loop.Wait(ctx, 50*time.Millisecond, nil) {
			return fmt.Errorf("dockerd (storage driver %s) does not answer: %s", e.storage, e.complaint())
		}
	}
	return nil
}

// answers reports whether the engine accepts requests.
func (e *Engine) answers(ctx context.Context) bool {
	cli, err := client.New(client.WithHost(e.Host))
	if err != nil {
		return false
	}
	defer cli.Close()
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	_, err = cli.Ping(ctx, client.PingOptions{})
	return err == nil
}

// complaint returns the end of the engine's log.
func (e *Engine) complaint() string {
	data, err := os.ReadFile(filepath.Join(e.dir, "dockerd.log"))
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	return strings.Join(lines[max(0, len(lines)-5):], "\n")
}

// stop ends the engine and everything in it, and removes its folder.
func (e *Engine) stop() error {
	_ = e.pipe.Close() // the guard does the rest
	done := make(chan error, 1)
	go func() { done <- e.guard.Wait() }()
	ctx, cancel := context.WithTimeout(context.Background(), upOrDown)
	defer cancel()
	select {
	case <-done:
	case <-ctx.Done():
		return fmt.Errorf("the guard of the engine in %s does not end", e.dir)
	}
	e.mu.Lock()
	exited := e.exited
	e.mu.Unlock()
	if exited != nil {
		<-exited
	}
	if _, err := os.Stat(e.dir); err == nil {
		return fmt.Errorf("the engine left its folder %s behind", e.dir)
	}
	return nil
}

// Freeze makes dockerd hang, and Thaw ends that.
func (e *Engine) Freeze(t testing.TB) {
	t.Helper()
	e.signal(t, syscall.SIGSTOP)
	ctx, cancel := context.WithTimeout(context.Background(), upOrDown)
	defer cancel()
	// The threads stop one after the other, and one could still answer.
	for !e.frozen(t) {
		if !loop.Wait(ctx, 5*time.Millisecond, nil) {
			t.Fatal("dockerd does not freeze")
		}
	}
}

func (e *Engine) frozen(t testing.TB) bool {
	t.Helper()
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", e.daemon.Process.Pid))
	if err != nil || len(threads) == 0 {
		t.Fatalf("look at the threads of dockerd: %v", err)
	}
	for _, path := range threads {
		text, err := os.ReadFile(path) // #nosec G304 -- of a process of ours
		if err == nil && !strings.Contains(string(text), ") T ") {
			return false
		}
	}
	return true
}

// Thaw lets dockerd continue.
func (e *Engine) Thaw(t testing.TB) {
	t.Helper()
	e.signal(t, syscall.SIGCONT)
}

func (e *Engine) signal(t testing.TB, sig syscall.Signal) {
	t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.daemon.Process.Signal(sig); err != nil {
		t.Fatalf("signal %v to dockerd: %v", sig, err)
	}
}

// Kill kills dockerd at once. Its containers keep running. Its containerd is killed too,
// because an orphaned containerd would keep the next dockerd from starting.
func (e *Engine) Kill(t testing.TB) {
	t.Helper()
	e.signal(t, syscall.SIGKILL)
	e.awaitExit(t)
	dir := filepath.Join(e.dir, "exec", "containerd")
	text, err := os.ReadFile(filepath.Join(dir, "containerd.pid")) // #nosec G304 -- of a process of ours
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	// The pid may belong to another process by now.
	proc := filepath.Join("/proc", strconv.Itoa(pid))
	line, err := os.ReadFile(filepath.Join(proc, "cmdline")) // #nosec G304 -- of a process of ours
	if err == nil && strings.Contains(string(line), dir) {
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may have gone with its parent
	}
	for _, name := range []string{"containerd.pid", "containerd.sock", "containerd.sock.ttrpc"} {
		_ = os.Remove(filepath.Join(dir, name)) // the next one makes its own
	}
}

// Down stops dockerd in an orderly way, which stops its containers.
func (e *Engine) Down(t testing.TB) {
	t.Helper()
	e.signal(t, syscall.SIGTERM)
	e.awaitExit(t)
}

func (e *Engine) awaitExit(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), upOrDown)
	defer cancel()
	select {
	case <-e.exited:
	case <-ctx.Done():
		t.Fatal("dockerd does not end")
	}
}

// Up starts dockerd again, with its previous data.
func (e *Engine) Up(t testing.TB) {
	t.Helper()
	if err := e.up(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// find also looks where Debian puts system programs.
func find(name string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	for _, dir := range []string{"/usr/sbin", "/usr/local/sbin", "/sbin"} {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	return "", fmt.Errorf("there is no %s on this machine: install Debian's docker.io (scripts/setup-test does)", name)
}

// possible returns why no engine can run here, before one is tried.
func possible() error {
	if _, err := find("dockerd"); err != nil {
		return err
	}
	if uid := os.Geteuid(); uid != 0 {
		return errors.New("a private dockerd needs root, this is user " + strconv.Itoa(uid))
	}
	return nil
}
