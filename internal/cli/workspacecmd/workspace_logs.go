package workspacecmd

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/workspace"
)

func workspaceLogs(e *command.Env) *cobra.Command {
	lines := 200
	var follows bool
	c := &cobra.Command{
		Use: "logs NAME", Short: "Print what the container of a workspace printed last", Args: e.Args("NAME"),
		Long: `Print what the container of a workspace printed last. What became of the workspace
itself is another log: weir workspace log NAME.`,
		Example: "  weir workspace logs notes --lines 50\n  weir workspace logs notes --follow",
		RunE: e.Session(func(ctx context.Context, s *app.Session, args []string) error {
			if lines < 1 || lines > 10_000 {
				return command.Invalid("give a number from 1 to 10000", "--lines %d", lines)
			}
			in := &workspace.Printing{Named: workspace.Named{Workspace: args[0]}, Lines: lines}
			if o := e.Output(); follows && !o.Data() {
				return followPrinted(ctx, o, s, in)
			}
			return printPrinted(ctx, e, s, in)
		}),
	}
	c.Flags().IntVar(&lines, "lines", lines, "how many at most")
	c.Flags().BoolVarP(&follows, "follow", "f", false, "go on printing until Ctrl-C")
	command.SettingFlags(c, false, "workspace_providers", "docker_host")
	return c
}

func printPrinted(ctx context.Context, e *command.Env, s *app.Session, in *workspace.Printing) error {
	printed, err := workspace.Print.Call(ctx, s.Operations, in)
	if err != nil {
		return err
	}
	o := e.Output()
	if o.Data() {
		return o.Value(printed)
	}
	if printed.Text == "" {
		o.Say("Nothing: it has printed nothing yet.")
		return nil
	}
	_, err = io.WriteString(o.Out, command.CleanLines(printed.Text))
	return err
}

// followPrinted prints what comes, also after the workspace was started again.
func followPrinted(ctx context.Context, o *command.Output, s *app.Session, in *workspace.Printing) error {
	for last := ""; ; {
		printed, err := workspace.Print.Call(ctx, s.Operations, in)
		if ctx.Err() != nil {
			return command.Quiet(problem.Canceled)
		}
		if err != nil {
			return err
		}
		now := printed.Text
		if _, err := io.WriteString(o.Out, command.CleanLines(printedSince(last, now))); err != nil {
			return err
		}
		if last = now; !loop.Wait(ctx, command.DrawEvery, nil) {
			return command.Quiet(problem.Canceled)
		}
	}
}

// printedSince is what is new. What is there are the last lines: the first of them may
// have gone meanwhile, and all of them after a start.
func printedSince(last, now string) string {
	for known := last; known != ""; {
		if rest, ok := strings.CutPrefix(now, known); ok {
			return rest
		}
		_, known, _ = strings.Cut(known, "\n")
	}
	return now
}
