package rolloutcmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/rollout"
)

func rolloutWatch(e *command.Env) *cobra.Command {
	return command.On(e, &cobra.Command{
		Use: "watch ID", Short: "Watch a rollout until it has ended; the exit code is how it ended",
		Long: `Watch a rollout until it has ended.

On a terminal it draws a board and keeps it up to date: stages, their databases, a mark
for each change, and why the rest waits. Elsewhere it prints a line for each task that
moved; with -o json the task.

The exit code is 0 when the rollout is done, 1 when it failed, or a failure stopped it
and nothing of it runs any more, 2 when it was canceled. A rollout that waits for a
person is watched until somebody decides. Ctrl-C ends the watching, never the rollout.`,
	}, findRollout, watchRollout)
}

// watchRollout shows a rollout until it has ended, and returns how it ended.
func watchRollout(ctx context.Context, o *command.Output, s *app.Session, id weir.ID) error {
	page, err := command.Watched[rolloutPage]{
		Follow: weir.Filter{Job: id},
		Read:   func(ctx context.Context) (rolloutPage, error) { return readRollout(ctx, s, id) },
		Lines:  showMoves(o),
		Draw:   func(p rolloutPage, room int) []string { return drawRollout(o, p, room) },
		Over:   rolloutPage.over,
		Left:   "Stopped watching; the rollout goes on. Watch it with: weir rollout watch " + command.Short(id),
	}.Watch(ctx, o, s)
	if err != nil {
		return err
	}
	return endOfRollout(o, page.Rollout)
}

// over says that nothing more happens unless a person wants it to.
func (p rolloutPage) over() bool {
	return p.FinishedAt != nil || p.State == rollout.StateFailed && p.Counts.Running+p.Counts.Available == 0
}

// endOfRollout tells how a rollout ended, in words and by the exit code.
func endOfRollout(o *command.Output, r rollout.Rollout) error {
	if o.Table() {
		took := ""
		if r.StartedAt != nil {
			end := o.Now
			if r.FinishedAt != nil {
				end = *r.FinishedAt
			}
			took = " after " + command.Span(end.Sub(*r.StartedAt))
		}
		fmt.Fprintf(o.Out, "Rollout %s is %s%s: %s.\n", command.Short(r.ID), o.Paint(rolloutColor(r.State), r.State), took, runCounts(r.Counts))
		if r.Waits != "" && r.State != rollout.StateDone {
			fmt.Fprintf(o.Out, "Cause: %s\n", command.Clean(r.Waits))
		}
		if r.State == rollout.StateFailed {
			o.Say("See what failed with: weir rollout show %s --status failed; then weir rollout retry or skip the task", command.Short(r.ID))
		}
	}
	return command.Ended(r.State)
}

// showMoves prints each task that moved, and what the rollout waits for.
func showMoves(o *command.Output) func(rolloutPage) error {
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
		if now := p.State + ": " + p.Waits; now != waits && p.Waits != "" && o.Table() && !p.over() {
			fmt.Fprintf(o.Out, "%s  the rollout %s\n", o.Now.UTC().Format("15:04:05"), command.Clean(standing(p.Rollout)))
			waits = now
		}
		return nil
	}
}

// standing says in one phrase how a rollout stands: what it waits for, or why it ends.
func standing(r rollout.Rollout) string {
	if r.State == rollout.StateFailed || r.State == rollout.StateCanceled {
		return "is " + r.State + ": " + r.Waits
	}
	return r.Waits
}

func printMove(o *command.Output, t rollout.Task) error {
	if !o.Table() {
		return command.PrintEach(o, []rollout.Task{t}, func(t rollout.Task) string { return t.Key })
	}
	said := runCause(o, t)
	if t.Status == rollout.Done && t.StartedAt != nil && t.FinishedAt != nil {
		said = strings.TrimSuffix(command.Span(t.FinishedAt.Sub(*t.StartedAt))+": "+said, ": ")
	}
	switch {
	case t.Status == rollout.Unknown:
		said = strings.TrimPrefix(said+"; ", "; ") + "Weir asks the database again; if you know: weir rollout resolve " + command.Short(t.ID)
	case t.Code != "" && t.Status == rollout.Failed:
		said = t.Code + ": " + said // a run has the code of the attempt before it
	}
	_, err := fmt.Fprintln(o.Out, strings.TrimRight(fmt.Sprintf("%s  %s  %s  %s", t.Since.UTC().Format("15:04:05"), command.Clean(t.Key), o.Paint(rolloutColor(t.Status), t.Status), command.Clean(said)), " "))
	return err
}
