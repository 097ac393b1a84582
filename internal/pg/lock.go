//go:build unix

package pg

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// ErrInUse means that another live Weir owns the data folder.
var ErrInUse = errors.New("the data folder is in use")

// lockFolder takes the folder's lock for this process. The kernel releases it when the
// process dies, however it dies, so a lock is never stale. The pid inside is only for the
// message.
func lockFolder(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		pid, _ := os.ReadFile(path)
		return nil, errors.Join(
			fmt.Errorf("%w by the Weir with pid %s: stop that one or choose another folder", ErrInUse, strings.TrimSpace(string(pid))),
			f.Close())
	}
	if err == nil {
		err = f.Truncate(0)
	}
	if err == nil {
		_, err = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), f.Close())
	}
	return f, nil
}

// unlockFolder releases the lock at once. Closing alone would leave it to a child of ours
// that is just between fork and exec. Unlocking twice does nothing.
func unlockFolder(f *os.File) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return nil // closed before
	}
	var unlockErr error
	if err := conn.Control(func(fd uintptr) { unlockErr = syscall.Flock(int(fd), syscall.LOCK_UN) }); err != nil {
		return nil // closed before
	}
	return errors.Join(unlockErr, f.Close())
}
