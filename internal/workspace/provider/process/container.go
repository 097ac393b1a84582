package process

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/workspace/provider"
)

func (p *Provider) used(id weir.ID) (bool, error) {
	run, err := readRun(p.run(id, ".lock"))
	return run != nil, err
}

// unused is an error while a process uses the volume.
func (p *Provider) unused(id weir.ID) error {
	used, err := p.used(id)
	if used {
		return provider.ErrInUse
	}
	return err
}

// Image refuses every image.
func (p *Provider) Image(asked string) error {
	if asked != "" {
		return fmt.Errorf("%w: a process runs the built-in workspace and no other", provider.ErrImage)
	}
	return nil
}

// Start starts the process, unless it lives.
func (p *Provider) Start(ctx context.Context, s provider.Spec) error {
	if err := p.alone(ctx, s.ID, func() error { return p.start(s) }); err != nil {
		return fmt.Errorf("start: %w", err)
	}
	return ctx.Err()
}

func (p *Provider) start(s provider.Spec) error {
	if err := p.Image(s.Image); err != nil {
		return err
	}
	v, err := p.state(s.ID)
	switch {
	case err != nil:
		return err
	case v.Marker == "":
		return provider.ErrNoVolume
	case s.Mounts < v.Mounts, s.Mounts == v.Mounts && v.Over:
		return provider.ErrStale
	}
	if used, err := p.used(s.ID); err != nil || used {
		return err
	}
	v.Mounts, v.Over = s.Mounts, false
	if err := p.setState(s.ID, v); err != nil { // noted before it happens
		return err
	}
	lock, err := p.newLock(s.ID)
	if err != nil {
		return err
	}
	defer lock.Close()
	return p.spawn(s, lock)
}

// newLock puts a lock in place that is held already, with the name of its workspace in it.
func (p *Provider) newLock(id weir.ID) (*os.File, error) {
	f, err := os.CreateTemp(filepath.Join(p.config.Dir, "run"), ".new-*")
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		err = Run{ID: id, Since: time.Now().UTC()}.write(f)
	}
	if err == nil {
		err = os.Rename(f.Name(), p.run(id, ".lock"))
	}
	if err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	return f, nil
}

// logMost is how long a log may be when another start adds to it.
const logMost = 8 << 20

// spawn starts the process and hands it the lock, so that there is no moment at which it
// lives and nobody can see that.
func (p *Provider) spawn(s provider.Spec, lock *os.File) error {
	how := os.O_WRONLY | os.O_CREATE | os.O_APPEND
	if info, err := os.Stat(p.log(s.ID)); err == nil && info.Size() > logMost {
		how |= os.O_TRUNC
	}
	log, err := os.OpenFile(p.log(s.ID), how, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	args := append(append([]string{}, p.config.Args...), "--id", s.ID.String(), "--home", p.volume(s.ID, "data"), "--lock", p.run(s.ID, ".lock"), "--socket", p.run(s.ID, ".sock"))
	cmd := exec.Command(p.config.Program, args...) // #nosec G204 -- our own program
	cmd.Dir, cmd.Stdout, cmd.Stderr = p.volume(s.ID, "data"), log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.ExtraFiles = []*os.File{lock} // the first of them is number 3
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "TERM=xterm-256color",
		"HOME=" + p.volume(s.ID, "data"), "WEIR_WORKSPACE=" + s.Name, p.mark(s.ID),
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { _ = cmd.Wait() }() // so that it does not stay as a zombie; how it ends, the next look sees
	return nil
}

// mark is in the environment of a workspace and of all that it starts.
func (p *Provider) mark(id weir.ID) string { return "WEIR_LOCK=" + p.run(id, ".lock") }

// Stop ends the process and everything that it has started.
func (p *Provider) Stop(ctx context.Context, id weir.ID) error {
	// First nobody starts it again who meant this start.
	if err := p.alone(ctx, id, func() error { return p.retire(id) }); err != nil {
		return fmt.Errorf("stop: %w", err)
	}
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		over, err := p.end(ctx, id, signal)
		if err != nil {
			return fmt.Errorf("stop: %w", err)
		}
		if over {
			break
		}
	}
	err := p.alone(ctx, id, func() error {
		if used, err := p.used(id); err != nil || used {
			return errors.Join(err, errors.New("the process does not end"))
		}
		for _, left := range []string{".sock", ".lock"} {
			if err := unlessGone(os.Remove(p.run(id, left))); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("stop: %w", err)
	}
	return nil
}

// end sends a signal to the process and its group, as soon as it says its number, and
// waits for a while. Once it is over, or has to be, what it has started elsewhere is killed.
func (p *Provider) end(ctx context.Context, id weir.ID, signal syscall.Signal) (over bool, err error) {
	sent := false
	for end := time.Now().Add(p.config.Grace); ; {
		run, err := readRun(p.run(id, ".lock"))
		if err != nil {
			return false, err
		}
		if run == nil || signal == syscall.SIGKILL {
			p.sweep(id)
		}
		if run == nil {
			return true, nil
		}
		if run.Pid > 0 && !sent {
			if err := syscall.Kill(-run.Pid, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
				return false, err
			}
			sent = true
		}
		if time.Now().After(end) {
			return false, nil
		}
		if !loop.Wait(ctx, 10*time.Millisecond, nil) {
			return false, ctx.Err()
		}
	}
}

// sweep kills every process that carries the mark of a workspace.
func (p *Provider) sweep(id weir.ID) {
	all, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		return
	}
	mark := "\x00" + p.mark(id) + "\x00"
	for _, path := range all {
		text, err := os.ReadFile(path) // #nosec G304 -- of the kernel
		if err != nil || !strings.Contains("\x00"+string(text), mark) {
			continue // another user's, or gone
		}
		var pid int
		if _, err := fmt.Sscanf(path, "/proc/%d/", &pid); err == nil && pid != os.Getpid() {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have gone
		}
	}
}

// Dial reaches the process through its socket.
func (p *Provider) Dial(ctx context.Context, id weir.ID) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "unix", p.run(id, ".sock"))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) {
		return nil, provider.ErrNotRunning
	}
	return conn, err
}

// answerMost is how long a process may take to say that it is there.
const answerMost = 500 * time.Millisecond

func (p *Provider) answers(ctx context.Context, id weir.ID) bool {
	ctx, cancel := context.WithTimeout(ctx, answerMost)
	defer cancel()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return p.Dial(ctx, id) }}}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://workspace/healthz", nil)
	if err != nil {
		return false
	}
	answer, err := client.Do(request)
	if err != nil {
		return false
	}
	return answer.Body.Close() == nil && answer.StatusCode == http.StatusOK
}
