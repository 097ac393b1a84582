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

// Config is what the operator of the machine says. The zero value works, but
// for Agent.
type Config struct {
	// Host is the engine's address. Empty: DOCKER_HOST, or the usual socket.
	// It must be on this machine, since containers get a folder of it.
	Host string
	// Agent names this agent: the same over restarts, and no other agent that
	// uses the same engine has it. Containers are found again by it.
	Agent string
	// Images are patterns of what may run: * stands for anything but a slash,
	// ** for anything. Without a tag it means every tag. Empty: every image.
	Images []string
	// Networks are the names of networks that a step may ask for, beside none. bridge
	// is one of them: from there a container reaches what this machine reaches, the
	// metadata address of a cloud too. A container never gets the machine's own network.
	Networks []string
	// Network is for steps that name none. Empty: none.
	Network string
	// Pull is missing, always or never.
	Pull string
	// Default is for steps that do not say, Max is what they may ask for. A zero
	// field of Default has a default of its own; of Max, it sets no limit.
	Default, Max Limits
	// ReadOnly makes the root of every container read only, with a small /tmp
	// in memory.
	ReadOnly bool
	// User runs every container as this user, in Docker's form "uid:gid". Empty:
	// the agent's own user, or, when that is root, the user of the image.
	User string

	// Call is the deadline of one call of the engine (30 s), PullTime that of a
	// pull (15 min). Patience is how long an engine that went away is waited for
	// (1 min).
	Call, PullTime, Patience time.Duration

	Log *slog.Logger
}

// Limits are what one container may use.
type Limits struct {
	// CPU is in cores.
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

// connect makes the client of an engine on this machine.
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
