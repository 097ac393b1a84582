package docker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/moby/moby/client"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/workspace/home"
	"github.com/weirhq/weir/internal/workspace/provider"
)

// Pull policies.
const (
	PullMissing = "missing" // when the engine does not have it; the default
	PullAlways  = "always"
	PullNever   = "never"
)

// Networks that have a meaning of their own.
const (
	NetworkNone = "none" // the default
	NetworkOwn  = "own"  // each workspace has one that no other is on
)

// Config is what the operator says. The zero value works, but for Install.
type Config struct {
	// Install names this installation: the same over restarts, and no other one that uses
	// the same engine has it.
	Install string
	// Host is the engine's address. Empty: DOCKER_HOST, or the usual socket.
	Host string
	// Program is a static Linux binary that runs package program after Args. It becomes
	// the image of the built-in workspace. Empty: this one.
	Program string
	Args    []string
	// Images are patterns of what else may run: * stands for anything but a slash, ** for
	// anything. Without a tag it means every tag. Empty: only the built-in workspace.
	Images []string
	// Pull is missing, always or never.
	Pull string
	// Network is none, own, or the name of one that the operator has made.
	Network string
	// CPU is in cores (2), Memory in bytes (2 GiB, no swap on top), Pids counts processes
	// and threads (512).
	CPU    float64
	Memory int64
	Pids   int64
	// Grace is how long a container may take to end (10 s), Call how long one call of the
	// engine may (30 s), PullTime a pull (15 min), Stall how long an archive may go
	// without a byte (5 min).
	Grace, Call, PullTime, Stall time.Duration
	// Limits bound a home that is archived or brought back.
	Limits home.Limits
	Log    *slog.Logger
}

func (c Config) filled() Config {
	set(&c.Pull, PullMissing)
	set(&c.Network, NetworkNone)
	set(&c.CPU, 2)
	set(&c.Memory, 2<<30)
	set(&c.Pids, 512)
	set(&c.Grace, 10*time.Second)
	set(&c.Call, 30*time.Second)
	set(&c.PullTime, 15*time.Minute)
	set(&c.Stall, 5*time.Minute)
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

// leastMemory is the smallest that the engine takes.
const leastMemory = 6 << 20

func (c Config) check() error {
	switch {
	case c.Install == "":
		return problem.Refuse("install", "give it the name of this installation", "workspaces in Docker need a name to be found again by")
	case !slices.Contains([]string{PullMissing, PullAlways, PullNever}, c.Pull):
		return problem.Refuse("pull", "use missing, always or never", "%q is no pull policy", c.Pull)
	case c.Network == "host", c.Network == "default", strings.ContainsAny(c.Network, ":/"):
		return problem.Refuse("network", "use none, own or the name of a network", "%q would give workspaces a network that is not theirs", c.Network)
	case c.CPU < 0, c.Memory < leastMemory, c.Pids < 1:
		return problem.Refuse("limits", "give at least a part of a core, 6 MiB and one process", "nothing runs within %v cores, %d bytes and %d processes", c.CPU, c.Memory, c.Pids)
	}
	return nil
}

// Provider runs workspaces in containers.
type Provider struct {
	config Config
	engine *client.Client
	tool   tool
	// life ends with Close, and with it what is being opened.
	life context.Context
	end  context.CancelFunc
	busy sync.WaitGroup

	mu sync.Mutex
	// ways lead into the containers that were dialed.
	ways map[weir.ID]*way
}

var _ provider.Provider = (*Provider)(nil)

// New makes a provider. The engine need not be there yet: Check asks it.
func New(c Config) (*Provider, error) {
	c = c.filled()
	if err := c.check(); err != nil {
		return nil, err
	}
	options := []client.Opt{client.FromEnv}
	if c.Host != "" {
		options = []client.Opt{client.WithHost(c.Host)}
	}
	engine, err := client.New(options...)
	if err != nil {
		return nil, &problem.Problem{Kind: problem.Invalid, Field: "host", What: "the address of Docker: " + err.Error(), Next: "use unix:///path/to/docker.sock", Err: err}
	}
	p := &Provider{config: c, engine: engine, tool: tool{turn: make(chan struct{}, 1)}, ways: map[weir.ID]*way{}}
	p.life, p.end = context.WithCancel(context.Background())
	return p, nil
}

// Close ends the ways into the containers, which run on.
func (p *Provider) Close() error {
	p.mu.Lock()
	ways := p.ways
	p.ways = nil
	p.mu.Unlock()
	p.end()
	p.busy.Wait()
	for _, w := range ways {
		w.close()
	}
	return p.engine.Close()
}

// Name is "docker".
func (*Provider) Name() string { return "docker" }

// Check says why it cannot work.
func (p *Provider) Check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, p.config.Call)
	defer cancel()
	answer, err := p.engine.Ping(ctx, client.PingOptions{NegotiateAPIVersion: true})
	if err != nil {
		return p.fault("ask Docker", err)
	}
	if answer.OSType != "" && answer.OSType != "linux" {
		return problem.New(problem.Failed, "switch it to Linux containers", "Docker runs %s containers here", answer.OSType)
	}
	_, err = p.program()
	return err
}

// fault says what an error of the engine means to a person.
func (p *Provider) fault(op string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled):
	case errors.Is(err, context.DeadlineExceeded):
		return &problem.Problem{Kind: problem.Unreachable, What: op + ": Docker does not answer at " + p.engine.DaemonHost(), Next: "look at the engine: does docker ps work there?", Err: err}
	case client.IsErrConnectionFailed(err):
		return &problem.Problem{Kind: problem.Unreachable, What: op + ": Docker cannot be reached at " + p.engine.DaemonHost(), Next: "start the engine, and let the server's user use its socket", Err: err}
	}
	return fmt.Errorf("%s: %w", op, err)
}

// call gives one call of the engine its time.
func call[T any](ctx context.Context, p *Provider, op string, do func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, p.config.Call)
	defer cancel()
	answer, err := do(ctx)
	return answer, p.fault(op, err)
}
