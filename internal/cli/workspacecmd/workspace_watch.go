package workspacecmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/workspace"
	"github.com/weirhq/weir/internal/workspace/ladder"
)

// watchWorkspace prints a line whenever a workspace moves: until it is where it is
// wanted, or, without that, until somebody has enough. What keeps it from getting there
// is an error.
func watchWorkspace(ctx context.Context, o *command.Output, s *app.Session, id weir.ID, want *ladder.Phase) error {
	last := ""
	w, err := command.Watched[workspace.View]{
		Read: func(ctx context.Context) (workspace.View, error) { return Find(ctx, s, id.String()) },
		Lines: func(w workspace.View) error {
			sign := movedSign(w)
			if sign == last {
				return nil
			}
			last = sign
			return printPhase(o, w)
		},
		Over: func(w workspace.View) bool {
			return want != nil && (failedFor(w, *want) || w.Phase == *want && w.Operation == ladder.None || w.Desired != *want)
		},
		Left: "Stopped watching; the workspace goes on. See it with: weir workspace show " + id.String(),
	}.Watch(ctx, o, s)
	switch {
	case err != nil:
		return err
	case failedFor(w, *want):
		o.Say("See why with: weir workspace why %s; then: weir workspace recover %[1]s", command.Clean(w.Name))
		return command.Quiet(problem.Failed)
	case w.Phase == *want && w.Operation == ladder.None:
		if o.Table() {
			_, err = fmt.Fprintf(o.Out, "Workspace %s is %s.\n", command.Clean(w.Name), w.Phase)
		}
		return err
	}
	o.Say("Somebody wants %s by now: %s.", w.Desired, command.Clean(w.DesiredBy))
	return command.Quiet(problem.Failed)
}

// failedFor: it does not get there by itself. An error without a reason was cleared, and
// the next look says what is there; deleting goes on whatever is wrong.
func failedFor(w workspace.View, want ladder.Phase) bool {
	return w.Phase == ladder.Error && w.Error != "" && want != ladder.Deleted
}

// movedSign tells one state of a workspace from the next.
func movedSign(w workspace.View) string {
	return fmt.Sprint(w.Phase, w.Desired, w.Operation, w.OpSays, w.Error, w.ErrorSays)
}

func printPhase(o *command.Output, w workspace.View) error {
	if !o.Table() {
		return command.PrintEach(o, []workspace.View{w}, func(w workspace.View) string { return string(w.Phase) })
	}
	says := operationText(w)
	if w.Error != "" {
		says = strings.TrimSuffix(string(w.Error)+": "+w.ErrorSays, ": ")
	}
	_, err := fmt.Fprintln(o.Out, strings.TrimRight(fmt.Sprintf("%s  %s  %s  %s", o.Now.UTC().Format("15:04:05"), command.Clean(w.Name), o.Paint(phaseColor(string(w.Phase)), string(w.Phase)), command.Clean(says)), " "))
	return err
}
