//go:build unix

package exec

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"

	"github.com/weirhq/weir/internal/agent/driver"
	"github.com/weirhq/weir/internal/node"
)

// errKeeperGone means that the keeper died, and errUnwatched that work ended while there
// was no keeper to see how. The work that it kept dies with it, which is no fault of the
// work.
var (
	errKeeperGone error = &driver.Broken{Fault: node.EngineAway, Err: errors.New("the keeper of the processes died")}
	errUnwatched  error = &driver.Broken{Fault: node.EngineAway, Err: errors.New("the work ended together with its keeper, so its end is not known")}
)

// link is the agent's end of the pipe to a keeper.
type link struct {
	cmd *exec.Cmd
	in  *os.File
	// isolation is how the keeper holds the processes of an attempt together.
	isolation string
	// gone is closed when the keeper is gone.
	gone chan struct{}

	mu   sync.Mutex
	last uint64
	// begun are the channels of calls that wait for an answer, fates those of work whose
	// end is awaited.
	begun map[uint64]chan answer
	fates map[uint64]*fate
}

// fate is how work ends. Its fields are set when done is closed.
type fate struct {
	done chan struct{}
	end  ending
	// lost is set if the keeper is gone and the end is therefore unknown.
	lost bool
}

// dial starts a keeper and waits until it is ready.
func dial(ctx context.Context) (*link, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find our own binary: %w", err)
	}
	theirs, ours, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	cmd := exec.Command(self) // #nosec G204 -- our own binary
	cmd.Args = []string{keeperName}
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")} // the parent of the work needs no other variable of the agent
	cmd.Dir = "/"
	cmd.Stdin, cmd.Stderr = theirs, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		_ = ours.Close()
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		_ = ours.Close()
		return nil, fmt.Errorf("start the keeper: %w", err)
	}
	l := &link{cmd: cmd, in: ours, gone: make(chan struct{}), begun: map[uint64]chan answer{}, fates: map[uint64]*fate{}}
	hello := make(chan struct{})
	go func() {
		defer close(l.gone)
		l.hear(bufio.NewScanner(out), hello)
		_ = cmd.Wait() // only the end of the process matters
		l.mu.Lock()
		defer l.mu.Unlock()
		for _, f := range l.fates {
			f.lost = true
			close(f.done)
		}
		l.fates = nil
	}()
	select {
	case <-hello:
		return l, nil
	case <-l.gone:
		err = errors.New("this binary cannot be its own keeper: its main must call exec.KeeperMain first")
	case <-ctx.Done():
		err = ctx.Err()
	}
	_ = cmd.Process.Kill()
	l.close()
	return nil, fmt.Errorf("start the keeper: %w", err)
}

func (l *link) hear(lines *bufio.Scanner, hello chan<- struct{}) {
	for lines.Scan() {
		var a answer
		if json.Unmarshal(lines.Bytes(), &a) != nil {
			return
		}
		if hello != nil {
			l.isolation = a.Isolation
			close(hello)
			hello = nil
			continue
		}
		l.mu.Lock()
		switch {
		case a.Exit != nil:
			if f := l.fates[a.ID]; f != nil {
				f.end = *a.Exit
				close(f.done)
				delete(l.fates, a.ID)
			}
		default:
			l.begun[a.ID] <- a
			delete(l.begun, a.ID)
			if a.Error != "" {
				delete(l.fates, a.ID)
			}
		}
		l.mu.Unlock()
	}
}

// start makes the keeper start the work. It returns the keeper's answer and the fate that
// will hold the end.
func (l *link) start(ctx context.Context, s spec) (answer, *fate, error) {
	begun, f := make(chan answer, 1), &fate{done: make(chan struct{})}
	l.mu.Lock()
	if l.fates == nil {
		l.mu.Unlock()
		return answer{}, nil, errKeeperGone
	}
	l.last++
	s.ID = l.last
	l.begun[s.ID], l.fates[s.ID] = begun, f
	text, err := json.Marshal(s)
	if err == nil {
		_, err = l.in.Write(append(text, '\n'))
	}
	l.mu.Unlock()
	if err != nil {
		return answer{}, nil, fmt.Errorf("%w: %w", errKeeperGone, err)
	}
	select {
	case a := <-begun:
		switch {
		case a.Fault != "":
			return a, nil, &driver.Broken{Fault: a.Fault, Err: errors.New(a.Error)}
		case a.Error != "":
			return a, nil, errors.New(a.Error)
		}
		return a, f, nil
	case <-l.gone:
		return answer{}, nil, errKeeperGone
	case <-ctx.Done():
		// The work may start all the same, and then the agent would not know of it.
		go func() {
			select {
			case a := <-begun:
				if a.PID > 0 {
					killGroup(a.PID)
				}
			case <-l.gone:
			}
		}()
		return answer{}, nil, ctx.Err()
	}
}

// close lets the keeper end when its last work has ended.
func (l *link) close() { _ = l.in.Close() }

// alive reports whether the keeper still runs.
func (l *link) alive() bool {
	select {
	case <-l.gone:
		return false
	default:
		return true
	}
}
