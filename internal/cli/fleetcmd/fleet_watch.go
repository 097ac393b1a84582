package fleetcmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/fleet"
)

func fleetWatch(e *command.Env) *cobra.Command {
	return command.On(e, &cobra.Command{
		Use: "watch ID", Short: "Watch a fleet job until it has ended; the exit code is how it ended",
		Long: `Watch a fleet job until it has ended.

On a terminal it draws a tree and keeps it up to date: PCs, their progress, and the
devices at work below them. Elsewhere it prints a line for each run that moved; with
-o json the run.

The exit code is 0 when the job is done, 1 when it failed or was stopped as bad, 2 when
it was canceled. Ctrl-C ends the watching, never the job.`,
	}, findFleet, watchFleet)
}

// Watch shows a fleet job until it has ended, and returns how it ended.
func Watch(ctx context.Context, o *command.Output, s *app.Session, id weir.ID) error {
	return watchFleet(ctx, o, s, id)
}

// watchFleet shows a fleet job until it has ended, and returns how it ended.
func watchFleet(ctx context.Context, o *command.Output, s *app.Session, id weir.ID) error {
	page, err := command.Watched[fleetPage]{
		Follow: weir.Filter{Job: id},
		Read:   func(ctx context.Context) (fleetPage, error) { return lookAtFleet(ctx, s, id) },
		Lines:  showUnits(o),
		Draw:   func(p fleetPage, room int) []string { return drawFleet(o, p, room) },
		Over:   func(p fleetPage) bool { return p.EndedAt != nil },
		Large:  func(p fleetPage) bool { return len(p.Units) > unitsPage },
		Left:   "Stopped watching; the fleet job goes on. Watch it with: weir fleet watch " + command.Short(id),
	}.Watch(ctx, o, s)
	if err != nil {
		return err
	}
	return endOfFleet(o, page.Job)
}

// lookAtFleet reads what a watcher sees.
func lookAtFleet(ctx context.Context, s *app.Session, id weir.ID) (fleetPage, error) {
	page, err := readFleetJob(ctx, s, id.String(), fleet.UnitFilter{})
	if err != nil || page.EndedAt != nil || page.Counts.Running > 0 {
		return page, err
	}
	why, err := WhyFleet(ctx, s, id.String(), 1)
	page.why = why.Summary
	return page, err
}

// endOfFleet tells how a fleet job ended, in words and by the exit code.
func endOfFleet(o *command.Output, j fleet.Job) error {
	if o.Table() {
		took := ""
		if j.ActivatedAt != nil {
			took = " after " + command.Span(j.EndedAt.Sub(*j.ActivatedAt))
		}
		fmt.Fprintf(o.Out, "Fleet job %s is %s%s: %s.\n", command.Short(j.ID), o.Paint(fleetColor(j.State), j.State), took, unitCounts(j.Counts))
		if note := fleetNote(o, j); note != "" {
			fmt.Fprintf(o.Out, "Cause: %s\n", command.Clean(note))
		}
		switch {
		case j.State == fleet.JobFailed:
			o.Say("See what failed with: weir fleet show %s --state failed; devices that are out: weir device list --health quarantined", command.Short(j.ID))
		case j.Counts.Missed > 0:
			o.Say("See why devices were missed with: weir fleet why %s", command.Short(j.ID))
		}
	}
	return command.Ended(j.State)
}

// showUnits prints each unit that moved, and what the job waits for.
func showUnits(o *command.Output) func(fleetPage) error {
	known := map[int]string{}
	waits := ""
	return func(p fleetPage) error {
		for _, u := range p.Units {
			sign := fmt.Sprint(u.State, u.Attempt, u.Infra)
			if known[u.Unit] == sign || known[u.Unit] == "" && u.State == fleet.UnitWaiting {
				continue
			}
			known[u.Unit] = sign
			if err := printUnit(o, u); err != nil {
				return err
			}
		}
		if p.why != waits && p.why != "" && p.State == fleet.JobWaiting && o.Table() {
			fmt.Fprintf(o.Out, "%s  the fleet job %s\n", o.Now.UTC().Format("15:04:05"), command.Clean(p.why))
			waits = p.why
		}
		return nil
	}
}

func printUnit(o *command.Output, u fleet.Unit) error {
	if !o.Table() {
		return command.PrintEach(o, []fleet.Unit{u}, unitName)
	}
	at := o.Now
	switch {
	case u.EndedAt != nil:
		at = *u.EndedAt
	case u.State == fleet.UnitRunning && u.StartedAt != nil:
		at = *u.StartedAt
	}
	said := unitSaid(o, u)
	if u.State == fleet.UnitRunning && u.Attempt > 1 {
		said = fmt.Sprintf("attempt %d", u.Attempt)
	}
	_, err := fmt.Fprintln(o.Out, strings.TrimRight(fmt.Sprintf("%s  %s  %s  %s  %s", at.UTC().Format("15:04:05"), command.Clean(u.PC), command.Clean(unitName(u)), o.Paint(fleetColor(u.State), u.State), command.Clean(said)), " "))
	return err
}
