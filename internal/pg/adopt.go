//go:build unix

package pg

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// silence is how long a process that may be our server may give no answer at all. A
// server that recovers answers so, and may take as long as it needs.
const silence = 30 * time.Second

// postmaster is what a running server writes about itself into its data folder.
type postmaster struct {
	pid, port int
	sockets   string
}

// readPostmaster parses postmaster.pid: pid, data folder, start time, port,
// socket folder, one a line. A server that just began has not written them all.
func readPostmaster(path string) (postmaster, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return postmaster{}, err
	}
	lines := strings.Split(string(text), "\n")
	var p postmaster
	if p.pid, err = strconv.Atoi(strings.TrimSpace(lines[0])); err != nil || p.pid <= 1 {
		return p, fmt.Errorf("%s does not begin with a pid", path)
	}
	if len(lines) > 4 {
		p.port, _ = strconv.Atoi(strings.TrimSpace(lines[3])) // 0: not known yet
		p.sockets = strings.TrimSpace(lines[4])
	}
	return p, nil
}

// adopt takes over the server that a killed Weir left in our folder. It returns false if
// there is none, or if it ended while we waited: after kill -9 of Weir on Linux the
// server is about to shut down, and then a new one must start.
func (c *Cluster) adopt(ctx context.Context) (bool, error) {
	path := filepath.Join(c.data(), "postmaster.pid")
	left, err := readPostmaster(path)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if !alive(left.pid) {
		return false, nil // stale; the new server removes it
	}
	if !mayServe(left.pid, c.data()) {
		// The pid belongs to another program now. PostgreSQL would refuse to start for as
		// long as that one lives.
		c.log.Info("removing a stale postmaster.pid", "pid", left.pid)
		return false, os.Remove(path)
	}
	if c.process, err = adoptProcess(left.pid); err != nil {
		return false, err
	}
	for left.port == 0 && pause(ctx, 10*time.Millisecond) && !c.process.ended() {
		if left, err = readPostmaster(path); err != nil {
			break // it ended; await reports that
		}
	}
	c.port, c.sockets = left.port, left.sockets
	if err := c.await(ctx, silence); err != nil {
		if c.process.ended() {
			return false, nil
		}
		return false, fmt.Errorf("postmaster.pid names the live process %d, which Weir leaves alone: %w. Stop it, then start again", c.Pid(), err)
	}
	if c.cfg.Port != 0 && c.cfg.Port != c.port {
		c.log.Info("restarting PostgreSQL on another port", "was", c.port, "becomes", c.cfg.Port)
		return false, c.process.stop(ctx)
	}
	c.adopted = true
	c.log.Info("adopted the running PostgreSQL", "pid", c.Pid(), "port", c.port, "version", c.version)
	return true, nil
}
