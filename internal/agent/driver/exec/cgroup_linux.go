package exec

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/weirhq/weir/internal/loop"
)

// cgroups makes a cgroup of version 2 for each attempt, below the keeper's own.
type cgroups struct {
	// dir is the keeper's own cgroup; empty means that none can be made.
	dir  string
	last atomic.Int64
}

// isolation says how processes of an attempt are held together.
func (c *cgroups) isolation() string {
	if c.dir == "" {
		return isolatedByMark
	}
	return isolatedByCgroup
}

// openCgroups finds out whether cgroups can be used here: it makes one and starts a process
// in it, a guardian without charges, which ends at once.
func openCgroups() *cgroups {
	c := &cgroups{dir: ownCgroup()}
	if c.dir == "" {
		return c
	}
	group, err := c.make()
	if err == nil {
		err = try(group)
		ctx, cancel := context.WithTimeout(context.Background(), clearing)
		removeCgroup(ctx, group)
		cancel()
	}
	if err != nil {
		c.dir = ""
	}
	return c
}

func try(group string) error {
	if _, err := os.Stat(filepath.Join(group, "cgroup.kill")); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self) // #nosec G204 -- our own binary
	cmd.Args, cmd.Env, cmd.Dir, cmd.SysProcAttr = []string{guardianName}, []string{}, "/", &syscall.SysProcAttr{}
	done, err := into(cmd.SysProcAttr, group)
	if err != nil {
		return err
	}
	defer done()
	return cmd.Run()
}

// ownCgroup returns the folder of this process's cgroup of version 2, or "".
func ownCgroup() string {
	at := ""
	own, _ := os.ReadFile("/proc/self/cgroup") // without it there is none
	for line := range strings.Lines(string(own)) {
		if path, ok := strings.CutPrefix(strings.TrimSpace(line), "0::"); ok {
			at = path
		}
	}
	mounts, err := os.Open("/proc/self/mountinfo")
	if err != nil || at == "" {
		return ""
	}
	defer mounts.Close()
	for lines := bufio.NewScanner(mounts); lines.Scan(); {
		before, after, _ := strings.Cut(lines.Text(), " - ")
		fields := strings.Fields(before)
		if len(fields) < 5 || !strings.HasPrefix(after, "cgroup2 ") {
			continue
		}
		// The mount may show only a part of the tree.
		if below, err := filepath.Rel(fields[3], at); err == nil && filepath.IsLocal(below) {
			return filepath.Join(fields[4], below)
		}
	}
	return ""
}

// make makes the cgroup of an attempt.
func (c *cgroups) make() (string, error) {
	if c.dir == "" {
		return "", nil
	}
	group := filepath.Join(c.dir, fmt.Sprintf("weir-%d-%d", os.Getpid(), c.last.Add(1)))
	return group, os.Mkdir(group, 0o755) // #nosec G301 -- the kernel's own folder
}

// into makes a process start inside a cgroup.
func into(attr *syscall.SysProcAttr, group string) (done func(), err error) {
	if group == "" {
		return func() {}, nil
	}
	dir, err := os.Open(group) // #nosec G304 -- a folder of our own
	if err != nil {
		return nil, err
	}
	attr.UseCgroupFD, attr.CgroupFD = true, int(dir.Fd()) // #nosec G115 -- a file descriptor is a small number
	return func() { _ = dir.Close() }, nil
}

// killCgroup kills all processes of a cgroup, whatever they did to their group, session or
// environment.
func killCgroup(group string) {
	if group != "" {
		_ = os.WriteFile(filepath.Join(group, "cgroup.kill"), []byte("1"), 0) // one that is gone is empty
	}
}

// removeCgroup removes a cgroup once it is empty.
func removeCgroup(ctx context.Context, group string) {
	for group != "" {
		err := os.Remove(group)
		if err == nil || os.IsNotExist(err) || !loop.Wait(ctx, peekFirst, nil) {
			return
		}
		killCgroup(group)
	}
}
