package agent

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/problem"
)

const (
	lockFile     = "agent.lock"
	identityFile = "identity"
	// lockTries is how often the lock of a folder is tried, because a process that was
	// killed a moment ago may still have it. If that process is gone, a child that it was
	// just starting has the lock, for as long as the disk makes it wait.
	lockTries, lockTriesGone, lockEvery = 50, 600, 100 * time.Millisecond
)

// moveIn locks the agent's folder: no other process works in it until free is called or
// this process dies. The folder has an identity, so that an agent is recognized after a
// restart, and distinguished from another agent of the same name.
func (a *Agent) moveIn(ctx context.Context) (free func(), err error) {
	file, err := os.OpenFile(filepath.Join(a.config.Dir, lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("agent: lock its folder: %w", err)
	}
	for try := 1; ; try++ {
		err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) // #nosec G115 -- a file descriptor is a small number
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			break
		}
		pid, _ := os.ReadFile(file.Name()) // no pid is as good as an old one
		if try >= lockTriesGone || try >= lockTries && !gone(string(pid)) || !loop.Wait(ctx, lockEvery, a.drain) {
			p := problem.New(problem.Conflict, "give this one another folder (--dir) and another name (--node), or stop the other",
				"the folder %s is that of another agent, with pid %s", a.config.Dir, strings.TrimSpace(string(pid)))
			return nil, errors.Join(p, file.Close())
		}
	}
	if err == nil {
		err = file.Truncate(0)
	}
	if err == nil {
		_, err = fmt.Fprintln(file, os.Getpid())
	}
	if err == nil {
		a.config.Info.Holder, err = identity(filepath.Join(a.config.Dir, identityFile))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("agent: lock its folder: %w", err), file.Close())
	}
	return func() {
		// Closing alone would leave the lock with a child between fork and exec.
		if err := errors.Join(syscall.Flock(int(file.Fd()), syscall.LOCK_UN), file.Close()); err != nil { // #nosec G115 -- a file descriptor is a small number
			a.log.Warn("the lock of the agent's folder was not given back", "error", err)
		}
	}, nil
}

// gone reports whether the process no longer exists.
func gone(pid string) bool {
	n, err := strconv.Atoi(strings.TrimSpace(pid))
	return err == nil && n > 0 && errors.Is(syscall.Kill(n, 0), syscall.ESRCH)
}

// identity reads the identity of a folder, or creates it the first time.
func identity(file string) (string, error) {
	text, err := os.ReadFile(file) // #nosec G304 -- of the agent's own folder
	if err == nil && len(text) > 0 {
		return strings.TrimSpace(string(text)), nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	made := rand.Text()
	return made, os.WriteFile(file, []byte(made+"\n"), 0o600)
}
