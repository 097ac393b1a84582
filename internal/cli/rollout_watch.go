package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/rollout"
)

func (e *env) rolloutWatch() *cobra.Command {
	return e.watches(&cobra.Command{
		Short: "Watch a rollout until it has ended; the exit code is how it ended",
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
func watchRollout(ctx context.Context, o *output, s *app.Session, id weir.ID) error {
	page, err := watched[rolloutPage]{
		follow: weir.Filter{Job: id},
		read:   func(ctx context.Context) (rolloutPage, error) { return readRollout(ctx, s, id) },
		lines:  showMoves(o),
		draw:   func(p rolloutPage, room int) []string { return drawRollout(o, p, room) },
		over:   rolloutPage.over,
		left:   "Stopped watching; the rollout goes on. Watch it with: weir rollout watch " + short(id),
	}.watch(ctx, o, s)
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
	return ended(r.State)
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

// standing says in one phrase how a rollout stands: what it waits for, or why it ends.
func standing(r rollout.Rollout) string {
	if r.State == rollout.StateFailed || r.State == rollout.StateCanceled {
		return "is " + r.State + ": " + r.Waits
	}
	return r.Waits
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
