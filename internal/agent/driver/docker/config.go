package docker

import (
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/moby/moby/client"

	"github.com/weirhq/weir/internal/problem"
)

// Pull policies.
const (
	PullMissing = "missing" // when the engine does not have it; the default
	PullAlways  = "always"
	PullNever   = "never"
)

// Config is set by the operator of the machine. The zero value works, except that Agent
// is required.
type Config struct {
	// Host is the engine's address. Empty means DOCKER_HOST, or the default socket. The
	// engine must be on this machine because containers mount a folder of the machine.
	Host string
	// Agent names this agent. It stays the same over restarts, and no other agent of the
	// same engine has it. The driver finds its containers by it.
	Agent string
	// Images are patterns of the images that may run: * stands for anything but a slash,
	// ** for anything. A pattern without a tag allows every tag. Empty means every image.
	Images []string
	// Networks are the names of networks that a step may ask for, besides none. bridge is
	// one of them: from there a container reaches what this machine reaches, including
	// the metadata address of a cloud. A container never gets the machine's own network.
	Networks []string
	// Network is for steps that name none. Empty means none.
	Network string
	// Pull is missing, always or never.
	Pull string
	// Default is for steps without limits, and Max is the most that steps may ask for. A
	// zero field of Default has a default of its own; a zero field of Max sets no limit.
	Default, Max Limits
	// ReadOnly makes the root file system of every container read-only, with a small /tmp
	// in memory.
	ReadOnly bool
	// User runs every container as this user, in Docker's form "uid:gid". Empty means the
	// agent's own user or, if that is root, the user of the image.
	User string

	// Call is the timeout of one call to the engine (30 s), and PullTime is that of a
	// pull (15 min). Patience is how long the driver waits for an engine that went away
	// (1 min).
	Call, PullTime, Patience time.Duration

	Log *slog.Logger
}

// Limits are the resources that one container may use.
type Limits struct {
	// CPU is the number of cores.
	CPU float64
	// Memory is in bytes. There is no swap on top of it.
	Memory int64
	// Pids counts processes and threads.
	Pids int64
}

func (c Config) withDefaults() Config {
	set(&c.Pull, PullMissing)
	set(&c.Network, "none")
	set(&c.Default.CPU, 1)
	set(&c.Default.Memory, 2<<30)
	set(&c.Default.Pids, 512)
	set(&c.Call, 30*time.Second)
	set(&c.PullTime, 15*time.Minute)
	set(&c.Patience, time.Minute)
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

func set[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

func (c Config) check() error {
	switch {
	case c.Agent == "":
		return problem.Refuse("agent", "give it the name of the node", "the docker driver needs a name for its containers")
	case !slices.Contains([]string{PullMissing, PullAlways, PullNever}, c.Pull):
		return problem.Refuse("pull", "use missing, always or never", "%q is no pull policy", c.Pull)
	}
	for _, name := range append(c.Networks, c.Network) {
		if shared(name) {
			return problem.Refuse("networks", "leave it out", "%q would give containers a network that is not theirs", name)
		}
	}
	return c.Default.within(c.Max)
}

// connect returns the client of an engine on this machine.
func (c Config) connect() (*client.Client, error) {
	options := []client.Opt{client.FromEnv}
	if c.Host != "" {
		options = []client.Opt{client.WithHost(c.Host)}
	}
	cli, err := client.New(options...)
	if err != nil {
		return nil, &problem.Problem{Kind: problem.Invalid, Field: "host", What: "the address of Docker: " + err.Error(), Next: "use unix:///path/to/docker.sock", Err: err}
	}
	if host := cli.DaemonHost(); !strings.HasPrefix(host, "unix://") && !strings.HasPrefix(host, "npipe://") {
		_ = cli.Close() // it has not been used
		return nil, problem.Refuse("host", "run an agent on that machine", "Docker at %s is on another machine, and containers get a folder of this one", host)
	}
	return cli, nil
}
