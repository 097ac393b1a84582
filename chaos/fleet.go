//go:build unix

package chaos

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
)

// Agent is an agent process, seen from its parent.
type Agent struct {
	Orders
	cmd   *exec.Cmd
	in    io.WriteCloser
	read  sync.WaitGroup
	ended chan struct{}
}

// Hook sees a call of an agent before it is made. While it runs, the agent gets no other
// answer either. A hook can strike at an exact call.
type Hook func(*Agent, Call)

// StartAgent runs this binary again as an agent. Its calls go into the history
// under its name; hook may be nil.
func StartAgent(r *Recorder, o Orders, hook Hook) (*Agent, error) {
	orders, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	a := &Agent{Orders: o, cmd: exec.Command(self), ended: make(chan struct{})}
	a.cmd.Env = append(os.Environ(), AgentVariable+"="+string(orders))
	a.cmd.Stderr = os.Stderr
	a.cmd.SysProcAttr = &syscall.SysProcAttr{}
	dieWithParent(a.cmd.SysProcAttr)
	if a.in, err = a.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := a.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := a.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start agent %s: %w", o.Name, err)
	}
	a.read.Go(func() { a.listen(r, out, hook) })
	go func() {
		a.read.Wait() // Wait closes the pipe, so everything must be read before
		_ = a.cmd.Wait()
		close(a.ended)
	}()
	return a, nil
}

// listen records what the agent reports and gives each call its permission.
func (a *Agent) listen(r *Recorder, out io.Reader, hook Hook) {
	ids := map[int]int{}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var n note
		if err := json.Unmarshal(lines.Bytes(), &n); err != nil {
			fmt.Fprintf(os.Stderr, "agent %s says %q\n", a.Name, lines.Text())
			continue
		}
		if n.Reply != nil {
			r.end(ids[n.ID], *n.Reply)
			continue
		}
		ids[n.ID] = r.begin(a.Name, *n.Call)
		if hook != nil {
			hook(a, *n.Call)
		}
		_, _ = fmt.Fprintln(a.in, n.ID) // an agent that is gone needs no answer
	}
}

// Kill ends the agent with -9. A hook may call it.
func (a *Agent) Kill() { _ = a.cmd.Process.Kill() }

// Pause stops the process where it is, Resume lets it continue.
func (a *Agent) Pause() error  { return a.cmd.Process.Signal(syscall.SIGSTOP) }
func (a *Agent) Resume() error { return a.cmd.Process.Signal(syscall.SIGCONT) }

// Ended is closed when the process is gone.
func (a *Agent) Ended() <-chan struct{} { return a.ended }

// Stop kills the agent and waits for its end.
func (a *Agent) Stop() {
	a.Kill()
	<-a.ended
}
