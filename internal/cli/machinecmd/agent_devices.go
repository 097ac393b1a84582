package machinecmd

import (
	"cmp"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/node"
)

// deviceFlags are what the agent of a PC is told about its devices.
type deviceFlags struct {
	pc, devices string
	slots       int
	// limited: slots was given.
	limited func() bool
	// took is how long attempts on simulated devices take: 2s-20s.
	took string
}

func (f *agentFlags) addDevices(flags *pflag.FlagSet) {
	d, s := &f.device, &f.config.Simulate
	d.limited = func() bool { return flags.Changed("slots") }
	flags.StringVar(&d.pc, "pc", "", "`name` of the PC that devices hang on; the same as --node")
	flags.IntVar(&d.slots, "slots", 0, "how many of its devices work at once: `N`; default: as weir fleet policy says")
	flags.StringVar(&d.devices, "devices", "", "where its devices are found: a YAML `file`, adb, or a command that prints them")
	flags.StringArrayVar(&f.config.Forwards, "forward", nil, "`port` of its devices that people may reach by weir device forward, and where it leads: '5555={target}', '5555={label.KEY}', 5555=HOST:PORT, or the same port of this machine: 8000-8010; may be repeated; default: none")
	flags.IntVar(&s.Devices, "simulate", 0, "serve `N` simulated devices instead of real ones")
	flags.Uint64Var(&s.Seed, "simulate-seed", 1, "`number` that decides what happens to them: the same one, the same again")
	flags.Float64Var(&s.Fail, "simulate-fail", 0, "`share` of their attempts that fail, from 0 to 1")
	flags.Float64Var(&s.Infra, "simulate-infra", 0, "`share` of their attempts that fail because of the connection")
	flags.Float64Var(&s.Hang, "simulate-hang", 0, "`share` of their attempts that never end by themselves")
	flags.Float64Var(&s.Flap, "simulate-flap", 0, "`share` of minutes in which a device is lost for a while")
	flags.Float64Var(&s.HubFlap, "simulate-hub-flap", 0, "`share` of minutes in which a hub with seven of them is")
	flags.Float64Var(&s.Bad, "simulate-bad", 0, "`share` of them on which every attempt fails")
	flags.StringVar(&d.took, "simulate-time", "2s-20s", "how long their attempts take: `FROM-TO`")
}

// readDevices makes a PC of the agent, if it is one.
func (f *agentFlags) readDevices(c *app.AgentConfig) error {
	d := f.device
	if c.Node != "" && d.pc != "" && c.Node != d.pc {
		return command.Invalid("leave --node out", "--pc %s and --node %s are two names for one machine", d.pc, c.Node)
	}
	c.Node = cmp.Or(d.pc, c.Node)
	if d.devices == "" && c.Simulate.Devices == 0 {
		switch {
		case len(c.Forwards) > 0:
			return command.Invalid("make this machine a PC: --pc NAME --devices devices.yaml", "--forward is for the devices of a PC, and there are none")
		case d.slots != 0 && d.pc == "":
			return command.Invalid("make this machine a PC: --pc NAME --devices devices.yaml", "--slots is for the devices of a PC, and there are none")
		case d.pc != "":
			return command.Invalid("say where its devices are: --devices devices.yaml, --devices adb, or --simulate 30", "--pc %s has no devices", d.pc)
		case c.Slots[node.Fleet] > 0:
			return command.Invalid("make this machine a PC: --pc NAME --devices devices.yaml", "--service: tasks of %s run on devices, and there are none", node.Fleet)
		}
		return nil
	}
	if d.devices != "" && c.Simulate.Devices != 0 {
		return command.Invalid("leave one of them out", "--devices and --simulate are two sources of devices")
	}
	if d.slots < 0 || d.slots > node.DevicesMost || d.slots == 0 && d.limited() {
		return command.Invalid("give a number from 1 to 1000; 20 is usual", "--slots: %d devices cannot work at once", d.slots)
	}
	c.Devices, c.DeviceSlots = d.devices, d.slots
	return f.readTook(c)
}

// readTook reads how long attempts on simulated devices take.
func (f *agentFlags) readTook(c *app.AgentConfig) (err error) {
	const next = "write it so: --simulate-time 2s-20s"
	from, to, both := strings.Cut(f.device.took, "-")
	if !both {
		to = from
	}
	if c.Simulate.Shortest, err = time.ParseDuration(strings.TrimSpace(from)); err == nil {
		c.Simulate.Longest, err = time.ParseDuration(strings.TrimSpace(to))
	}
	if err != nil || c.Simulate.Shortest <= 0 || c.Simulate.Longest < c.Simulate.Shortest {
		return command.Invalid(next, "--simulate-time: %q is no span of time", f.device.took)
	}
	return nil
}
