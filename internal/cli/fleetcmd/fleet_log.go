package fleetcmd

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/cli/workcmd"
	"github.com/weirhq/weir/internal/fleet"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
)

func fleetLog(e *command.Env) *cobra.Command {
	var f workcmd.LogFlags
	var round int
	c := &cobra.Command{
		Use: "log ID SERIAL", Aliases: []string{"logs"}, Short: "Print what a fleet job printed on a device", Args: e.Args("ID", "SERIAL"),
		Long: `Print what a fleet job printed on a device: the newest attempt of the newest round,
or those of --attempt and --round. With --follow it waits for the run to start and goes
on until it has ended, attempt after attempt. With -o json each line is an object.`,
		Example: "  weir fleet log nightly R58M123ABC\n  weir fleet log nightly R58M123ABC --round 2 --follow",
		RunE: e.Session(func(ctx context.Context, s *app.Session, args []string) error {
			if f.Attempt < 0 || round < 0 {
				return command.Invalid("the first of them is 1", "--attempt and --round are not below 1")
			}
			id, err := findFleet(ctx, s, args[0])
			if err != nil {
				return err
			}
			u, err := awaitRun(ctx, s, id, args[1], round, f.Follow)
			switch {
			case err != nil:
				return err
			case u.Task.IsZero() && ctx.Err() == nil:
				e.Output().Say("%s", noRun(id, u))
				return nil
			case u.Task.IsZero():
				return nil // Ctrl-C is how one stops following
			case f.Follow:
				return f.FollowLog(ctx, e.Output(), s, u.Task)
			}
			return f.ReadLog(ctx, e.Output(), s, u.Task)
		}),
	}
	flags := c.Flags()
	flags.IntVar(&round, "round", 0, "this round; default: the newest that has begun")
	flags.IntVar(&f.Attempt, "attempt", 0, "this attempt; default: the newest")
	flags.BoolVarP(&f.Follow, "follow", "f", false, "go on until the run has ended")
	flags.BoolVarP(&f.Timestamps, "timestamps", "t", false, "begin each line with its time")
	command.SettingFlags(c, false, "bucket")
	return c
}

// noRun says why there is nothing to read.
func noRun(id weir.ID, u fleet.Unit) string {
	if u.EndedAt != nil || u.State == fleet.UnitMissed || u.State == fleet.UnitCanceled {
		return fmt.Sprintf("Nothing: it never ran there, it was %s. See why with: weir fleet why %s", u.State, command.Short(id))
	}
	return fmt.Sprintf("Nothing: it has not run there yet. See why with: weir fleet why %s", command.Short(id))
}

// awaitRun finds the run of a job on a device; with wait one that has begun, or that
// never will.
func awaitRun(ctx context.Context, s *app.Session, id weir.ID, serial string, round int, wait bool) (fleet.Unit, error) {
	wake, unfollow := command.Follow(ctx, s, weir.Filter{Job: id})
	defer unfollow()
	for {
		u, err := runOn(ctx, s, id, serial, round)
		if err != nil || !u.Task.IsZero() || !wait {
			return u, err
		}
		j, err := fleet.Show.Call(ctx, s.Operations, &fleet.Named{Job: id.String()})
		if err != nil || j.EndedAt != nil || !command.Rest(ctx, command.LookEvery, command.DrawEvery, wake) {
			return u, err
		}
	}
}

// runOn is the run of a job on a device: of this round, or the newest that has begun.
func runOn(ctx context.Context, s *app.Session, id weir.ID, serial string, round int) (found fleet.Unit, err error) {
	units, err := op.Each(ctx, s.Operations, fleet.ListUnits, fleet.ListingUnits{Named: fleet.Named{Job: id.String()}, UnitFilter: fleet.UnitFilter{Device: serial}})
	if err != nil {
		return found, err
	}
	for _, u := range units {
		if round != 0 && u.Round != round {
			continue
		}
		if found.Unit == 0 || !u.Task.IsZero() {
			found = u
		}
	}
	if found.Unit != 0 {
		return found, nil
	}
	next := "see its runs: weir fleet show " + command.Short(id)
	if round > 0 && len(units) > 0 {
		return found, problem.New(problem.NotFound, next, "the fleet job has no round %d on device %s", round, command.Clean(serial))
	}
	return found, problem.New(problem.NotFound, next, "the fleet job has no run on device %s", command.Clean(serial))
}
