package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/workspace/provider"
)

// Start starts the container, unless it lives.
func (p *Provider) Start(ctx context.Context, s provider.Spec) error {
	return about("start", p.start(ctx, s))
}

func (p *Provider) start(ctx context.Context, spec provider.Spec) error {
	s, err := p.startable(ctx, spec)
	if err != nil || uses(s.container) {
		return err
	}
	if err := p.tool.ready(ctx, p); err != nil {
		return err
	}
	image, err := p.image(ctx, spec.Image, spec.Tell)
	if err != nil {
		return err
	}
	// An image can take its time to come.
	if s, err = p.startable(ctx, spec); err != nil || uses(s.container) {
		return err
	}
	n := s.state()
	n.Mounts, n.over = spec.Mounts, false
	if old := s.container; old != nil && (old.Labels[labelMounts] != strconv.FormatInt(spec.Mounts, 10) || old.State != container.StateCreated) {
		ended := p.ended(ctx, old, spec.Mounts)
		if err := errors.Join(ended, p.remove(ctx, old.ID)); err != nil {
			return err
		}
		s.container = nil
	}
	if err := p.note(ctx, spec.ID, s, n); err != nil { // noted before it happens
		return err
	}
	id, err := p.create(ctx, spec, s, n, image)
	if err != nil {
		return err
	}
	_, err = call(ctx, p, "start the container", func(ctx context.Context) (client.ContainerStartResult, error) {
		return p.engine.ContainerStart(ctx, id, client.ContainerStartOptions{})
	})
	return err
}

// startable gives what there is of a workspace that may be started with this number.
func (p *Provider) startable(ctx context.Context, spec provider.Spec) (*sight, error) {
	s, err := p.seeOne(ctx, spec.ID)
	if err != nil {
		return nil, err
	}
	switch n := s.state(); {
	case n.Marker == "":
		return s, provider.ErrNoVolume
	case spec.Mounts < n.Mounts, spec.Mounts == n.Mounts && n.over:
		return s, provider.ErrStale
	}
	return s, nil
}

// ended says how the same start has ended by itself. Trying once more is up to the caller.
func (p *Provider) ended(ctx context.Context, old *container.Summary, mounts int64) error {
	if old.Labels[labelMounts] != strconv.FormatInt(mounts, 10) {
		return nil
	}
	found, err := call(ctx, p, "look at the container", func(ctx context.Context) (client.ContainerInspectResult, error) {
		return p.engine.ContainerInspect(ctx, old.ID, client.ContainerInspectOptions{})
	})
	if err != nil || found.Container.State == nil {
		return err
	}
	state := found.Container.State
	var last strings.Builder
	_ = p.print(ctx, old.ID, 1, &last) // without it, it is a shorter message
	switch {
	case state.OOMKilled:
		return fmt.Errorf("the container ended: it needs more than %d bytes of memory", p.config.Memory)
	case state.Error != "":
		return fmt.Errorf("the container could not run: %s", state.Error)
	}
	return fmt.Errorf("the container ended with exit code %d: %s", state.ExitCode, strings.TrimSpace(last.String()))
}

// create makes the container, or takes the one that an earlier call has made. A volume that
// vanished meanwhile would be replaced by the engine with an empty one: that is looked for
// once the container holds the volume.
func (p *Provider) create(ctx context.Context, spec provider.Spec, s *sight, n note, image image) (id string, err error) {
	volume := s.homes[n.nonce]
	if err := p.connect(ctx, spec.ID); err != nil {
		return "", err
	}
	if s.container != nil {
		id = s.container.ID
	} else {
		made, err := call(ctx, p, "make the container", func(ctx context.Context) (client.ContainerCreateResult, error) {
			return p.engine.ContainerCreate(ctx, p.workspace(spec, n, image, volume))
		})
		if cerrdefs.IsConflict(err) {
			return "", p.taken(ctx, spec.ID)
		}
		if err != nil {
			return "", err
		}
		id = made.ID
	}
	found, err := call(ctx, p, "look at the volume", func(ctx context.Context) (client.VolumeInspectResult, error) {
		return p.engine.VolumeInspect(ctx, volume, client.VolumeInspectOptions{})
	})
	if err != nil {
		return "", err
	}
	if found.Volume.Labels[labelHome] != n.nonce {
		return "", errors.Join(provider.ErrNoVolume, p.remove(ctx, id), p.removeVolume(ctx, volume))
	}
	return id, nil
}

// taken says who has the name of the container.
func (p *Provider) taken(ctx context.Context, id weir.ID) error {
	s, err := p.seeOne(ctx, id)
	switch {
	case err != nil:
		return err
	case s.container == nil:
		return problem.New(problem.Conflict, "rename or remove it", "the container %s is not of this installation", nameOf(id))
	}
	return errors.New("somebody else is starting it")
}

// Stop ends the container and removes it. Its home stays.
func (p *Provider) Stop(ctx context.Context, id weir.ID) error {
	return about("stop", p.stop(ctx, id))
}

func (p *Provider) stop(ctx context.Context, id weir.ID) error {
	s, err := p.seeOne(ctx, id)
	if err != nil {
		return err
	}
	// First nobody starts it again who meant this start.
	if err := p.retire(ctx, id, s); err != nil {
		return err
	}
	if c := s.container; c != nil {
		if c.State == container.StatePaused {
			if _, err := p.engine.ContainerUnpause(ctx, c.ID, client.ContainerUnpauseOptions{}); err != nil && !cerrdefs.IsConflict(err) && !cerrdefs.IsNotFound(err) {
				return p.fault("wake the container", err)
			}
		}
		if err := p.halt(ctx, c.ID); err != nil {
			return err
		}
		if err := p.remove(ctx, c.ID); err != nil {
			return err
		}
	}
	p.drop(id, nil)
	return p.disconnect(ctx, id)
}

// halt asks a container to end, and makes it if it does not.
func (p *Provider) halt(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(ctx, p.config.Grace+p.config.Call)
	defer cancel()
	seconds := int(p.config.Grace.Seconds())
	_, err := p.engine.ContainerStop(ctx, id, client.ContainerStopOptions{Timeout: &seconds})
	if cerrdefs.IsNotFound(err) {
		return nil
	}
	return p.fault("end the container", err)
}

// Logs writes the last lines that the container has printed.
func (p *Provider) Logs(ctx context.Context, id weir.ID, lines int, to io.Writer) error {
	s, err := p.seeOne(ctx, id)
	if err == nil && s.container != nil {
		err = p.print(ctx, s.container.ID, lines, to)
	}
	return about("logs", err)
}

func (p *Provider) print(ctx context.Context, id string, lines int, to io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, p.config.Call)
	defer cancel()
	log, err := p.engine.ContainerLogs(ctx, id, client.ContainerLogsOptions{ShowStdout: true, ShowStderr: true, Tail: strconv.Itoa(lines)})
	if err != nil {
		return p.fault("read the log", err)
	}
	_, err = stdcopy.StdCopy(to, to, log)
	return errors.Join(err, log.Close())
}
