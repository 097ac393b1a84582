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
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/rollout"
)

func (e *env) rolloutWatch() *cobra.Command {
	return &cobra.Command{
		Use: "watch ID", Short: "Watch a rollout until it has ended; the exit code is how it ended", Args: e.args("ID"),
		Long: `Watch a rollout until it has ended.

On a terminal it draws a board and keeps it up to date: stages, their databases, a mark
for each change, and why the rest waits. Elsewhere it prints a line for each task that
moved; with -o json the task.

The exit code is 0 when the rollout is done, 1 when it failed, or a failure stopped it
and nothing of it runs any more, 2 when it was canceled. A rollout that waits for a
person is watched until somebody decides. Ctrl-C ends the watching, never the rollout.`,
		RunE: e.session(func(ctx context.Context, s *app.Session, args []string) error {
			id, err := findRollout(ctx, s, args[0])
			if err != nil {
				return err
			}
			return watchRollout(ctx, e.output(), s, id)
		}),
	}
}

// watchRollout shows a rollout until it has ended, and returns how it ended.
func watchRollout(ctx context.Context, o *output, s *app.Session, id weir.ID) error {
	show := showMoves(o)
	if o.terminal && o.format == "table" {
		show = showBoard(o)
	}
	wake, unfollow := follow(ctx, s, weir.Filter{Job: id})
	defer unfollow()
	for {
		page, err := readRollout(ctx, s, id)
		if ctx.Err() != nil {
			return unwatched(o, id)
		}
		if err != nil {
			return err
		}
		o.now = time.Now()
		if err := show(page); err != nil {
			return err
		}
		if page.over() {
			return endOfRollout(o, page.Rollout)
		}
		if !rest(ctx, lookEvery, drawEvery, wake) {
			return unwatched(o, id)
		}
	}
}

// unwatched ends the watching. Nothing in it may be read as the end of the rollout.
func unwatched(o *output, id weir.ID) error {
	o.say("Stopped watching; the rollout goes on. Watch it with: weir rollout watch %s", short(id))
	return quiet(problem.Canceled)
}

// over says that nothing more happens unless a person wants it to.
func (p rolloutPage) over() bool {
	return p.FinishedAt != nil || p.State == rollout.StateFailed && p.Counts.Running+p.Counts.Available == 0
}

// endOfRollout tells how a rollout ended, in words and by the exit code.
func endOfRollout(o *output, r rollout.Rollout) error {
	if o.table() {
		took := ""
		if r.StartedAt != nil {
			end := o.now
			if r.FinishedAt != nil {
				end = *r.FinishedAt
			}
			took = " after " + span(end.Sub(*r.StartedAt))
		}
		fmt.Fprintf(o.Out, "Rollout %s is %s%s: %s.\n", short(r.ID), o.paint(rolloutColor(r.State), r.State), took, runCounts(r.Counts))
		if r.Waits != "" && r.State != rollout.StateDone {
			fmt.Fprintf(o.Out, "Cause: %s\n", clean(r.Waits))
		}
		if r.State == rollout.StateFailed {
			o.say("See what failed with: weir rollout show %s --status failed; then weir rollout retry or skip the task", short(r.ID))
		}
	}
	switch r.State {
	case rollout.StateFailed:
		return quiet(problem.Failed)
	case rollout.StateCanceled:
		return quiet(problem.Canceled)
	}
	return nil
}

// showMoves prints each task that moved, and what the rollout waits for.
func showMoves(o *output) func(rolloutPage) error {
	known := map[weir.ID]string{}
	waits := ""
	return func(p rolloutPage) error {
		for _, t := range p.Tasks {
			sign := fmt.Sprint(t.Status, t.Attempt, runCause(o, t))
			if known[t.ID] == sign || known[t.ID] == "" && t.Status == rollout.NotStarted {
				continue
			}
			known[t.ID] = sign
			if err := printMove(o, t); err != nil {
				return err
			}
		}
		if now := p.State + ": " + p.Waits; now != waits && p.Waits != "" && o.table() && !p.over() {
			fmt.Fprintf(o.Out, "%s  the rollout %s\n", o.now.UTC().Format("15:04:05"), clean(standing(p.Rollout)))
			waits = now
		}
		return nil
	}
}

// standing says in one phrase how a rollout stands: what it waits for says it mostly.
func standing(r rollout.Rollout) string {
	if strings.HasPrefix(r.Waits, "waits ") {
		return r.Waits
	}
	return "is " + r.State + ": " + r.Waits
}

func printMove(o *output, t rollout.Task) error {
	if !o.table() {
		return printEach(o, []rollout.Task{t}, func(t rollout.Task) string { return t.Key })
	}
	said := runCause(o, t)
	if t.Status == rollout.Done && t.StartedAt != nil && t.FinishedAt != nil {
		said = strings.TrimSuffix(span(t.FinishedAt.Sub(*t.StartedAt))+": "+said, ": ")
	}
	switch {
	case t.Status == rollout.Unknown:
		said = strings.TrimPrefix(said+"; ", "; ") + "Weir asks the database again; if you know: weir rollout resolve " + short(t.ID)
	case t.Code != "" && t.Status == rollout.Failed:
		said = t.Code + ": " + said // a run has the code of the attempt before it
	}
	_, err := fmt.Fprintln(o.Out, strings.TrimRight(fmt.Sprintf("%s  %s  %s  %s", t.Since.UTC().Format("15:04:05"), clean(t.Key), o.paint(rolloutColor(t.Status), t.Status), clean(said)), " "))
	return err
}

// showBoard draws the rollout in the same place again and again.
func showBoard(o *output) func(rolloutPage) error {
	drawn := 0
	return func(p rolloutPage) error {
		_, o.width = terminal(o.Out.(*os.File))
		drawn = redraw(o.Out, drawRollout(o, p, terminalHeight(o.Out)-2), drawn)
		return nil
	}
}
