//go:build unix

package exec

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/weirhq/weir/internal/agent/driver"
)

// found is work of a previous process, found by its state file, or only by processes that
// carry a mark and whose folder belongs to this agent.
type found struct {
	driver *Driver
	folder string
	state
}

// Adopt finds what a previous process of the agent left.
func (d *Driver) Adopt(context.Context) ([]driver.Found, error) {
	files, err := filepath.Glob(filepath.Join(d.options.Dir, "*", "*", stateFile))
	if err != nil {
		return nil, err
	}
	var all []driver.Found
	known := map[string]bool{}
	for _, file := range files {
		f := &found{driver: d, folder: filepath.Dir(file)}
		if readJSON(file, &f.state) != nil {
			continue // its processes are found by their mark
		}
		known[f.mark()] = true
		all = append(all, f)
	}
	root, err := filepath.Abs(d.options.Dir)
	if err != nil {
		return nil, err
	}
	for _, pid := range processes() {
		c := carried(pid)
		mark := c.mark()
		if mark == "" || known[mark] || !strings.HasPrefix(c.out, root+string(os.PathSeparator)) {
			continue
		}
		known[mark] = true
		all = append(all, &found{driver: d, state: state{Task: c.task, Attempt: c.attempt, Fence: c.fence}})
	}
	return all, nil
}

func (f *found) Task() string  { return f.state.Task }
func (f *found) Attempt() int  { return f.state.Attempt }
func (f *found) Fence() string { return f.state.Fence }

// Attach continues to read the output and waits for the end, which the previous keeper
// records.
func (f *found) Attach(_ context.Context, w driver.Work, out driver.Output) (driver.Running, error) {
	if f.folder == "" {
		return nil, errors.New("only processes are left of it, not how it was started")
	}
	d := f.driver
	d.mu.Lock()
	defer d.mu.Unlock()
	name := runName(w.Task, w.Attempt)
	if r := d.runs[name]; r != nil {
		return r, nil
	}
	r := f.running(out)
	r.name = name
	d.runs[name] = r
	r.begin()
	return r, nil
}

func (f *found) running(out driver.Output) *running {
	return &running{driver: f.driver, folder: f.folder, mark: f.mark(), pid: f.PID, born: f.Born, out: out, over: make(chan struct{})}
}

// Kill ends all processes of the work.
func (f *found) Kill(ctx context.Context) error {
	if f.folder == "" {
		return killMarked(ctx, f.mark())
	}
	r := f.running(nil)
	if r.alive() {
		killGroup(f.PID)
	}
	killCgroup(f.Group)
	return killMarked(ctx, f.mark())
}

// Clear kills all processes of the work that a previous process of the agent started, and
// removes their state.
func (d *Driver) Clear(ctx context.Context, w driver.Work) error {
	f := &found{driver: d, folder: w.State}
	if readJSON(filepath.Join(w.State, stateFile), &f.state) != nil {
		f = &found{driver: d, state: state{Task: w.Task, Attempt: w.Attempt, Fence: w.Fence}}
	}
	if err := f.Kill(ctx); err != nil {
		return err
	}
	return os.RemoveAll(w.State)
}
