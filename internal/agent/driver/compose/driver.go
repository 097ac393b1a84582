package compose

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/weirhq/weir/internal/agent/driver"
	"github.com/weirhq/weir/internal/agent/driver/docker"
	"github.com/weirhq/weir/internal/agent/driver/http"
	"github.com/weirhq/weir/internal/problem"
)

// Driver posts work to services that it starts.
type Driver struct {
	cfg  Config
	http *http.Driver
	busy sync.WaitGroup

	mu      sync.Mutex
	command command
	// units are the services that were started and not stopped, by name.
	units map[string]*unit
}

// New returns the driver, and reads which services a previous process of the agent left
// running.
func New(cfg Config) (*Driver, error) {
	cfg = cfg.withDefaults()
	if cfg.Folder != "" {
		// The path is made absolute because commands start in the folder itself.
		folder, err := filepath.Abs(cfg.Folder)
		if err != nil {
			return nil, fmt.Errorf("find the folder of compose files: %w", err)
		}
		cfg.Folder = folder
	}
	calls, err := http.New(cfg.HTTP)
	if err != nil {
		return nil, err
	}
	d := &Driver{cfg: cfg, http: calls, units: map[string]*unit{}}
	return d, d.recall()
}

// recall reads the notes. The next start or stop finds out whether a service still runs.
func (d *Driver) recall() error {
	if d.cfg.Notes == "" {
		return nil
	}
	if err := os.MkdirAll(d.cfg.Notes, 0o700); err != nil {
		return fmt.Errorf("make the folder of notes: %w", err)
	}
	notes, err := filepath.Glob(filepath.Join(d.cfg.Notes, "compose-*.json"))
	if err != nil {
		return err
	}
	for _, path := range notes {
		text, err := os.ReadFile(path) // #nosec G304 -- of our own folder
		if err != nil {
			return fmt.Errorf("read which services were started: %w", err)
		}
		u := &unit{driver: d, last: time.Now()}
		if json.Unmarshal(text, u) != nil || u.Project != d.cfg.project(u.File) {
			continue // an incomplete note, or a note of another agent
		}
		d.units[u.name()] = u
	}
	return nil
}

// Close cancels the calls that are left. The services keep running for the next process
// of the agent.
func (d *Driver) Close() error {
	err := d.http.Close()
	d.busy.Wait()
	return err
}

// Name returns the name of the driver in definitions.
func (d *Driver) Name() string { return "compose" }

// Check returns an error if there is no compose, no engine that it can reach, or no
// folder of files.
func (d *Driver) Check(ctx context.Context) error {
	if d.cfg.Folder == "" {
		return problem.New(problem.Failed, "set the folder of compose files", "no folder of compose files is set")
	}
	info, err := os.Stat(d.cfg.Folder)
	if err != nil || !info.IsDir() {
		return &problem.Problem{Kind: problem.Failed, What: "there is no folder " + d.cfg.Folder + " of compose files", Next: "make it, or set another", Err: err}
	}
	if _, err := d.detect(ctx); err != nil {
		return err
	}
	return d.engine(ctx)
}

// engine pings the engine, because compose itself would fail only later.
func (d *Driver) engine(ctx context.Context) error {
	e, err := docker.New(docker.Config{Host: d.cfg.Host, Agent: d.cfg.Agent})
	if err != nil {
		return err
	}
	return errors.Join(e.Check(ctx), e.Close())
}

// Which returns the form of compose that is used, with its version.
func (d *Driver) Which(ctx context.Context) (string, error) {
	form, err := d.detect(ctx)
	if err != nil {
		return "", err
	}
	return form.String(), nil
}

// Adopt finds no work because a call ends with the agent that makes it.
func (d *Driver) Adopt(context.Context) ([]driver.Found, error) { return nil, nil }

// Start starts the service if necessary, then posts the work to it.
func (d *Driver) Start(ctx context.Context, work driver.Work, out driver.Output) (driver.Running, error) {
	t, err := d.cfg.target(work.Run.Compose)
	if err != nil {
		return nil, err
	}
	u := d.enter(t, work.Service)
	r, err := d.begin(ctx, u, t, work, out)
	if err != nil {
		d.leave(u)
		return nil, err
	}
	d.busy.Go(func() {
		exit, err := r.Wait(context.Background()) // Close and Stop end it
		if err != nil || exit.Code != 0 {
			u.turn.Lock()
			u.up = false // check again before the next call
			u.turn.Unlock()
		}
		d.leave(u)
	})
	return r, nil
}

func (d *Driver) begin(ctx context.Context, u *unit, t target, work driver.Work, out driver.Output) (driver.Running, error) {
	address := work.Run.Compose.URL
	if err := u.ensure(ctx, t, address, func(text string) { say(out.Stderr(), text) }); err != nil {
		return nil, err
	}
	r, err := d.http.Call(work, address, out)
	// The url of a step is in its compose section here.
	if p := new(problem.Problem); errors.As(err, &p) && p.Field == "url" {
		err = p.At("compose.url")
	}
	return r, err
}

// say writes one line of the driver into the log of the work.
func say(log io.Writer, text string) {
	if text = strings.Join(strings.Fields(text), " "); text != "" {
		_, _ = fmt.Fprintf(log, "compose: %s\n", text) // an Output never fails
	}
}

// enter counts a user of the service, so that the service is not stopped while it is in
// use.
func (d *Driver) enter(t target, service string) *unit {
	d.mu.Lock()
	defer d.mu.Unlock()
	u := d.units[t.name()]
	if u == nil {
		u = &unit{driver: d}
		d.units[t.name()] = u
	}
	u.target = t
	if !slices.Contains(u.Services, service) {
		u.Services = append(u.Services, service)
	}
	u.users++
	return u
}

func (d *Driver) leave(u *unit) {
	d.mu.Lock()
	defer d.mu.Unlock()
	u.users--
	u.last = time.Now()
}

// Idle stops the units that tasks of the service have used and that have been idle for
// long enough.
func (d *Driver) Idle(ctx context.Context, service string, since time.Time) error {
	d.mu.Lock()
	var over []*unit
	for _, u := range d.units {
		last := u.last
		if since.After(last) {
			last = since
		}
		if u.users == 0 && slices.Contains(u.Services, service) && time.Since(last) >= u.Idle {
			over = append(over, u)
		}
	}
	d.mu.Unlock()
	var all []error
	for _, u := range over {
		all = append(all, u.stop(ctx))
	}
	return errors.Join(all...)
}
