package docker

import (
	"context"
	"errors"
	"fmt"
	"strings"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/moby/moby/client"

	"github.com/weirhq/weir/internal/agent/driver"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/problem"
)

// fault translates an error of the engine into a problem for people. Unreachable means
// that the engine did not answer and may have done what was asked.
func (d *Driver) fault(op string, err error) error {
	own := new(problem.Problem)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &own), errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, context.DeadlineExceeded):
		return d.away(op, err, "Docker does not answer at %s", "look at the engine: does docker ps work on this machine?")
	case client.IsErrConnectionFailed(err):
		return d.away(op, err, "Docker cannot be reached at %s", "start the engine, and let the agent's user use its socket")
	case strings.Contains(err.Error(), "no space left on device"): // the kernel's words: the engine's API has no code for it
		return &driver.Broken{Fault: node.DiskFull, Err: &problem.Problem{Kind: problem.Failed, What: op + ": " + err.Error(), Next: "free space on the engine's disk", Err: err}}
	case cerrdefs.IsNotFound(err):
		return &problem.Problem{Kind: problem.NotFound, What: op + ": " + err.Error(), Err: err}
	case cerrdefs.IsInvalidArgument(err):
		return &problem.Problem{Kind: problem.Invalid, What: op + ": " + err.Error(), Next: "mend the step", Err: err}
	}
	return &problem.Problem{Kind: problem.Failed, What: op + ": " + err.Error(), Err: err}
}

func (d *Driver) away(op string, err error, what, next string) error {
	return &driver.Broken{Fault: node.EngineAway, Err: &problem.Problem{
		Kind: problem.Unreachable, What: op + ": " + fmt.Sprintf(what, d.cli.DaemonHost()), Next: next, Err: err,
	}}
}
