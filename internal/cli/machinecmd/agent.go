package machinecmd

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/command"
)

// agentFlags are what an agent is told.
type agentFlags struct {
	config         app.AgentConfig
	labels         []string
	services       []string
	servicesFile   string
	dockerNetworks []string
	device         deviceFlags
}

// Agent is the command weir agent.
func Agent(e *command.Env) *cobra.Command {
	var f agentFlags
	c := &cobra.Command{
		Use: "agent", Short: "Run an agent: this machine takes tasks and runs them", Args: e.NoArgs,
		Long: `Run an agent until Ctrl-C: this machine becomes a node, takes tasks and runs them
as commands, containers or calls.

It works on a database, or through a server: with --server and, the first time,
the one-time token of weir join create. The credential that it gets for that is
kept in its folder; after that it needs no --join.

Without --service it serves what works here under the names of the drivers: exec,
docker, compose, http. A file of services says how tasks of a service are run
that do not say so themselves:
  renderer: {slots: 2, run: {image: "registry.example/render:2", argv: [render]}}
  audio: {slots: 4, run: [ffmpeg-task]}

With --pc it serves the devices that hang on this machine: jobs of a fleet run on
them, one each. They are found in a file, by adb, or by a command that prints one
a line, as a serial or as JSON with serial, target, hub and labels:
  devices: [{serial: R58M123ABC, target: "192.168.1.20:5555", hub: hub-1, labels: {model: pixel-7}}]
Simulated devices need no phones: weir agent --pc PC-01 --simulate 30.

The first Ctrl-C lets it finish what runs; the second hands that back to others
and leaves.`,
		Example: "  weir agent --node gpu-1 --labels gpu=true,zone=eu --service renderer=2 --service audio=4\n  weir agent --server https://weir.example.org --join - <token\n  weir agent --services-file services.yaml --docker-image 'registry.example/**' --run-as worker\n  weir agent --pc PC-01 --slots 20 --devices adb\n  weir agent --pc PC-02 --simulate 30 --simulate-fail 0.05 --simulate-flap 0.01",
	}
	c.RunE = e.Run(func(cmd *cobra.Command, _ []string) error {
		config, err := f.read(e)
		if err != nil {
			return err
		}
		return runAgent(e, cmd, config)
	})
	flags := c.Flags()
	flags.StringVar(&f.config.Node, "node", "", "`name` of the node; default: that of this machine")
	flags.StringSliceVar(&f.labels, "labels", nil, "what tasks can ask for: `KEY=VALUE,…`")
	flags.StringArrayVar(&f.services, "service", nil, "service that it takes tasks of, and how many at once: `NAME=N`; may be repeated")
	flags.StringVar(&f.servicesFile, "services-file", "", "YAML `file` that says how services are run")
	flags.StringVar(&f.config.Join, "join", "", "one-time `token` to join a server; - reads it from standard input")
	flags.StringVar(&f.config.CA, "ca", "", "`file` with certificates to trust beside the machine's own")
	flags.BoolVar(&f.config.Plain, "plain", false, "let the credential go unencrypted over a network that you trust")
	flags.StringVar(&f.config.Dir, "dir", "", "the agent's `folder`; default: one in the data folder")
	flags.StringArrayVar(&f.config.SleepCommand, "sleep-command", nil, "`argument` of the command that sends this machine to sleep when the server says so; repeat it for each argument, there is no shell")
	flags.BoolVar(&f.config.FinishOnTerm, "finish-on-term", false, "let SIGTERM finish what runs, instead of leaving it running for the next start")
	flags.StringVar(&f.config.RunAs, "run-as", "", "`user` that commands run as")
	flags.StringVar(&f.config.Docker.Host, "docker-host", "", "`address` of the Docker engine; default: DOCKER_HOST, or the usual socket")
	flags.StringArrayVar(&f.config.Docker.Images, "docker-image", nil, "`pattern` of images that may run: * is anything but a slash, ** is anything; may be repeated; default: every image")
	flags.StringArrayVar(&f.dockerNetworks, "docker-network", nil, "`network` that steps in containers may ask for, such as bridge; may be repeated; default: none, so they reach nobody")
	flags.StringVar(&f.config.ComposeFolder, "compose-dir", "", "`folder` with the compose files whose services may be started")
	flags.StringArrayVar(&f.config.HTTP.Allow, "http-allow", nil, "`host`, address or range, with a port or without, that steps may call; may be repeated; default: this machine alone")
	f.addDevices(flags)
	command.SettingFlags(c, false, "bucket", "secret_key_file", "log_level", "log_format", "agent_lease", "agent_keep")
	return c
}

// read makes the configuration of the agent.
func (f *agentFlags) read(e *command.Env) (app.AgentConfig, error) {
	c := f.config
	c.Docker.Networks = f.dockerNetworks
	c.Labels = map[string]string{}
	for _, text := range f.labels {
		key, value, ok := strings.Cut(text, "=")
		if !ok || key == "" {
			return c, command.Invalid("write it so: --labels gpu=true,zone=eu", "--labels: %q is not KEY=VALUE", text)
		}
		c.Labels[key] = value
	}
	if f.servicesFile != "" {
		services, err := readServices(f.servicesFile, e.In)
		if err != nil {
			return c, err
		}
		c.Slots, c.Runs = services.slots, services.runs
	}
	for _, text := range f.services {
		name, count, many := strings.Cut(text, "=")
		slots := 1
		if many {
			var err error
			if slots, err = strconv.Atoi(count); err != nil || slots < 1 {
				return c, command.Invalid("write it so: --service renderer=2", "--service: %q is not NAME=N", text)
			}
		}
		if name == "" {
			return c, command.Invalid("write it so: --service renderer=2", "--service: %q has no name", text)
		}
		if c.Slots == nil {
			c.Slots = map[string]int{}
		}
		c.Slots[name] = slots
	}
	if err := f.readDevices(&c); err != nil {
		return c, err
	}
	if c.Join == "-" {
		token, err := e.StdinSecret("join")
		if err != nil {
			return c, err
		}
		c.Join = token
	}
	return c, nil
}

func runAgent(e *command.Env, cmd *cobra.Command, config app.AgentConfig) error {
	ctx := cmd.Context()
	c, _, err := app.Load(e.Source(cmd))
	if err != nil {
		return err
	}
	target, err := e.Target(cmd)
	if err != nil {
		return err
	}
	if target.Remote() {
		e.Asked = target.Server
	} else if config.Join != "" {
		return command.Invalid("give --server URL too, or leave --join out", "--join is for a server, and %s is a database", target.Asked())
	}
	agent, err := app.NewAgent(ctx, c, target, config, e.Version, c.Logger(e.Err))
	if err != nil {
		return err
	}
	o := e.Output()
	fmt.Fprintf(o.Out, "Agent of %s, at %s.\n", command.Clean(agent.Describe()), command.Clean(target.Asked()))
	for _, name := range slices.Sorted(maps.Keys(agent.Missing)) {
		fmt.Fprintf(o.Out, "  without %s: %s\n", name, command.Clean(agent.Missing[name]))
	}
	if agent.Isolation != "" {
		fmt.Fprintf(o.Out, "  isolation: %s\n", command.Clean(agent.Isolation))
	}
	fmt.Fprintln(o.Out, "Ctrl-C lets it finish what runs, twice hands that back. SIGTERM leaves it running for the next start.")
	leave := func() bool {
		s := new(command.Signaled)
		return errors.As(context.Cause(ctx), &s) && s.Signal == syscall.SIGTERM && !config.FinishOnTerm
	}
	defer context.AfterFunc(ctx, func() {
		if leave() {
			fmt.Fprintln(o.Err, "Leaving what runs to the next start.")
			return
		}
		fmt.Fprintln(o.Err, "Finishing what runs. Ctrl-C hands it back.")
	})()
	defer context.AfterFunc(e.Force, func() { fmt.Fprintln(o.Err, "Handing back what runs.") })()
	if err := agent.Run(ctx, e.Force, leave); err != nil {
		return err
	}
	if n := agent.Left(); n > 0 {
		fmt.Fprintf(o.Out, "The agent has left, and %d of its tasks run on: work ends with its lease, unless the agent starts again before.\n", n)
		return nil
	}
	fmt.Fprintln(o.Out, "The agent has left.")
	return nil
}
