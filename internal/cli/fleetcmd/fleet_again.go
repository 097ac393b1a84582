package fleetcmd

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/fleet"
	"github.com/weirhq/weir/internal/op"
)

func fleetRerun(e *command.Env) *cobra.Command {
	var failed, missed, all, watch bool
	var key string
	c := &cobra.Command{
		Use: "rerun ID", Short: "Run a fleet job again, as a new one, on the devices on which it was not done", Args: e.Args("ID"),
		Long: `Run a fleet job again, as a new one with the same spec. Without a flag it is for the
devices on which it was not done: where it failed, was missed or was canceled. With
--failed or --missed it is for those alone, with --all for the same target once more.
A job of which any device could serve the runs asks for as many again.

A device that the job put out gets no work before it is released: weir device release.`,
		Example: "  weir fleet rerun nightly --watch\n  weir fleet rerun 8057b302099a --missed\n  weir fleet rerun nightly --all --key nightly-again",
		RunE: e.Session(func(ctx context.Context, s *app.Session, args []string) error {
			which := fleet.RerunRest
			for word, given := range map[string]bool{fleet.RerunFailed: failed, fleet.RerunMissed: missed, fleet.RerunAll: all} {
				if given {
					which = word
				}
			}
			in := &fleet.Repeating{Named: fleet.Named{Job: args[0]}, Keyed: op.Keyed{IdempotencyKey: key}, Body: &fleet.RerunBody{Which: which}}
			j, err := fleet.Rerun.Call(ctx, s.Operations, in)
			if err != nil {
				return err
			}
			if err := warnOut(ctx, e, s, j); err != nil {
				return err
			}
			return submittedFleet(ctx, e, s, j, watch)
		}),
	}
	flags := c.Flags()
	flags.BoolVar(&failed, "failed", false, "only devices on which it failed")
	flags.BoolVar(&missed, "missed", false, "only devices that were missed")
	flags.BoolVar(&all, "all", false, "the same target once more")
	flags.StringVar(&key, "key", "", "the same `key` gives the same job, however often it is run")
	flags.BoolVarP(&watch, "watch", "w", false, "watch it until it has ended")
	c.MarkFlagsMutuallyExclusive("failed", "missed", "all")
	return c
}

// warnOut names devices of a job's list that are quarantined: the job would only wait
// for them.
func warnOut(ctx context.Context, e *command.Env, s *app.Session, j fleet.Job) error {
	o := e.Output()
	if j.Spec == nil || len(j.Spec.Target.Devices) == 0 || !o.Table() {
		return nil
	}
	out, err := matching(ctx, s, fleet.DeviceFilter{Health: fleet.HealthQuarantined})
	if err != nil {
		return err
	}
	n := 0
	for _, d := range out {
		if slices.Contains(j.Spec.Target.Devices, d.Serial) {
			n++
		}
	}
	if n > 0 {
		o.Say("%s before release: weir device release SERIAL… --reason …", command.Plural(n, "device is quarantined and gets no work", "devices are quarantined and get no work"))
	}
	return nil
}
