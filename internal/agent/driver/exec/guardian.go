//go:build unix

package exec

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/weirhq/weir/internal/loop"
)

// guardianName is the program name under which a binary becomes the guardian.
const guardianName = "weir-guardian"

const (
	// guardMost is how long the guardian tries to kill what a dead keeper left.
	guardMost = time.Minute
	// guardAgain is how long the keeper waits before it replaces a dead guardian.
	guardAgain = 100 * time.Millisecond
)

// charge tells the guardian that an attempt begins, or that nothing is left of it.
type charge struct {
	Mark string `json:"mark"`
	// Group is the folder of its cgroup; empty means that it has none.
	Group string `json:"group,omitempty"`
	Over  bool   `json:"over,omitempty"`
}

// guardianMain is the guardian's main function. It learns from a pipe which attempts the
// keeper has. When the keeper dies, the pipe ends, and the guardian kills every process of
// these attempts: the kernel itself kills only the first one with the keeper.
func guardianMain() {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	has := map[string]charge{}
	lines := json.NewDecoder(bufio.NewReader(os.Stdin))
	for {
		var c charge
		if lines.Decode(&c) != nil {
			break
		}
		if has[c.Mark] = c; c.Over {
			delete(has, c.Mark)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), guardMost)
	defer cancel()
	var all sync.WaitGroup
	for _, c := range has {
		all.Go(func() {
			killCgroup(c.Group)
			if err := killMarked(ctx, c.Mark); err != nil {
				fmt.Fprintln(os.Stderr, "weir-guardian:", err)
			}
			removeCgroup(ctx, c.Group)
		})
	}
	all.Wait()
	os.Exit(0)
}

// guardian is the keeper's end of the pipe to its guardian.
type guardian struct {
	mu  sync.Mutex
	in  io.WriteCloser
	pid int
	has map[string]charge
}

// tell passes a charge on. A guardian that died gets the whole list when it is replaced.
func (g *guardian) tell(c charge) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.has[c.Mark] = c; c.Over {
		delete(g.has, c.Mark)
	}
	g.write(c)
}

func (g *guardian) write(c charge) {
	text, err := json.Marshal(c)
	if err == nil && g.in != nil {
		_, _ = g.in.Write(append(text, '\n')) // its successor gets it
	}
}

// is reports whether a child of the keeper is its guardian.
func (g *guardian) is(pid int) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.pid == pid
}

// start starts a guardian and lets it know what there is.
func (g *guardian) start() (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	cmd := exec.Command(self) // #nosec G204 -- our own binary
	cmd.Args = []string{guardianName}
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	cmd.Dir, cmd.Stderr = "/", os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if g.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	g.pid = cmd.Process.Pid
	for _, c := range g.has {
		g.write(c)
	}
	return cmd, nil
}

// watch replaces a guardian that dies, for as long as the keeper lives.
func (g *guardian) watch(cmd *exec.Cmd) {
	for {
		if cmd != nil {
			_ = cmd.Wait() // only its end matters
		}
		loop.Wait(context.Background(), guardAgain, nil)
		var err error
		if cmd, err = g.start(); err != nil {
			fmt.Fprintln(os.Stderr, "weir-keeper: start the guardian:", err)
		}
	}
}
