package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	osexec "os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weirhq/weir/internal/agent"
	"github.com/weirhq/weir/internal/agent/device/simulate"
	"github.com/weirhq/weir/internal/agent/driver"
	"github.com/weirhq/weir/internal/agent/driver/compose"
	"github.com/weirhq/weir/internal/agent/driver/docker"
	"github.com/weirhq/weir/internal/agent/driver/exec"
	"github.com/weirhq/weir/internal/agent/driver/http"
	"github.com/weirhq/weir/internal/agent/remote"
	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/listen"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/pg"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/vault"
)

const (
	// agentFolder is where an agent keeps its own things below a data folder.
	agentFolder = "agent"
	// agentConns is enough for an agent: it batches what it says.
	agentConns = 6
	// slotsAtLeast is how many tasks of a driver run at once on a small machine.
	slotsAtLeast = 4
	// checkWithin is how long a driver may take to say whether it works here.
	checkWithin = 10 * time.Second
	// sleepWithin is how long the command may take that sends a machine to sleep.
	sleepWithin = time.Minute
)

// Keeper gives the process to one of the agent's keepers, if that is what it was
// started as. Call it first thing in main: see packages exec and docker.
func Keeper() {
	exec.KeeperMain()
	docker.WardenMain()
}

// AgentConfig is what an agent is told about its machine.
type AgentConfig struct {
	// Node is the name of the machine. Empty: the configuration's.
	Node   string
	Labels map[string]string
	// Slots says how many tasks of each service may run at once. Empty: the
	// drivers that work here, under their own names.
	Slots map[string]int
	// Runs says how to run tasks of a service that do not say so themselves.
	Runs map[string]node.Run
	// Dir is the agent's folder. Empty: one below the data folder.
	Dir string
	// Join is a one-time token to join a server with; CA, Plain: see remote.Config.
	Join, CA string
	Plain    bool
	// SleepCommand sends the machine to sleep when the server says so: a list of
	// arguments, no shell. Empty: it stays awake.
	SleepCommand []string
	// FinishOnTerm lets SIGTERM finish what runs, as Ctrl-C does, instead of leaving it
	// running for the next start.
	FinishOnTerm bool
	// RunAs is the user that work without a container runs as.
	RunAs string
	// Docker and HTTP are what the operator allows containers and calls;
	// ComposeFolder has the files of services that may be started.
	Docker        docker.Config
	HTTP          http.Config
	ComposeFolder string
	// Devices is where the devices of a PC are found: see device.Open. Simulate has
	// devices that are not there instead. DeviceSlots is how many work at once. Zero: 20.
	Devices     string
	DeviceSlots int
	// Forwards are the ports of its devices that people may reach: see
	// [agent.ParseForwards].
	Forwards []string
	Simulate simulate.Config

	// lease and keep are settings of the machine.
	lease, keep time.Duration
	// patience and enduring are for the agent in a server's own process, whose end would
	// be that of the server.
	patience time.Duration
	enduring bool
}

// from fills in what the machine's settings say and the flags do not.
func (c AgentConfig) from(machine Config) AgentConfig {
	c.Node = cmp.Or(c.Node, machine.NodeName)
	if len(c.Labels) == 0 {
		c.Labels = machine.NodeLabels
	}
	if len(c.Slots) == 0 && len(machine.NodeServices) > 0 {
		c.Slots = map[string]int{}
		for service, n := range machine.NodeServices {
			c.Slots[service], _ = strconv.Atoi(n) // it was validated
		}
	}
	c.lease, c.keep = machine.AgentLease, max(machine.AgentKeep, 0)
	return c
}

// Agent is an agent that was set up and is yet to run.
type Agent struct {
	agent *agent.Agent
	info  node.Info
	// devices names where its devices come from; empty: it has none.
	devices string
	// Missing says why drivers do not work here.
	Missing map[string]string
	// Isolation says how the processes of an attempt are held together.
	Isolation string
	close     []func()
}

// Describe says what it serves, for people.
func (a *Agent) Describe() string {
	var slots []string
	for _, service := range slices.Sorted(maps.Keys(a.info.Capacity)) {
		n := a.info.Capacity[service]
		if service == node.Fleet && n == node.DevicesMost {
			slots = append(slots, service) // as many as the server says
			continue
		}
		slots = append(slots, fmt.Sprintf("%s=%d", service, n))
	}
	text := fmt.Sprintf("node %s, %s", a.info.Name, strings.Join(slots, " "))
	if a.devices != "" {
		text += ", devices: " + a.devices
	}
	return text
}

// Run works until ctx ends; then it finishes what runs, or leaves it running for the next
// start if leave says so. When force ends too it hands back what runs and leaves.
func (a *Agent) Run(ctx, force context.Context, leave func() bool) error {
	defer a.Close()
	defer context.AfterFunc(ctx, func() {
		if leave != nil && leave() {
			a.agent.Detach()
		} else {
			a.agent.Drain()
		}
	})()
	defer context.AfterFunc(force, a.agent.Leave)()
	return a.agent.Run(context.WithoutCancel(ctx))
}

// Detach leaves what runs to the next start, as far as it can be adopted, and ends Run.
func (a *Agent) Detach() { a.agent.Detach() }

// Left returns how many tasks run on after the agent has left.
func (a *Agent) Left() int { return a.agent.Left() }

// Close frees what an agent holds that did not run.
func (a *Agent) Close() {
	for _, f := range slices.Backward(a.close) {
		f()
	}
	a.close = nil
}

// NewAgent sets an agent up that reaches Weir as the target says: on its
// database, or through a server with the node's credential.
func NewAgent(ctx context.Context, c Config, t Target, a AgentConfig, version string, log *slog.Logger) (_ *Agent, err error) {
	a = a.from(c)
	if a.Dir == "" {
		a.Dir = filepath.Join(c.Data, agentFolder, a.Node)
	}
	if err := os.MkdirAll(a.Dir, 0o700); err != nil {
		return nil, problem.Refuse("dir", "name a folder that you may write to: --dir DIR", "the agent's folder: %v", err)
	}
	made := &Agent{}
	defer func() {
		if err != nil {
			made.Close()
		}
	}()
	var transport agent.Transport
	if t.Remote() {
		transport, err = remote.Open(ctx, remote.Config{Server: t.Server, Node: a.Node, CA: a.CA, Plain: a.Plain, Version: version, Log: log}, filepath.Join(a.Dir, "credential.json"), a.Join)
	} else {
		transport, err = made.database(ctx, t, a.Node, log)
	}
	if err != nil {
		return nil, err
	}
	return made, made.assemble(ctx, a, transport, version, log)
}

// database is the transport of an agent that has the database itself.
func (a *Agent) database(ctx context.Context, t Target, name string, log *slog.Logger) (agent.Transport, error) {
	pool, err := pg.Open(ctx, t.Database, pg.Options{Name: "weir agent", MaxConns: agentConns})
	if err != nil {
		return nil, err
	}
	a.close = append(a.close, pool.Close)
	listener := listen.New(pool.Config().ConnConfig, log)
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	heard := make(chan struct{})
	go func() {
		defer close(heard)
		_ = listener.Run(life) // its error is that we end
	}()
	hints := node.NewHints(pool, listener)
	a.close = append(a.close, func() {
		end()
		<-heard
		hints.Close()
	})
	options := node.Options{Hints: hints, Log: log}
	c, private := t.config, t.private()
	if at := c.bucketURL(private); at != "" {
		if options.Bucket, err = blob.Open(ctx, at); err != nil {
			return nil, err
		}
	}
	if c.SecretKeyFile != "" || private {
		keys, err := c.secretKeys(private)
		if err != nil {
			return nil, err
		}
		options.Vault = vault.New(pool, keys, log).Follow(c.keyFile(private))
	}
	return node.NewDesk(pool, name, options), nil
}

// assemble looks which drivers work here and makes the agent.
func (a *Agent) assemble(ctx context.Context, c AgentConfig, transport agent.Transport, version string, log *slog.Logger) error {
	// Work has folders of its own to start in, so ours have names that are good in all of them.
	for _, dir := range []*string{&c.Dir, &c.ComposeFolder} {
		if *dir == "" {
			continue
		}
		whole, err := filepath.Abs(*dir)
		if err != nil {
			return err
		}
		*dir = whole
	}
	drivers, missing, err := c.drivers(ctx, log)
	if err != nil {
		return err
	}
	a.Missing = missing
	for _, d := range drivers {
		if i, ok := d.(driver.Isolator); ok {
			a.Isolation = i.Isolation()
		}
	}
	c.serveDevices()
	a.info = node.Info{Name: c.Node, Labels: c.Labels, Capacity: c.Slots, Drivers: slices.Sorted(maps.Keys(drivers)), Version: version}
	if len(a.info.Capacity) == 0 {
		a.info.Capacity = map[string]int{}
		for _, name := range a.info.Drivers {
			if _, ok := missing[name]; ok {
				continue
			}
			a.info.Capacity[name] = max(slotsAtLeast, runtime.NumCPU())
		}
	}
	config := agent.Config{
		Transport: transport, Info: a.info, Drivers: drivers, Services: c.Runs, Dir: c.Dir, Log: log,
		Lease: c.lease, Keep: c.keep, Patience: c.patience, Enduring: c.enduring,
	}
	if err := a.addDevices(&c, &config); err != nil {
		return err
	}
	if len(c.SleepCommand) > 0 {
		config.Sleep = func() { sleep(context.WithoutCancel(ctx), c.SleepCommand, log) }
	}
	a.agent = agent.New(config)
	return nil
}

// sleep runs the operator's command. What it does to the machine, the agent
// finds out by its clock.
func sleep(ctx context.Context, argv []string, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(ctx, sleepWithin)
	defer cancel()
	// #nosec G204 -- the operator of this machine gave the command as a flag
	if out, err := osexec.CommandContext(ctx, argv[0], argv[1:]...).CombinedOutput(); err != nil {
		log.Error("the command that sends this machine to sleep failed", "error", err, "output", string(out[:min(len(out), 1000)]))
	}
}

// drivers are those that this machine may have; missing says why some of them do not work
// now. The agent asks them again.
func (c AgentConfig) drivers(ctx context.Context, log *slog.Logger) (drivers map[string]driver.Driver, missing map[string]string, err error) {
	who := c.Node + "@" + c.Dir
	c.Docker.Agent, c.Docker.Log = who, log
	containers, err := docker.New(c.Docker)
	if err != nil {
		return nil, nil, err
	}
	services, err := compose.New(compose.Config{
		Folder: c.ComposeFolder, Notes: filepath.Join(c.Dir, "compose"), Agent: who, Host: c.Docker.Host, HTTP: c.HTTP, Log: log,
	})
	if err != nil {
		return nil, nil, err
	}
	calls, err := http.New(c.HTTP)
	if err != nil {
		return nil, nil, err
	}
	drivers, missing = map[string]driver.Driver{}, map[string]string{}
	for _, d := range []driver.Driver{exec.New(exec.Options{Dir: agent.Attempts(c.Dir), RunAs: c.RunAs}), containers, services, calls} {
		ctx, cancel := context.WithTimeout(ctx, checkWithin)
		err := d.Check(ctx)
		cancel()
		if err != nil {
			missing[d.Name()] = problem.Explain(err).What
		}
		if err == nil || d != driver.Driver(services) || c.ComposeFolder != "" {
			drivers[d.Name()] = d
			continue
		}
		if closer, ok := d.(interface{ Close() error }); ok {
			err = errors.Join(err, closer.Close())
		}
		log.Debug("a driver does not work here", "driver", d.Name(), "error", err)
	}
	return drivers, missing, nil
}

// startAgent runs an agent on this machine, in the server's own process.
func (s *Server) startAgent(ctx context.Context, p *parts) (string, error) {
	config := AgentConfig{Dir: filepath.Join(s.config.Data, agentFolder, s.config.NodeName)}.from(s.config)
	if err := os.MkdirAll(config.Dir, 0o700); err != nil {
		return "", fmt.Errorf("make the agent's folder: %w", err)
	}
	config.patience, config.enduring = s.options.agentPatience, true
	a := &Agent{}
	if err := a.assemble(ctx, config, p.desk(config.Node), s.options.Version, s.log); err != nil {
		return "", err
	}
	p.agent, p.left = a, make(chan struct{})
	s.group.Go(func() {
		defer close(p.left)
		if err := a.Run(context.WithoutCancel(ctx), context.Background(), nil); err != nil && !s.stopping.Load() {
			s.failed <- fmt.Errorf("the agent of this machine: %w", err)
		}
	})
	// Nobody asked for compose here: it needs a folder.
	if why, ok := a.Missing["docker"]; ok {
		return a.Describe() + "; without docker: " + why, nil
	}
	return a.Describe(), nil
}

// stopAgent lets the agent leave. Its work goes on where the next start can adopt it.
func (s *Server) stopAgent(p *parts) error {
	return s.say.step("Stopping the agent", func() (string, error) {
		p.agent.Detach()
		select {
		case <-p.left:
			switch n := p.agent.Left(); n {
			case 0:
				return "it leaves no work running", nil
			case 1:
				return "1 task runs on; start again soon to go on with it", nil
			default:
				return fmt.Sprintf("%d tasks run on; start again soon to go on with them", n), nil
			}
		case <-s.options.Force.Done():
			return "left", nil
		}
	})
}
