package flow

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	// startWithin is the timeout for the start of a process, and stopWithin for its end
	// after it is asked to end.
	startWithin = 2 * time.Minute
	stopWithin  = 30 * time.Second
)

// Process is a server or an agent that the benchmark started.
type Process struct {
	name  string
	cmd   *exec.Cmd
	said  *tail
	ended chan struct{}
	err   error
}

// StartProcess starts a program and returns when ready accepts its output so far. The
// caller must call Stop.
func StartProcess(ctx context.Context, name string, cmd *exec.Cmd, ready func(said string) bool) (*Process, error) {
	p := &Process{name: name, cmd: cmd, said: &tail{}, ended: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = p.said, p.said
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is for the benchmark, which then stops the process
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	go func() {
		p.err = cmd.Wait()
		close(p.ended)
	}()
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	for !ready(p.said.String()) {
		select {
		case <-p.ended:
			return nil, fmt.Errorf("%s ended: %w\n%s", name, p.err, p.said)
		case <-ctx.Done():
			return nil, errors.Join(fmt.Errorf("%s is not ready: %w\n%s", name, ctx.Err(), p.said), p.Stop())
		case <-time.After(20 * time.Millisecond):
		}
	}
	return p, nil
}

// PID returns the id of the process.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Stop asks the process to end, then kills it.
func (p *Process) Stop() error {
	select {
	case <-p.ended:
		return fmt.Errorf("%s ended early: %w\n%s", p.name, p.err, p.said)
	default:
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-p.ended:
		return nil
	case <-time.After(stopWithin):
		err := p.cmd.Process.Kill()
		<-p.ended
		return errors.Join(err, fmt.Errorf("%s did not end in %s and was killed\n%s", p.name, stopWithin, p.said))
	}
}

// tail keeps the end of a process's output.
type tail struct {
	mu   sync.Mutex
	text bytes.Buffer
}

const tailMost = 16 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text.Write(p)
	if extra := t.text.Len() - tailMost; extra > 0 {
		_, _ = io.CopyN(io.Discard, &t.text, int64(extra)) // a buffer does not fail
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(t.text.String())
}
