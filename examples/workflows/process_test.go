package workflows_test

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/weirhq/weir/internal/testwait"
)

// process is one that a test started. It is gone when the test ends.
type process struct {
	t    *testing.T
	cmd  *exec.Cmd
	said testwait.Text
	done chan struct{}
}

// start starts a program in the background.
func start(t *testing.T, env []string, name string, args ...string) *process {
	t.Helper()
	p := &process{t: t, cmd: exec.Command(name, args...), done: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stdout, p.cmd.Stderr = &p.said, &p.said
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.done)
		_ = p.cmd.Wait() // its state says how it ended
	}()
	t.Cleanup(func() {
		p.stop()
		if t.Failed() {
			t.Logf("%s %s said:\n%s", name, strings.Join(args, " "), &p.said)
		}
	})
	return p
}

// stop asks the process to end, and makes it if it does not.
func (p *process) stop() {
	p.t.Helper()
	if p.ended() {
		return
	}
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may be gone by now
	ctx, cancel := context.WithTimeout(context.Background(), testwait.Limit)
	defer cancel()
	select {
	case <-p.done:
	case <-ctx.Done():
		p.t.Errorf("%v does not end when it is asked to", p.cmd.Args)
		_ = p.cmd.Process.Kill()
		<-p.done
	}
}

func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// exit waits for the process and gives its exit code.
func (p *process) exit() int {
	p.t.Helper()
	testwait.Until(p.t, "the end of "+strings.Join(p.cmd.Args, " "), p.ended)
	return p.cmd.ProcessState.ExitCode()
}

// line waits for a line that begins with a word and gives the rest of it.
func (p *process) line(word string) (rest string) {
	p.t.Helper()
	testwait.Until(p.t, "a line "+word, func() bool {
		for text := range strings.Lines(p.said.String()) {
			if after, ok := strings.CutPrefix(strings.TrimSpace(text), word); ok && strings.HasSuffix(text, "\n") {
				rest = strings.TrimSpace(after)
				return true
			}
		}
		if p.ended() {
			p.t.Fatalf("it ended without a line %q:\n%s", word, &p.said)
		}
		return false
	})
	return rest
}
