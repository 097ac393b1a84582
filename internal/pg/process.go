//go:build unix

package pg

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// process is a running postmaster: our child, or one that we adopted.
type process struct {
	handle *os.Process
	// done is closed when the postmaster has ended.
	done chan struct{}
}

// spawn starts the postmaster. The thread that forks it lives exactly as long as the
// child, because on Linux the kernel sends the death signal when the thread that forked
// ends, not when the process does.
func spawn(cmd *exec.Cmd) (*process, error) {
	p := &process{done: make(chan struct{})}
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		p.handle = cmd.Process
		started <- err
		if err == nil {
			_ = cmd.Wait() // its log has the reason
			close(p.done)
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

// adoptProcess watches a postmaster that is not our child. Where the system has process
// handles (pidfd) a signal can never hit a later process of that pid.
func adoptProcess(pid int) (*process, error) {
	handle, err := os.FindProcess(pid)
	if err != nil {
		return nil, err
	}
	p := &process{handle: handle, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		for alive(pid) && !errors.Is(handle.Signal(syscall.Signal(0)), os.ErrProcessDone) {
			pause(context.Background(), 200*time.Millisecond)
		}
	}()
	return p, nil
}

func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// stop requests a fast shutdown (clients are disconnected, data is written out) and, if
// that takes too long, an immediate one, after which the next start recovers from the
// write-ahead log. Both keep every committed change.
func (p *process) stop(ctx context.Context) error {
	for _, step := range []struct {
		signal syscall.Signal
		wait   time.Duration
	}{{syscall.SIGINT, 30 * time.Second}, {syscall.SIGQUIT, 10 * time.Second}} {
		if err := p.handle.Signal(step.signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
			return fmt.Errorf("stop PostgreSQL (pid %d): %w", p.handle.Pid, err)
		}
		timer := time.NewTimer(step.wait)
		defer timer.Stop()
		select {
		case <-p.done:
			return nil
		case <-timer.C:
		case <-ctx.Done():
			// The caller's time is up, so the next step is the last.
			ctx = context.WithoutCancel(ctx)
		}
	}
	return fmt.Errorf("PostgreSQL (pid %d) did not stop: look at it, then end it with kill -QUIT %d", p.handle.Pid, p.handle.Pid)
}
