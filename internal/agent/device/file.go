package device

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/weirhq/weir/internal/problem"
)

// fileMost is more than any list of devices needs.
const fileMost = 1 << 20

// File is a source that a person writes: YAML with a list of devices. It is read again
// when it has changed.
type File struct {
	path string

	mu sync.Mutex
	// seen is the stamp of the file when it was read, and last is what it contained.
	seen stamp
	last Listing
	err  error
}

// stamp distinguishes one version of a file from another.
type stamp struct {
	modified time.Time
	size     int64
}

// fresh is how long after its last change a file is read each time, because a second
// change within the resolution of the clock would not be visible.
const fresh = 3 * time.Second

// OpenFile reads a file of devices for the first time, so that its errors are reported at
// once.
func OpenFile(path string) (*File, error) {
	f := &File{path: path}
	_, err := f.List(context.Background())
	return f, err
}

func (f *File) String() string { return f.path }

// List returns the devices in the file.
func (f *File) List(context.Context) (Listing, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	info, err := os.Stat(f.path)
	if err != nil {
		f.seen = stamp{}
		return Listing{}, unreadable(f.path, err)
	}
	now := stamp{info.ModTime(), info.Size()}
	if now == f.seen && time.Since(now.modified) > fresh {
		return f.last, f.err
	}
	if info.IsDir() {
		return Listing{}, problem.Refuse("devices", "name the file in it", "%s is a folder", f.path)
	}
	text, err := readAtMost(f.path, fileMost)
	if err != nil {
		f.seen = stamp{}
		return Listing{}, unreadable(f.path, err)
	}
	f.seen = now
	f.last, f.err = parseYAML(f.path, text)
	return f.last, f.err
}

func unreadable(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return problem.Refuse("devices", "write one:\n  devices:\n    - serial: R58M123ABC", "there is no file %s", path)
	}
	return problem.Refuse("devices", "make it readable for the agent", "read %s: %v", path, err)
}

func readAtMost(path string, most int64) ([]byte, error) {
	file, err := os.Open(path) // #nosec G304 -- the operator of this machine names it
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, most+1))
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("it has more than %d bytes", most)
	}
	return text, err
}

// fault is one error in a file, as file:line: field: text.
func fault(path string, line int, field, next, format string, args ...any) *problem.Problem {
	var b strings.Builder
	b.WriteString(path)
	if line > 0 {
		fmt.Fprintf(&b, ":%d", line)
	}
	b.WriteString(": ")
	if field != "" {
		b.WriteString(field + ": ")
	}
	fmt.Fprintf(&b, format, args...)
	return &problem.Problem{Kind: problem.Invalid, What: b.String(), Next: next, Field: field}
}
