package process

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/loop"
)

// Run is what is written in the lock that a process holds.
type Run struct {
	ID weir.ID `json:"id"`
	// Pid is zero until the process says it.
	Pid   int       `json:"pid"`
	Since time.Time `json:"since"`
}

// write writes it at once, and always as long: whoever reads sees it whole.
func (r Run) write(f *os.File) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(fmt.Appendf(nil, "%-255s\n", text), 0)
	return err
}

// handed is the number of the open lock in a process that Start has started.
const handed = 3

// Hold has the lock of a workspace for the life of this process: it was handed the lock
// by whoever started it, or takes it.
func Hold(ctx context.Context, path string, id weir.ID) (release func() error, err error) {
	f := inherited(path)
	if f == nil {
		if f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600); err != nil {
			return nil, err
		}
		if err := seize(ctx, f, 100); err != nil {
			return nil, errors.Join(fmt.Errorf("the workspace runs already: %w", err), f.Close())
		}
	}
	if err := (Run{ID: id, Pid: os.Getpid(), Since: time.Now().UTC()}).write(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f.Close, nil
}

// inherited is the open lock, if this process was handed it. What it starts itself does
// not get it.
func inherited(path string) *os.File {
	var open, named syscall.Stat_t
	if syscall.Fstat(handed, &open) != nil || syscall.Stat(path, &named) != nil || open.Dev != named.Dev || open.Ino != named.Ino {
		return nil
	}
	syscall.CloseOnExec(handed)
	return os.NewFile(handed, path)
}

// seize takes the lock of a file, and tries again for others who hold it for a moment. No
// number of tries: until ctx ends.
func seize(ctx context.Context, f *os.File, tries int) error {
	for try := 1; ; try++ {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) || try == tries {
			return err
		}
		if !loop.Wait(ctx, 10*time.Millisecond, nil) {
			return ctx.Err()
		}
	}
}

// readRun reads who holds a lock; nil if nobody does.
func readRun(path string) (*Run, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	switch err := syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB); {
	case err == nil:
		return nil, nil // it was free
	case !errors.Is(err, syscall.EWOULDBLOCK):
		return nil, err
	}
	var run Run
	text, err := io.ReadAll(f)
	if err == nil {
		err = json.Unmarshal(text, &run)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return &run, nil
}

// alone does what changes a volume while nobody else does: a leader that was paused in the
// midst of it keeps the next one out until it has gone on or died.
func (p *Provider) alone(ctx context.Context, id weir.ID, do func() error) error {
	if err := p.folders(); err != nil {
		return err
	}
	path := p.run(id, ".volume")
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return err
		}
		if err := seize(ctx, f, 0); err != nil {
			return errors.Join(fmt.Errorf("somebody else is busy with the volume: %w", err), f.Close())
		}
		if !current(f, path) {
			_ = f.Close() // it was taken away while we waited for it
			continue
		}
		return errors.Join(do(), f.Close())
	}
}

// current: the file is still the one that has the name.
func current(f *os.File, path string) bool {
	open, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(path)
	return err == nil && os.SameFile(open, named)
}
