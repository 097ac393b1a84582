//go:build unix

package exec

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/weirhq/weir/internal/agent/driver"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/uptime"
)

// passed are the variables of the agent that the work gets too.
var passed = []string{"PATH", "HOME", "LANG", "TZ"}

// Options configure the driver. The zero value works.
type Options struct {
	// Dir is the agent's folder, which contains the state folders of attempts. State that
	// is found there, and processes that run there, belong to this agent.
	Dir string
	// RunAs is the name of the user that the work runs as. Empty means the agent's own
	// user.
	RunAs string
}

// Driver runs processes.
type Driver struct {
	options Options
	as      *account

	mu   sync.Mutex
	link *link
	// runs are the runs that have started, by task and attempt.
	runs map[string]*running
}

// New returns the driver.
func New(options Options) *Driver { return &Driver{options: options, runs: map[string]*running{}} }

// Name returns exec.
func (d *Driver) Name() string { return "exec" }

// Check starts the keeper and looks the user up.
func (d *Driver) Check(ctx context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.ready(ctx)
}

// Isolation says how the processes of an attempt are held together, once Check has
// succeeded.
func (d *Driver) Isolation() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.link == nil {
		return ""
	}
	return d.link.isolation
}

// ready makes sure that there is a keeper. The caller holds the mutex.
func (d *Driver) ready(ctx context.Context) error {
	if d.options.RunAs != "" && d.as == nil {
		as, err := lookUp(d.options.RunAs)
		if err != nil {
			return err
		}
		d.as = as
	}
	if d.link != nil && d.link.alive() {
		return nil
	}
	link, err := dial(ctx)
	if err != nil {
		return err
	}
	d.link = link
	return nil
}

// lookUp finds a user of this machine.
func lookUp(name string) (*account, error) {
	u, err := user.Lookup(name)
	if err != nil {
		return nil, fmt.Errorf("run as %s: %w", name, err)
	}
	if os.Geteuid() != 0 && strconv.Itoa(os.Geteuid()) != u.Uid {
		return nil, fmt.Errorf("run as %s: only an agent that runs as root can change the user", name)
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("run as %s: %w", name, err)
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("run as %s: %w", name, err)
	}
	as := &account{UID: uint32(uid), GID: uint32(gid), Home: u.HomeDir, Name: u.Username}
	groups, err := u.GroupIds()
	if err != nil {
		return as, nil // the user's primary group is enough
	}
	for _, g := range groups {
		if id, err := strconv.ParseUint(g, 10, 32); err == nil {
			as.Groups = append(as.Groups, uint32(id))
		}
	}
	return as, nil
}

// Close releases the keeper. Running work continues until its end or the end of its
// leash.
func (d *Driver) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.link != nil {
		d.link.close()
		if len(d.runs) == 0 {
			<-d.link.gone
		}
		d.link = nil
	}
	return nil
}

// Start starts a process group, or returns the one that runs.
func (d *Driver) Start(ctx context.Context, w driver.Work, out driver.Output) (driver.Running, error) {
	if len(w.Run.Argv) == 0 {
		return nil, errors.New("run: argv is empty: the exec driver needs a command")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	name := runName(w.Task, w.Attempt)
	if r := d.runs[name]; r != nil {
		return r, nil
	}
	if err := d.ready(ctx); err != nil {
		return nil, err
	}
	s, err := d.spec(w)
	if err != nil {
		return nil, err
	}
	if !w.Leash.IsZero() {
		if err := writeLeash(w.State, uptime.Now()+time.Until(w.Leash)); err != nil {
			return nil, missing(w, fmt.Errorf("set the leash: %w", err))
		}
	}
	began, fate, err := d.link.start(ctx, s)
	if err != nil && w.Late() {
		return nil, fmt.Errorf("%w: %w", driver.ErrLate, err)
	}
	if err != nil {
		return nil, missingProgram(s.Path, missing(w, err))
	}
	r := &running{driver: d, name: name, folder: w.State, mark: w.Mark(), pid: began.PID, born: began.Born, fate: fate, out: out, over: make(chan struct{})}
	d.runs[name] = r
	r.begin()
	return r, nil
}

// missing says that the folder of the attempt is gone, if that is why work did not start:
// the kernel's answer is the same as for a program that does not exist.
func missing(w driver.Work, err error) error {
	for _, dir := range []string{w.Dir, w.State} {
		if _, gone := os.Stat(dir); errors.Is(gone, fs.ErrNotExist) {
			return &driver.Broken{Fault: node.FolderGone, Err: fmt.Errorf("the folder of the attempt is gone: %w", err)}
		}
	}
	return err
}

// missingProgram says that the program is not there, if that is why work did not start. The
// keeper, which is another process, has only the words of the kernel.
func missingProgram(path string, err error) error {
	if _, gone := os.Stat(path); errors.Is(gone, fs.ErrNotExist) && driver.BrokenBy(err) == nil {
		return fmt.Errorf("%w: %w", err, driver.ErrNoProgram)
	}
	return err
}

func runName(task string, attempt int) string { return task + "." + strconv.Itoa(attempt) }

// spec returns what the keeper should start.
func (d *Driver) spec(w driver.Work) (spec, error) {
	given := map[string]string{}
	for _, name := range passed {
		if value, ok := os.LookupEnv(name); ok {
			given[name] = value
		}
	}
	if d.as != nil {
		given["HOME"], given["USER"], given["LOGNAME"] = d.as.Home, d.as.Name, d.as.Name
		if err := handOver(w.Dir, d.as); err != nil {
			return spec{}, fmt.Errorf("give the folder to %s: %w", d.as.Name, err)
		}
	}
	env := w.Environ(w.Dir)
	for name, value := range given {
		if !slices.ContainsFunc(env, func(line string) bool { return strings.HasPrefix(line, name+"=") }) {
			env = append(env, name+"="+value)
		}
	}
	dir := w.Run.Dir
	if dir == "" {
		dir = w.Dir
	} else if !filepath.IsAbs(dir) {
		dir = filepath.Join(w.Dir, dir)
	}
	path, err := find(w.Run.Argv[0], dir, env)
	if err != nil {
		return spec{}, err
	}
	return spec{
		State: w.State, Task: w.Task, Attempt: w.Attempt, Fence: w.Fence,
		Path: path, Argv: w.Run.Argv, Env: env, Dir: dir, As: d.as,
	}, nil
}

// find looks up a program as the work itself would.
func find(name, dir string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		return name, nil
	}
	for _, line := range env {
		list, ok := strings.CutPrefix(line, "PATH=")
		if !ok {
			continue
		}
		for _, folder := range filepath.SplitList(list) {
			path := filepath.Join(folder, name)
			if info, err := os.Stat(path); filepath.IsAbs(path) && err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
				return path, nil
			}
		}
	}
	return "", fmt.Errorf("the program %q is not in PATH: %w", name, driver.ErrNoProgram)
}

// handOver makes a user the owner of a folder and what is in it.
func handOver(folder string, to *account) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close()
	return fs.WalkDir(root.FS(), ".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return root.Lchown(path, int(to.UID), int(to.GID))
	})
}

// forget drops a run that has ended.
func (d *Driver) forget(r *running) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.runs, r.name)
}
