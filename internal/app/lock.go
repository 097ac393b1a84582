package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/weirhq/weir/internal/pg"
)

// folderLock says that the data folder is this server's. The kernel frees it
// when the process dies, however it dies, so it is never stale.
type folderLock struct{ file *os.File }

// take locks the folder. A folder that is not there yet is nobody's: then
// nothing is locked. Taking what is taken does nothing.
func (l *folderLock) take(data string) error {
	if l.file != nil {
		return nil
	}
	f, err := os.OpenFile(filepath.Join(data, "server.lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("lock the data folder: %w", err)
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		pid, _ := os.ReadFile(f.Name()) // only for the message
		return errors.Join(fmt.Errorf("%s: %w by the Weir with pid %s", data, pg.ErrInUse, strings.TrimSpace(string(pid))), f.Close())
	}
	if err == nil {
		err = f.Truncate(0)
	}
	if err == nil {
		_, err = fmt.Fprintln(f, os.Getpid())
	}
	if err != nil {
		return errors.Join(fmt.Errorf("lock the data folder: %w", err), f.Close())
	}
	l.file = f
	return nil
}

// free lets the next server have the folder. Closing alone would leave the lock
// to a child that is just between fork and exec.
func (l *folderLock) free() error {
	if l.file == nil {
		return nil
	}
	return errors.Join(syscall.Flock(int(l.file.Fd()), syscall.LOCK_UN), l.file.Close())
}
