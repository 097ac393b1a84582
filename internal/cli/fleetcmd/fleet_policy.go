package fleetcmd

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/fleet"
	"github.com/weirhq/weir/internal/node"
)

var policies = []string{fleet.PolicyStrict, fleet.PolicyEvidence}

func fleetPolicy(e *command.Env) *cobra.Command {
	var policy string
	var overlap bool
	var slots int
	var health healthFlags
	c := &cobra.Command{
		Use: "policy [-- HEALTH-COMMAND [ARGUMENT…]]", Short: "Show what holds for all of the fleet, or change it",
		Long: `Show what holds for all of the fleet, or change it. What is not named stays.

strict: a run that failed for good puts its device out at once. evidence: failures of
two different jobs do, or a failed health task. The health task runs on devices that are
new or were put out, and brings them back: the command behind --. With --health-for it is
that of devices with these labels alone; the first that matches counts, and the one
without --health-for is for all other devices.

--power is a command that switches a device off and on, such as a script for a USB hub. It
runs on the PC of a device that was put out, before its health task: at once and, if that
fails, once more after 1h. An empty one takes it away.`,
		Example: "  weir fleet policy\n  weir fleet policy --policy evidence --health-timeout 2m -- adb -s '{target}' shell true\n  weir fleet policy --health-for os=ios -- idevicediagnostics -u '{serial}' diagnostics\n  weir fleet policy --power '/opt/lab/power-cycle {serial}'\n  weir fleet policy --no-health --overlap=false",
	}
	c.Args = func(cmd *cobra.Command, args []string) error {
		if cmd.ArgsLenAtDash() == 0 {
			return nil
		}
		return e.NoArgs(cmd, args)
	}
	c.RunE = e.Session(func(ctx context.Context, s *app.Session, args []string) error {
		given := c.Flags().Changed
		var change fleet.PolicyChange
		if err := command.OneOf("policy", policy, policies); err != nil {
			return err
		}
		if given("policy") {
			change.Policy = &policy
		}
		if given("overlap") {
			change.Overlap = &overlap
		}
		if given("slots") {
			change.Slots = &slots
		}
		p, err := fleet.ShowPolicy.Call(ctx, s.Operations, &struct{}{})
		if err != nil {
			return err
		}
		health.timed, health.powered = given("health-timeout"), given("power")
		if change.Health, err = health.change(p.Health, args); err != nil {
			return err
		}
		if len(change.Health) > 0 || command.AnyGiven(c, "policy", "overlap", "slots") {
			p, err = fleet.ChangePolicy.Call(ctx, s.Operations, &fleet.Changing{Body: change})
		}
		if err != nil {
			return err
		}
		o := e.Output()
		if given("slots") && o.Table() {
			o.Say("PCs that have slots of their own keep them: see weir pc list, and weir pc slots NAME auto.")
		}
		return o.Show(p.Policy, p, func() error { return printPolicy(o, p) })
	})
	flags := c.Flags()
	flags.StringVar(&policy, "policy", "", "how devices are judged: "+strings.Join(policies, " or "))
	flags.BoolVar(&overlap, "overlap", false, "let devices that the active job does not need serve the next one")
	flags.IntVar(&slots, "slots", 0, "how many devices of a PC work at once unless it says otherwise, 1 to 1000")
	flags.DurationVar(&health.timeout, "health-timeout", 0, "how long the health command may take; default: 5m")
	flags.StringArrayVar(&health.match, "health-for", nil, "the health command is for devices that meet this `condition` on labels, such as os=ios; may be repeated: all must hold")
	flags.StringVar(&health.power, "power", "", "`command` that runs on the PC before the health task of a device that is out and switches it off and on; no shell")
	flags.BoolVar(&health.none, "no-health", false, "have no health task; with --health-for: no other one for these devices")
	_ = c.RegisterFlagCompletionFunc("policy", cobra.FixedCompletions(policies, cobra.ShellCompDirectiveNoFileComp))
	return c
}

// healthFlags are the flags about the health task.
type healthFlags struct {
	match   []string
	none    bool
	timeout time.Duration
	power   string
	// timed and powered are set if the timeout or the power command was given.
	timed, powered bool
}

// change returns another health task, or nothing. What is for devices with other labels
// stays.
func (f healthFlags) change(h *fleet.HealthTask, argv []string) (json.RawMessage, error) {
	switch {
	case len(argv) > 0 && f.none:
		return nil, command.Invalid("give one of them", "--no-health and a health command")
	case f.powered && f.none:
		return nil, command.Invalid("give one of them", "--no-health and --power")
	case f.none && len(f.match) == 0:
		return fleet.NoHealth, nil
	case len(argv) == 0 && !f.none && (f.timed || len(f.match) > 0 && !f.powered):
		return nil, command.Invalid("give the command again: weir fleet policy --health-timeout 2m -- COMMAND", "--health-timeout and --health-for go with a health command")
	case len(argv) == 0 && !f.none && !f.powered:
		return nil, nil
	case h == nil && len(f.match) > 0:
		return nil, command.Invalid("set that first: weir fleet policy -- COMMAND", "there is no health task for all other devices")
	case h == nil && len(argv) == 0:
		return nil, command.Invalid("give one as well: weir fleet policy --power COMMAND -- COMMAND", "--power goes with a health task, which says whether the device works again")
	case h == nil:
		h = &fleet.HealthTask{}
	}
	if len(argv) > 0 || f.none {
		f.set(h, argv)
	}
	if f.powered {
		if err := f.setPower(h); err != nil {
			return nil, err
		}
	}
	return json.Marshal(h)
}

func (f healthFlags) set(h *fleet.HealthTask, argv []string) {
	if len(f.match) > 0 {
		h.For(fleet.LabelHealth{Match: f.match, Run: node.Run{Argv: argv}, Timeout: node.Span(f.timeout)})
	} else {
		h.Run, h.Timeout = node.Run{Argv: argv}, node.Span(f.timeout)
	}
}

func (f healthFlags) setPower(h *fleet.HealthTask) error {
	argv, err := node.SplitCommand(f.power)
	if err != nil {
		return command.Invalid("close the quotes", "--power: %v", err)
	}
	var power *node.Command
	if len(argv) > 0 {
		power = &node.Command{Argv: argv}
	}
	if !h.SetPower(f.match, power) {
		return command.Invalid("set that first: weir fleet policy --health-for CONDITION -- COMMAND", "these devices have no health task of their own")
	}
	return nil
}

func printPolicy(o *command.Output, p fleet.Policy) error {
	health, overlap := "none: a device that is out comes back by weir device release", "no: one fleet job of a lane at a time"
	var others []command.Field
	if p.Health != nil {
		health = healthTaskText(&fleet.LabelHealth{Run: p.Health.Run, Timeout: p.Health.Timeout})
		others = append(others, command.Field{"Power command", commandText(p.Health.Power)})
		for _, l := range p.Health.ByLabel {
			text := healthTaskText(&fleet.LabelHealth{Run: l.Run, Timeout: l.Timeout})
			labels := strings.Join(l.Match, ", ")
			others = append(others, command.Field{"For " + labels, text}, command.Field{"Power for " + labels, commandText(l.Power)})
		}
	}
	if p.Overlap {
		overlap = "yes: devices that the active job does not need serve the next one"
	}
	fields := append([]command.Field{{"Policy", p.Policy}, {"Health task", o.Hint(health)}}, others...)
	return o.Details(append(fields, command.Field{"Overlap", overlap}, command.Field{"Slots of a PC", command.Plural(p.Slots, "slot", "slots")}))
}
