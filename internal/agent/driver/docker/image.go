package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/moby/moby/client"

	"github.com/weirhq/weir/internal/problem"
)

// ensure makes sure that the engine has the image, and returns the image's properties.
// The messages of the pull go to the log.
func (d *Driver) ensure(ctx context.Context, image string, log io.Writer) (client.ImageInspectResult, error) {
	if d.cfg.Pull != PullAlways {
		found, err := d.inspectImage(ctx, image)
		switch {
		case err == nil:
			return found, d.named(image, found)
		case !cerrdefs.IsNotFound(err):
			return found, d.fault("look for image "+image, err)
		case d.cfg.Pull == PullNever:
			return found, &problem.Problem{
				Kind: problem.NotFound, Field: "image",
				What: "image: " + image + " is not on this node, and the node pulls none",
				Next: "load it there with docker load or docker pull", Err: err,
			}
		}
	}
	if err := d.pull(ctx, image, log); err != nil {
		return client.ImageInspectResult{}, err
	}
	found, err := d.inspectImage(ctx, image)
	if err != nil {
		return found, d.fault("look for image "+image, err)
	}
	return found, d.named(image, found)
}

func (d *Driver) inspectImage(ctx context.Context, image string) (client.ImageInspectResult, error) {
	ctx, cancel := context.WithTimeout(ctx, d.cfg.Call)
	defer cancel()
	return d.cli.ImageInspect(ctx, image)
}

// named refuses an image that the engine found by its id, because the list of allowed
// images contains names, and an id may look like a name.
func (d *Driver) named(image string, found client.ImageInspectResult) error {
	name, _, _ := strings.Cut(image, ":")
	if len(d.cfg.Images) == 0 || !strings.HasPrefix(strings.TrimPrefix(found.ID, "sha256:"), name) {
		return nil
	}
	return problem.Refuse("image", "give its name", "%s is the id of an image", image)
}

// pull fetches the image. It logs one line when a layer begins and one when the layer is
// complete.
func (d *Driver) pull(ctx context.Context, image string, log io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, d.cfg.PullTime)
	defer cancel()
	say(log, "pulling "+image)
	auth, err := credentials(image)
	if err != nil {
		say(log, err.Error())
	}
	answer, err := d.cli.ImagePull(ctx, image, client.ImagePullOptions{RegistryAuth: auth})
	if err != nil {
		return d.pullFault(ctx, image, err)
	}
	for message, err := range answer.JSONMessages(ctx) {
		switch {
		case err != nil:
			return d.pullFault(ctx, image, err)
		case message.Error != nil:
			return d.pullFault(ctx, image, message.Error)
		case message.Status == "Downloading", message.Status == "Extracting", message.Status == "Waiting", message.Status == "Verifying Checksum":
			// Progress messages arrive many times a second.
		case message.ID != "":
			say(log, message.ID+": "+message.Status)
		default:
			say(log, message.Status)
		}
	}
	return nil
}

// pullFault distinguishes an image that does not exist, which no other attempt will find,
// from a registry that cannot be reached.
func (d *Driver) pullFault(ctx context.Context, image string, err error) error {
	if client.IsErrConnectionFailed(err) {
		return d.fault("pull "+image, err)
	}
	if ctx.Err() != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &problem.Problem{
			Kind: problem.Unreachable, What: fmt.Sprintf("pull %s: not done within %v", image, d.cfg.PullTime),
			Next: "pull it on the node beforehand, or check the way to its registry", Err: err,
		}
	}
	text := err.Error()
	for _, sign := range []string{"manifest unknown", "not found", "repository does not exist", "pull access denied", "name unknown"} {
		if strings.Contains(text, sign) || cerrdefs.IsNotFound(err) {
			return &problem.Problem{
				Kind: problem.NotFound, Field: "image", What: "image: " + image + " does not exist, or this node may not have it: " + text,
				Next: "check its name and tag; for a private registry, run docker login on the node as the agent's user", Err: err,
			}
		}
	}
	return &problem.Problem{
		Kind: problem.Unreachable, What: "pull " + image + ": " + text,
		Next: "check the way from the node to the registry", Err: err,
	}
}

// say writes one line of the driver into the log of the work. Some of the text comes from
// a registry, so it is kept on one line, and never begins with the :: of a command.
func say(log io.Writer, text string) {
	_, _ = fmt.Fprintf(log, "docker: %s\n", strings.Join(strings.Fields(text), " ")) // an Output never fails
}
