package machinecmd

import (
	"context"
	"maps"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/node/wake"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/work"
)

// wakeFlags say how a node is woken.
type wakeFlags struct {
	method     work.WakeMethod
	sleepAfter string
	none       bool
}

// given says that any of them was given.
func (f *wakeFlags) given() bool {
	m := f.method
	return f.none || f.sleepAfter != "" || m.MAC != "" || m.URL != "" || m.Script != "" || len(m.Args) > 0 || m.Broadcast != "" || m.Interface != ""
}

// read makes the method: exactly one way to wake the node, or none.
func (f *wakeFlags) read() (m work.WakeMethod, err error) {
	m = f.method
	var ways []string
	for _, way := range []struct{ kind, value string }{{wake.WOL, m.MAC}, {wake.HTTP, m.URL}, {wake.Script, m.Script}} {
		if way.value != "" {
			ways = append(ways, way.kind)
		}
	}
	const next = "give one of --wake-mac, --wake-url, --wake-script and --no-wake"
	switch {
	case f.none && (len(ways) > 0 || f.sleepAfter != ""):
		return m, command.Invalid(next, "--no-wake leaves nothing else to say about waking")
	case f.none:
		return work.WakeMethod{Method: "none"}, nil
	case len(ways) > 1:
		return m, command.Invalid(next, "a node is woken in one way")
	case len(ways) == 0:
		return m, command.Invalid(next, "it is not said how the node is woken")
	}
	m.Method = ways[0]
	if f.sleepAfter != "" {
		span, err := app.ParseDuration(f.sleepAfter)
		if err != nil || span == app.Forever {
			return m, command.Invalid("write it so: --sleep-after 30m", "--sleep-after: %q is not a duration", f.sleepAfter)
		}
		m.SleepAfter = op.Period(span)
	}
	return m, nil
}

func nodeSet(e *command.Env) *cobra.Command {
	var f wakeFlags
	var add, capacity map[string]string
	c := &cobra.Command{
		Use: "set NAME", Short: "Change a node: its labels, how much it does at once, how it is woken", Args: e.Args("NAME"),
		Long: `Change a node while it works. Labels and capacities that are not named stay; one
without a value is taken away. What the node's agent is started with next comes
after it.

How it is woken is set as a whole: one way, and after how long with nothing to do
it may go to sleep. Scripts and addresses must be allowed on the server, with the
settings wake_scripts and wake_urls.`,
		Example: "  weir node set gpu-1 --label zone=eu --label old= --capacity render=2\n  weir node set gpu-1 --wake-mac 52:54:00:12:34:56 --sleep-after 30m\n  weir node set gpu-1 --wake-script power-on.sh --wake-arg rack-2\n  weir node set gpu-1 --no-wake",
		RunE: e.Session(func(ctx context.Context, s *app.Session, args []string) error {
			name := work.NamedNode{Node: args[0]}
			node, err := work.ShowNode.Call(ctx, s.Operations, &name)
			if err != nil {
				return err
			}
			change, err := nodeChange(node, add, capacity)
			if err != nil {
				return err
			}
			if change.Body.Labels == nil && change.Body.Capacity == nil && !f.given() {
				return command.Invalid("give --label KEY=VALUE, --capacity SERVICE=N or a way to wake it; weir node set --help shows all", "nothing to change was given")
			}
			waking := work.SettingWake{NamedNode: name}
			if f.given() {
				if waking.Body, err = f.read(); err != nil {
					return err
				}
			}
			if change.Body.Labels != nil || change.Body.Capacity != nil {
				if _, err := work.SetNode.Call(ctx, s.Operations, &change); err != nil {
					return err
				}
			}
			if f.given() {
				if _, err := work.SetWake.Call(ctx, s.Operations, &waking); err != nil {
					return err
				}
			}
			if node, err = work.ShowNode.Call(ctx, s.Operations, &name); err != nil {
				return err
			}
			return e.Output().Did(node.Name, node, "Node %s is set.\nLook at it with: weir node show %s", command.Clean(node.Name), command.Clean(node.Name))
		}),
	}
	flags := c.Flags()
	flags.StringToStringVar(&add, "label", nil, "label: `KEY=VALUE`, KEY= takes it away; may be repeated")
	flags.StringToStringVar(&capacity, "capacity", nil, "how many tasks of a service at once: `SERVICE=N`, SERVICE= sets no limit; may be repeated")
	flags.StringVar(&f.method.MAC, "wake-mac", "", "wake it with a magic packet to this `address`, such as 52:54:00:12:34:56")
	flags.StringVar(&f.method.Broadcast, "wake-broadcast", "", "where the packet goes, `host:port`; default: what the server is set to")
	command.OwnFlag(c, "wake-broadcast")
	flags.StringVar(&f.method.Interface, "wake-interface", "", "the server's `interface` whose network the packet goes to")
	flags.StringVar(&f.method.URL, "wake-url", "", "wake it with a POST to this `address`")
	flags.StringVar(&f.method.Script, "wake-script", "", "wake it with the script of this `name` in the server's folder")
	flags.StringArrayVar(&f.method.Args, "wake-arg", nil, "`argument` of the script, after the node's name; may be repeated")
	flags.StringVar(&f.sleepAfter, "sleep-after", "", "let it sleep after so long with nothing to do, such as 30m; default: never")
	flags.BoolVar(&f.none, "no-wake", false, "nobody wakes it")
	command.SettingFlags(c, false, "wake_scripts", "wake_urls")
	return c
}

// nodeChange adds to what a node has; nil stays as it is.
func nodeChange(n view.Node, add, capacity map[string]string) (in work.SettingNode, err error) {
	in.Node = n.Name
	change := &in.Body
	if len(add) > 0 {
		change.Labels = maps.Clone(n.Labels)
		if change.Labels == nil {
			change.Labels = map[string]string{}
		}
		for k, v := range add {
			if change.Labels[k] = v; v == "" {
				delete(change.Labels, k)
			}
		}
	}
	if len(capacity) > 0 {
		change.Capacity = maps.Clone(n.Capacity)
		if change.Capacity == nil {
			change.Capacity = map[string]int{}
		}
		for service, text := range capacity {
			slots, err := strconv.Atoi(strings.TrimSpace(text))
			if text == "" {
				delete(change.Capacity, service)
				continue
			}
			if err != nil || slots < 0 {
				return in, command.Invalid("write it so: --capacity render=2", "--capacity: %q is not a number", text)
			}
			change.Capacity[service] = slots
		}
	}
	return in, nil
}

func nodeWake(e *command.Env) *cobra.Command {
	c := &cobra.Command{
		Long: `Wake a node now. It says that the node was called, not that it is awake: that
shows weir node list --watch. One that is awake is left alone.`,
	}
	command.Operation(e, work.WakeNode, c, func(ctx context.Context, s *app.Session, in *work.NamedNode, _ op.Nothing) error {
		node, err := work.ShowNode.Call(ctx, s.Operations, in)
		if err != nil {
			return err
		}
		return e.Output().Did(node.Name, node, "Node %s is %s.", command.Clean(node.Name), node.WakeState)
	})
	command.SettingFlags(c, false, "wake_scripts", "wake_urls", "wake_broadcast")
	return c
}
