package cli

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/fleet"
	"github.com/weirhq/weir/internal/problem"
)

// lookSeldom is the time between two looks at a job of thousands of units.
const lookSeldom = 2 * time.Second

func (e *env) fleetWatch() *cobra.Command {
	return &cobra.Command{
		Use: "watch ID", Short: "Watch a fleet job until it has ended; the exit code is how it ended", Args: e.args("ID"),
		Long: `Watch a fleet job until it has ended.

On a terminal it draws a tree and keeps it up to date: PCs, their progress, and the
devices at work below them. Elsewhere it prints a line for each run that moved; with
-o json the run.

The exit code is 0 when the job is done, 1 when it failed or was stopped as bad, 2 when
it was canceled. Ctrl-C ends the watching, never the job.`,
		RunE: e.session(func(ctx context.Context, s *app.Session, args []string) error {
			id, err := findFleet(ctx, s, args[0])
			if err != nil {
				return err
			}
			return watchFleet(ctx, e.output(), s, id)
		}),
	}
}

// watchFleet shows a fleet job until it has ended, and returns how it ended.
func watchFleet(ctx context.Context, o *output, s *app.Session, id weir.ID) error {
	show := showUnits(o)
	if o.terminal && o.format == "table" {
		show = showFleet(o)
	}
	wake, unfollow := follow(ctx, s, weir.Filter{Job: id})
	defer unfollow()
	for {
		page, err := lookAtFleet(ctx, s, id)
		if ctx.Err() != nil {
			o.say("Stopped watching; the fleet job goes on. Watch it with: weir fleet watch %s", short(id))
			return quiet(problem.Canceled)
		}
		if err != nil {
			return err
		}
		o.now = time.Now()
		if err := show(page); err != nil {
			return err
		}
		if page.EndedAt != nil {
			return endOfFleet(o, page.Job)
		}
		gap, every := lookEvery, drawEvery
		if len(page.Units) > unitsPage {
			gap, every = lookSeldom, lookSeldom+drawEvery
		}
		rest(ctx, gap, every, wake) // ended: the next look says so
	}
}

// lookAtFleet reads what a watcher sees.
func lookAtFleet(ctx context.Context, s *app.Session, id weir.ID) (fleetPage, error) {
	page, err := readFleetJob(ctx, s, id.String(), fleet.UnitFilter{})
	if err != nil || page.EndedAt != nil || page.Counts.Running > 0 {
		return page, err
	}
	why, err := whyFleet(ctx, s, id.String(), 1)
	page.why = why.Summary
	return page, err
}

// endOfFleet tells how a fleet job ended, in words and by the exit code.
func endOfFleet(o *output, j fleet.Job) error {
	if o.table() {
		took := ""
		if j.ActivatedAt != nil {
			took = " after " + span(j.EndedAt.Sub(*j.ActivatedAt))
		}
		fmt.Fprintf(o.Out, "Fleet job %s is %s%s: %s.\n", short(j.ID), o.paint(fleetColor(j.State), j.State), took, unitCounts(j.Counts))
		if note := fleetNote(o, j); note != "" {
			fmt.Fprintf(o.Out, "Cause: %s\n", clean(note))
		}
		switch {
		case j.State == fleet.JobFailed:
			o.say("See what failed with: weir fleet show %s --state failed; devices that are out: weir device list --health quarantined", short(j.ID))
		case j.Counts.Missed > 0:
			o.say("See why devices were missed with: weir fleet why %s", short(j.ID))
		}
	}
	switch j.State {
	case fleet.JobFailed:
		return quiet(problem.Failed)
	case fleet.JobCanceled:
		return quiet(problem.Canceled)
	}
	return nil
}

// showUnits prints each unit that moved, and what the job waits for.
func showUnits(o *output) func(fleetPage) error {
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
		if p.why != waits && p.why != "" && p.State == fleet.JobWaiting && o.table() {
			fmt.Fprintf(o.Out, "%s  the fleet job %s\n", o.now.UTC().Format("15:04:05"), clean(p.why))
			waits = p.why
		}
		return nil
	}
}

func printUnit(o *output, u fleet.Unit) error {
	if !o.table() {
		return printEach(o, []fleet.Unit{u}, unitName)
	}
	at := o.now
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
	_, err := fmt.Fprintln(o.Out, strings.TrimRight(fmt.Sprintf("%s  %s  %s  %s  %s", at.UTC().Format("15:04:05"), clean(u.PC), clean(unitName(u)), o.paint(fleetColor(u.State), u.State), clean(said)), " "))
	return err
}

// showFleet draws the job in the same place again and again.
func showFleet(o *output) func(fleetPage) error {
	drawn := 0
	return func(p fleetPage) error {
		_, o.width = terminal(o.Out.(*os.File))
		drawn = redraw(o.Out, drawFleet(o, p, terminalHeight(o.Out)-2), drawn)
		return nil
	}
}
