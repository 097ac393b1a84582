package docker

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/uptime"
)

// A container outlives an agent that is killed, and the engine knows no lease. The warden
// is a second process of the same binary that enforces the lease: for each container it
// reads from a file when the container must be dead, and kills it then. The agent writes
// a later time with each renewal. The file is removed with the container; a later process
// of the agent continues to write the same file.
//
//	agent ──pipe: container, file──► warden ──kill──► engine
//	   └───────► leash file ◄───read────┘

const (
	wardenName = "weir-warden"
	leashFile  = "docker.leash"
)

// possible is set if this binary can be its own warden.
var possible atomic.Bool

// WardenMain is the warden's main function. The main function of a program with this
// driver calls it first: it returns at once, unless this process was started as the
// warden.
func WardenMain() {
	possible.Store(true)
	if len(os.Args) != 2 || os.Args[0] != wardenName {
		return
	}
	cli, err := Config{Host: os.Args[1]}.connect()
	if err != nil {
		fmt.Fprintln(os.Stderr, wardenName+":", err)
		os.Exit(1)
	}
	w := &warden{cli: cli, files: map[string]string{}, stir: make(chan struct{}, 1)}
	go w.listen(os.Stdin)
	w.watch()
	os.Exit(0)
}

// ward names a container and its leash file to the warden.
type ward struct {
	Container string `json:"container"`
	File      string `json:"file"`
}

type warden struct {
	cli  *client.Client
	stir chan struct{}

	mu sync.Mutex
	// files are the leash files by container.
	files map[string]string
	// orphaned is set when the agent is gone.
	orphaned bool
}

func (w *warden) listen(in io.Reader) {
	lines := json.NewDecoder(bufio.NewReader(in))
	for {
		var one ward
		err := lines.Decode(&one)
		w.mu.Lock()
		if err == nil {
			w.files[one.Container] = one.File
		} else {
			w.orphaned = true
		}
		w.mu.Unlock()
		select {
		case w.stir <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

// watch returns when the agent is gone and nothing is left to watch. It looks when a
// leash ends, and every second, because timers stand still while the machine sleeps.
func (w *warden) watch() {
	for {
		w.mu.Lock()
		files, orphaned := make(map[string]string, len(w.files)), w.orphaned
		for id, file := range w.files {
			files[id] = file
		}
		w.mu.Unlock()
		if orphaned && len(files) == 0 {
			return
		}
		wait := time.Second
		for id, file := range files {
			if until, err := readLeash(file); err == nil {
				wait = min(wait, pause(until-uptime.Now()))
			}
			if w.over(id, file, orphaned) {
				w.mu.Lock()
				delete(w.files, id)
				w.mu.Unlock()
			}
		}
		loop.Wait(context.Background(), wait, w.stir)
	}
}

// pause returns how long the next look at a container can wait. A container whose leash
// is over is handled at once, and then less and less often, because its engine may be
// gone for good.
func pause(left time.Duration) time.Duration {
	if left > 0 {
		return max(left, 20*time.Millisecond)
	}
	return max(-left/4, 20*time.Millisecond)
}

// over reports whether nothing is left to do for a container. The agent removes killed
// containers, unless it is gone or has given up because the engine hung.
func (w *warden) over(id, file string, orphaned bool) bool {
	until, err := readLeash(file)
	if os.IsNotExist(err) {
		return true
	}
	if err == nil && uptime.Now() < until {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if orphaned || uptime.Now() > until+time.Minute {
		_, err = w.cli.ContainerRemove(ctx, id, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
	} else {
		_, err = w.cli.ContainerKill(ctx, id, client.ContainerKillOptions{Signal: "SIGKILL"})
		if w.unstarted(ctx, id) {
			_, err = w.cli.ContainerRemove(ctx, id, client.ContainerRemoveOptions{})
		}
	}
	// A container that is just being started cannot be killed yet, so only its absence
	// counts. With neither an agent nor an engine, further waiting is useless.
	return cerrdefs.IsNotFound(err) || orphaned && uptime.Now() > until+time.Hour
}

// unstarted reports whether a container was created and not started: an agent that was
// suspended in between would start it when it resumes.
func (w *warden) unstarted(ctx context.Context, id string) bool {
	found, err := w.cli.ContainerInspect(ctx, id, client.ContainerInspectOptions{})
	return err == nil && found.Container.State != nil && found.Container.State.Status == container.StateCreated
}

// readLeash returns the uptime of the machine at which the container must be dead.
func readLeash(file string) (time.Duration, error) {
	text, err := os.ReadFile(file) // #nosec G304 -- written by the agent
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return time.Duration(n), err
}

// writeLeash replaces the file atomically because the warden may read it at any time.
func writeLeash(file string, until time.Time) error {
	at := uptime.Now() + time.Until(until)
	if err := os.WriteFile(file+".new", []byte(strconv.FormatInt(int64(at), 10)), 0o600); err != nil {
		return fmt.Errorf("set the leash of the container: %w", err)
	}
	return os.Rename(file+".new", file)
}

// leash puts the container on a leash, if the work has one.
func (d *Driver) leash(id, state string, until time.Time) (file string, err error) {
	if until.IsZero() || state == "" {
		return "", nil
	}
	if !possible.Load() {
		d.cfg.Log.Warn("containers outlive an agent that is killed: this binary is no warden")
		return "", nil
	}
	file = filepath.Join(state, leashFile)
	if err := writeLeash(file, until); err != nil {
		return "", err
	}
	return file, d.tell(ward{id, file})
}

// tell sends a ward to the warden, and starts the warden if necessary. A warden that died
// is replaced by one that gets all live wards.
func (d *Driver) tell(one ward) error {
	d.wardMu.Lock()
	defer d.wardMu.Unlock()
	d.wards[one.Container] = one.File
	if d.pipe != nil {
		if json.NewEncoder(d.pipe).Encode(one) == nil {
			return nil
		}
		_ = d.pipe.Close() // the pipe is broken
		d.pipe = nil
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find our own binary: %w", err)
	}
	cmd := exec.Command(self) // #nosec G204 -- our own binary
	cmd.Args = []string{wardenName, d.cli.DaemonHost()}
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	cmd.Dir = "/"
	cmd.Stderr = os.Stderr
	apart(cmd)
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the warden: %w", err)
	}
	go func() { _ = cmd.Wait() }() // so that it does not stay as a zombie
	d.pipe = pipe
	for id, file := range d.wards {
		if err := json.NewEncoder(pipe).Encode(ward{id, file}); err != nil {
			return fmt.Errorf("tell the warden: %w", err)
		}
	}
	return nil
}

// unleash ends the leash of a container that is gone.
func (d *Driver) unleash(id, file string) {
	if file == "" {
		return
	}
	d.wardMu.Lock()
	delete(d.wards, id)
	d.wardMu.Unlock()
	_ = os.Remove(file) // it is removed with the attempt's folder at the latest
}
