package compose

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/weirhq/weir/internal/agent/driver"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/problem"
)

// command is the form of compose that this machine has.
type command struct {
	argv    []string
	version string
}

func (c command) String() string { return strings.Join(c.argv, " ") + " " + c.version }

// detect finds out which form there is. The plug-in comes first because it is the form
// that is still maintained.
func (d *Driver) detect(ctx context.Context) (command, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.command.argv != nil {
		return d.command, nil
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for _, argv := range [][]string{{"docker", "compose"}, {"docker-compose"}} {
		version, err := d.output(ctx, append(argv, "version", "--short"))
		if err == nil {
			d.command = command{argv, strings.TrimSpace(string(version))}
			d.cfg.Log.Info("compose is here", "command", d.command.String())
			return d.command, nil
		}
		if ctx.Err() != nil {
			return command{}, &problem.Problem{Kind: problem.Unreachable, What: "ask compose for its version: it does not answer", Err: err}
		}
	}
	return command{}, problem.New(problem.Failed, "install Docker's compose plug-in, or docker-compose", "there is no docker compose on this node")
}

// output runs a command and returns its output.
func (d *Driver) output(ctx context.Context, argv []string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...) // #nosec G204 -- docker, with names that were checked
	cmd.Env = d.environment()
	cmd.Dir = d.cfg.Folder
	var both bytes.Buffer
	cmd.Stdout, cmd.Stderr = &both, &both
	// A child of the command may keep its output open after the command was killed.
	cmd.WaitDelay = 5 * time.Second
	err := cmd.Run()
	return both.Bytes(), err
}

// environment returns the variables that compose needs, and no others that a compose file
// could pass on to a service, because the agent's own environment may contain secrets.
func (d *Driver) environment() []string {
	var env []string
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "XDG_RUNTIME_DIR", "DOCKER_HOST", "DOCKER_CONFIG", "DOCKER_CERT_PATH", "DOCKER_TLS_VERIFY"} {
		if value, ok := os.LookupEnv(name); ok && (name != "DOCKER_HOST" || d.cfg.Host == "") {
			env = append(env, name+"="+value)
		}
	}
	if d.cfg.Host != "" {
		env = append(env, "DOCKER_HOST="+d.cfg.Host)
	}
	return env
}

// compose runs a compose command for the service of a target and returns its output.
func (d *Driver) compose(ctx context.Context, t target, limit time.Duration, args ...string) ([]byte, error) {
	form, err := d.detect(ctx)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	argv := append(append([]string{}, form.argv...), "--project-name", t.Project, "--file", t.File)
	argv = append(append(argv, args...), t.Service)
	text, err := d.output(ctx, argv)
	if err == nil {
		return text, nil
	}
	p := &problem.Problem{Kind: problem.Failed, Err: err, What: fmt.Sprintf("%s %s %s: %v", strings.Join(form.argv, " "), args[0], t.Service, err)}
	last := lastLine(text)
	if last != "" {
		p.What += ": " + last
	}
	switch low := strings.ToLower(string(text)); {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		p.Kind, p.What = problem.Unreachable, fmt.Sprintf("%s %s %s: not done within %v", strings.Join(form.argv, " "), args[0], t.Service, limit)
	case ctx.Err() != nil:
		return text, ctx.Err()
	case strings.Contains(low, "no such service"):
		p.Kind, p.Field, p.Next = problem.NotFound, "compose.service", "name a service of "+t.File
	case strings.Contains(low, "couldn't connect to docker") || strings.Contains(low, "cannot connect to the docker"):
		p.Kind, p.Next = problem.Unreachable, "start the engine, and let the agent's user use its socket"
		return text, &driver.Broken{Fault: node.EngineAway, Err: p}
	}
	return text, p
}

func lastLine(text []byte) string {
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
