package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"sync"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/weirhq/weir/internal/agent/driver"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/problem"
)

// Driver runs work in containers.
type Driver struct {
	cfg Config
	cli *client.Client

	// life ends with Close, and with it every watch. The containers keep running.
	life context.Context
	end  context.CancelFunc
	busy sync.WaitGroup

	wardMu sync.Mutex
	// pipe leads to the warden; wards are the leashes that the warden knows, by
	// container.
	pipe  io.WriteCloser
	wards map[string]string

	mu sync.Mutex
	// live contains what was started or attached and has not ended, by name.
	live map[string]*running
}

// New returns the driver. The engine need not be there yet: Check asks it.
func New(cfg Config) (*Driver, error) {
	cfg = cfg.withDefaults()
	if err := cfg.check(); err != nil {
		return nil, err
	}
	cli, err := cfg.connect()
	if err != nil {
		return nil, err
	}
	d := &Driver{cfg: cfg, cli: cli, live: map[string]*running{}, wards: map[string]string{}}
	d.life, d.end = context.WithCancel(context.Background())
	return d, nil
}

// Close stops watching the containers and leaves them running, so that the next process
// of the agent can adopt them.
func (d *Driver) Close() error {
	d.end()
	d.busy.Wait()
	d.wardMu.Lock()
	defer d.wardMu.Unlock()
	if d.pipe != nil {
		_ = d.pipe.Close() // the warden continues until the last leash ends
	}
	return d.cli.Close()
}

// Name returns the name of the driver in definitions.
func (d *Driver) Name() string { return "docker" }

// Check returns an error if the engine does not answer.
func (d *Driver) Check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, d.cfg.Call)
	defer cancel()
	answer, err := d.cli.Ping(ctx, client.PingOptions{NegotiateAPIVersion: true})
	if err != nil {
		return d.fault("ask Docker", err)
	}
	if answer.OSType != "" && answer.OSType != "linux" {
		return problem.New(problem.Failed, "switch it to Linux containers", "Docker runs %s containers here", answer.OSType)
	}
	return nil
}

// Start creates and starts the container of the work.
func (d *Driver) Start(ctx context.Context, work driver.Work, out driver.Output) (driver.Running, error) {
	options, err := d.cfg.options(work)
	if err != nil {
		return nil, err
	}
	return d.once(ctx, options.Name, func(r *running) error {
		log := &counter{to: out.Stderr()}
		image, err := d.ensure(ctx, options.Config.Image, log)
		if err != nil {
			return err
		}
		if err := d.open(work.Dir, options.Config, image); err != nil {
			return err
		}
		id, fresh, err := d.create(ctx, options, log)
		if err != nil {
			return err
		}
		r.tail = newTail(d, id, work.State, out)
		if err := r.tail.begin(fresh, log.n); err != nil {
			return errors.Join(err, d.remove(id))
		}
		if r.leash, err = d.leash(id, work.State, work.Leash); err == nil {
			err = d.start(ctx, id, work)
		}
		if err != nil {
			d.unleash(id, r.leash)
			return errors.Join(err, d.remove(id))
		}
		r.id, r.memory = id, options.HostConfig.Memory
		return nil
	})
}

// once calls begin for this name, unless the name is live already: then it returns the
// live one.
func (d *Driver) once(ctx context.Context, name string, begin func(*running) error) (driver.Running, error) {
	d.mu.Lock()
	if r := d.live[name]; r != nil {
		d.mu.Unlock()
		select {
		case <-r.begun:
			if r.failed != nil {
				return nil, r.failed
			}
			return r, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	r := &running{driver: d, name: name, begun: make(chan struct{}), done: make(chan struct{})}
	d.live[name] = r
	d.mu.Unlock()

	r.failed = begin(r)
	if r.failed != nil {
		d.forget(r)
		close(r.begun)
		return nil, r.failed
	}
	close(r.begun)
	d.busy.Go(r.watch)
	return r, nil
}

func (d *Driver) forget(r *running) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.live, r.name)
}

// create creates the container, or finds the one that an earlier start created.
func (d *Driver) create(ctx context.Context, options client.ContainerCreateOptions, log io.Writer) (id string, fresh bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*d.cfg.Call)
	defer cancel()
	made, err := d.cli.ContainerCreate(ctx, options)
	for cerrdefs.IsConflict(err) {
		if id, err := d.existing(ctx, options); err != nil || id != "" {
			return id, false, err
		}
		// The engine releases a name shortly after the container is gone.
		if !loop.Wait(ctx, 20*time.Millisecond, nil) {
			break
		}
		made, err = d.cli.ContainerCreate(ctx, options)
	}
	if err != nil {
		return "", false, d.fault("create container "+options.Name, err)
	}
	for _, warning := range made.Warnings {
		say(log, warning)
	}
	return made.ID, true, nil
}

// existing inspects the container that has the name already. A container of this agent
// with the same lease is the right one; one with another lease is removed (and the id is
// empty).
func (d *Driver) existing(ctx context.Context, options client.ContainerCreateOptions) (id string, err error) {
	found, err := d.cli.ContainerInspect(ctx, options.Name, client.ContainerInspectOptions{})
	if cerrdefs.IsNotFound(err) {
		return "", nil
	}
	if err != nil {
		return "", d.fault("look at container "+options.Name, err)
	}
	labels := found.Container.Config.Labels
	switch {
	case labels[labelAgent] != d.cfg.Agent:
		return "", problem.New(problem.Conflict, "give each agent on this machine a name of its own", "container %s is not of this agent", options.Name)
	case labels[labelFence] == options.Config.Labels[labelFence]:
		return found.Container.ID, nil
	}
	return "", d.remove(found.Container.ID)
}

// start starts the container. A container that runs or has ended stays as it is. If this
// process is suspended just before the call, the warden has removed the container in the
// meantime.
func (d *Driver) start(ctx context.Context, id string, work driver.Work) error {
	state, err := d.inspect(ctx, id)
	if err != nil {
		return d.fault("look at the container", err)
	}
	if state.Status != container.StateCreated {
		return nil
	}
	if work.Late() {
		return driver.ErrLate
	}
	ctx, cancel := context.WithTimeout(ctx, 2*d.cfg.Call)
	defer cancel()
	if _, err := d.cli.ContainerStart(ctx, id, client.ContainerStartOptions{}); err != nil {
		if work.Late() {
			return fmt.Errorf("%w: %w", driver.ErrLate, err)
		}
		err = d.fault("start the container", err)
		// The engine also answers "not found" if it cannot execute the command.
		if p := new(problem.Problem); errors.As(err, &p) && p.Kind == problem.NotFound {
			p.Kind, p.Next = problem.Invalid, "check argv and dir against what is in the image"
		}
		return err
	}
	return nil
}

func (d *Driver) inspect(ctx context.Context, id string) (*container.State, error) {
	ctx, cancel := context.WithTimeout(ctx, d.cfg.Call)
	defer cancel()
	found, err := d.cli.ContainerInspect(ctx, id, client.ContainerInspectOptions{})
	if err != nil {
		return nil, err
	}
	if found.Container.State == nil {
		return nil, errors.New("the engine does not say how the container is")
	}
	return found.Container.State, nil
}

// remove kills and removes the container. It ignores the deadline of the caller, because
// no other process would remove the container.
func (d *Driver) remove(id string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(d.life), d.cfg.Call)
	defer cancel()
	_, err := d.cli.ContainerRemove(ctx, id, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
	// A conflict means that another process is removing it.
	for cerrdefs.IsConflict(err) && loop.Wait(ctx, 50*time.Millisecond, nil) {
		if _, gone := d.inspect(ctx, id); gone != nil {
			err = gone
		}
	}
	if cerrdefs.IsNotFound(err) {
		return nil
	}
	return d.fault("remove the container", err)
}

// open gives the user of the container access to the attempt's files if that user is not
// the agent's. The folder around them stays closed to all other users.
func (d *Driver) open(dir string, config *container.Config, image client.ImageInspectResult) error {
	user := config.User
	if user == "" && image.Config != nil {
		user = image.Config.User
	}
	if os.Geteuid() != 0 || user == "" || user == "root" || user == "0" || user == "0:0" {
		return nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("open the folder of the attempt: %w", err)
	}
	defer root.Close()
	return fs.WalkDir(root.FS(), ".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path == ".":
			return nil
		case path == driver.OutFolder:
			return root.Chmod(path, 0o777)
		case entry.IsDir():
			return root.Chmod(path, 0o755)
		case entry.Type().IsRegular():
			return root.Chmod(path, 0o444)
		}
		return nil
	})
}

// Adopt finds the containers of a previous process of this agent.
func (d *Driver) Adopt(ctx context.Context) ([]driver.Found, error) {
	ctx, cancel := context.WithTimeout(ctx, d.cfg.Call)
	defer cancel()
	list, err := d.cli.ContainerList(ctx, client.ContainerListOptions{
		All:     true,
		Filters: client.Filters{}.Add("label", labelAgent+"="+d.cfg.Agent),
	})
	if err != nil {
		return nil, d.fault("look for containers of an earlier life", err)
	}
	var all []driver.Found
	for _, one := range list.Items {
		attempt, _ := strconv.Atoi(one.Labels[labelAttempt]) // without a number it is not this agent's: no lease will match
		all = append(all, &found{driver: d, id: one.ID, task: one.Labels[labelTask], attempt: attempt, fence: one.Labels[labelFence]})
	}
	return all, nil
}
