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
	var overlap, noHealth bool
	var slots int
	var timeout time.Duration
	c := &cobra.Command{
		Use: "policy [-- HEALTH-COMMAND [ARGUMENT…]]", Short: "Show what holds for all of the fleet, or change it",
		Long: `Show what holds for all of the fleet, or change it. What is not named stays.

strict: a run that failed for good puts its device out at once. evidence: failures of
two different jobs do, or a failed health task. The health task runs on devices that are
new or were put out, and brings them back: the command behind --.`,
		Example: "  weir fleet policy\n  weir fleet policy --policy evidence --health-timeout 2m -- adb -s '{target}' shell true\n  weir fleet policy --no-health --overlap=false",
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
		switch {
		case len(args) > 0 && noHealth:
			return command.Invalid("give one of them", "--no-health and a health command")
		case noHealth:
			change.Health = fleet.NoHealth
		case len(args) > 0:
			text, err := json.Marshal(fleet.HealthTask{Run: node.Run{Argv: args}, Timeout: node.Span(timeout)})
			if err != nil {
				return err
			}
			change.Health = text
		case given("health-timeout"):
			return command.Invalid("give the command again: weir fleet policy --health-timeout 2m -- COMMAND", "--health-timeout goes with a health command")
		}
		p, err := fleet.ShowPolicy.Call(ctx, s.Operations, &struct{}{})
		if err == nil && (len(args) > 0 || noHealth || command.AnyGiven(c, "policy", "overlap", "slots")) {
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
	flags.DurationVar(&timeout, "health-timeout", 0, "how long the health command may take; default: 5m")
	flags.BoolVar(&noHealth, "no-health", false, "have no health task")
	_ = c.RegisterFlagCompletionFunc("policy", cobra.FixedCompletions(policies, cobra.ShellCompDirectiveNoFileComp))
	return c
}

func printPolicy(o *command.Output, p fleet.Policy) error {
	health, overlap := "none: a device that is out comes back by weir device release", "no: one fleet job at a time"
	if p.Health != nil {
		health = strings.Join(p.Health.Run.Argv, " ")
		if p.Health.Timeout > 0 {
			health += ", at most " + command.Span(time.Duration(p.Health.Timeout))
		}
	}
	if p.Overlap {
		overlap = "yes: devices that the active job does not need serve the next one"
	}
	return o.Details([]command.Field{
		{"Policy", p.Policy},
		{"Health task", o.Hint(health)},
		{"Overlap", overlap},
		{"Slots of a PC", command.Plural(p.Slots, "slot", "slots")},
	})
}
