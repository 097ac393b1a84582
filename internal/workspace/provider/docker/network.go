package docker

import (
	"context"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/moby/moby/client"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/problem"
)

// connect makes the network of a workspace, if each has its own.
func (p *Provider) connect(ctx context.Context, id weir.ID) error {
	if p.config.Network != NetworkOwn {
		return nil
	}
	name := nameOf(id, "net")
	switch ours, err := p.network(ctx, name); {
	case err != nil:
		return err
	case ours:
		return nil
	}
	_, err := call(ctx, p, "make the network", func(ctx context.Context) (client.NetworkCreateResult, error) {
		return p.engine.NetworkCreate(ctx, name, client.NetworkCreateOptions{
			Driver: "bridge", Labels: p.labels(id, roleNetwork),
			Options: map[string]string{"com.docker.network.bridge.enable_icc": "false"},
		})
	})
	return err
}

// network: there is one of this name, and it is ours.
func (p *Provider) network(ctx context.Context, name string) (bool, error) {
	found, err := call(ctx, p, "look at the network", func(ctx context.Context) (client.NetworkInspectResult, error) {
		return p.engine.NetworkInspect(ctx, name, client.NetworkInspectOptions{})
	})
	switch {
	case cerrdefs.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, err
	case found.Network.Labels[labelInstall] != p.config.Install:
		return false, problem.New(problem.Conflict, "rename or remove it", "the network %s is not of this installation", name)
	}
	return true, nil
}

// disconnect removes the network of a workspace, which may be of a time when each had its
// own.
func (p *Provider) disconnect(ctx context.Context, id weir.ID) error {
	name := nameOf(id, "net")
	if ours, err := p.network(ctx, name); err != nil || !ours {
		return err
	}
	_, err := call(ctx, p, "remove the network", func(ctx context.Context) (client.NetworkRemoveResult, error) {
		return p.engine.NetworkRemove(ctx, name, client.NetworkRemoveOptions{})
	})
	if cerrdefs.IsNotFound(err) {
		return nil
	}
	return err
}
