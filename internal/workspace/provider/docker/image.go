package docker

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/moby/moby/client"

	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/workspace/provider"
)

const (
	// defaultHome and defaultPort are where an image has its home and is served, unless
	// its labels say another.
	defaultHome = "/home/workspace"
	defaultPort = 8080

	imageHome = "weir.workspace.home"
	imagePort = "weir.workspace.port"
)

// image is what a container is made of.
type image struct {
	name    string
	command []string
	home    string
	port    uint16
	// volumes are the places where it wants volumes of its own.
	volumes []string
}

// image sees to it that the engine has an image, and says how it is run. None: the
// built-in workspace.
func (p *Provider) image(ctx context.Context, asked string, tell func(string)) (image, error) {
	if asked == "" {
		command := p.command("serve", "--home", defaultHome, "--listen", "127.0.0.1:"+strconv.Itoa(defaultPort))
		for _, word := range p.command("shell") {
			command = append(command, "--shell", word)
		}
		return image{name: p.tool.image, command: command, home: defaultHome, port: defaultPort}, nil
	}
	name, err := p.config.allowed(asked)
	if err != nil {
		return image{}, err
	}
	found, err := p.ensure(ctx, name, tell)
	if err != nil {
		return image{}, err
	}
	// The list of allowed images is about names, and an id may look like one.
	if bare, _, _ := strings.Cut(name, ":"); strings.HasPrefix(strings.TrimPrefix(found.ID, "sha256:"), bare) {
		return image{}, fmt.Errorf("%w: %s is the id of one, give its name", provider.ErrImage, asked)
	}
	return read(name, found)
}

// read reads in an image how it is run.
func read(name string, found client.ImageInspectResult) (image, error) {
	i := image{name: name, home: defaultHome, port: defaultPort}
	if found.Config == nil {
		return i, nil
	}
	if at := found.Config.Labels[imageHome]; at != "" {
		if at = path.Clean(at); !path.IsAbs(at) || at == "/" || at == toolPath {
			return i, fmt.Errorf("%w: its label %s is no folder for a home", provider.ErrImage, imageHome)
		}
		i.home = at
	}
	var ports []uint16
	if text := found.Config.Labels[imagePort]; text != "" {
		port, err := strconv.ParseUint(text, 10, 16)
		if err != nil || port == 0 {
			return i, fmt.Errorf("%w: its label %s is no port", provider.ErrImage, imagePort)
		}
		ports = []uint16{uint16(port)}
	} else {
		for exposed := range found.Config.ExposedPorts {
			number, protocol, _ := strings.Cut(exposed, "/")
			if port, err := strconv.ParseUint(number, 10, 16); err == nil && port > 0 && (protocol == "" || protocol == "tcp") {
				ports = append(ports, uint16(port))
			}
		}
	}
	if len(ports) > 0 {
		i.port = slices.Min(ports)
	}
	for _, at := range slices.Sorted(maps.Keys(found.Config.Volumes)) {
		if path.Clean(at) != i.home {
			i.volumes = append(i.volumes, path.Clean(at))
		}
	}
	return i, nil
}

// ensure pulls an image if need be.
func (p *Provider) ensure(ctx context.Context, name string, tell func(string)) (client.ImageInspectResult, error) {
	inspect := func(ctx context.Context) (client.ImageInspectResult, error) { return p.engine.ImageInspect(ctx, name) }
	if p.config.Pull != PullAlways {
		found, err := call(ctx, p, "look for the image", inspect)
		switch {
		case err == nil || !cerrdefs.IsNotFound(err):
			return found, err
		case p.config.Pull == PullNever:
			return found, fmt.Errorf("%w: %s is not on the machine, which pulls none: load it there with docker pull", provider.ErrImage, name)
		}
	}
	if err := p.pull(ctx, name, tell); err != nil {
		return client.ImageInspectResult{}, err
	}
	return call(ctx, p, "look for the image", inspect)
}

// pull fetches an image. It tells whenever some of it has come.
func (p *Provider) pull(ctx context.Context, name string, tell func(string)) error {
	ctx, cancel := context.WithTimeout(ctx, p.config.PullTime)
	defer cancel()
	answer, err := p.engine.ImagePull(ctx, name, client.ImagePullOptions{})
	if err != nil {
		return p.pullFault(name, err)
	}
	layers := map[string]int64{} // how far each is, by what is done with it
	for message, err := range answer.JSONMessages(ctx) {
		if err == nil && message.Error != nil {
			err = message.Error
		}
		if err != nil {
			return p.pullFault(name, err)
		}
		part := message.Status + " " + message.ID
		if far := message.Progress; tell != nil && far != nil && far.Current > layers[part] {
			layers[part] = far.Current
			tell(fmt.Sprintf("pulls %s: %s", name, strings.ToLower(message.Status)+" "+message.ID))
		}
	}
	return nil
}

// pullFault tells an image that does not exist, which no other try will find, from a
// registry that cannot be reached.
func (p *Provider) pullFault(name string, err error) error {
	if client.IsErrConnectionFailed(err) || errors.Is(err, context.Canceled) {
		return p.fault("pull "+name, err)
	}
	text := err.Error()
	for _, sign := range []string{"manifest unknown", "not found", "repository does not exist", "access denied", "access to the resource is denied", "name unknown", "unauthorized"} {
		if cerrdefs.IsNotFound(err) || strings.Contains(text, sign) {
			return fmt.Errorf("%w: %s does not exist, or the machine may not have it: %s", provider.ErrImage, name, text)
		}
	}
	return &problem.Problem{Kind: problem.Unreachable, What: "pull " + name + ": " + text, Next: "check the way from the machine to the registry", Err: err}
}
