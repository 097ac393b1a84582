package workspacecmd

import (
	"context"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/accountcmd"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/workspace"
	"github.com/weirhq/weir/internal/workspace/inside/program"
	"github.com/weirhq/weir/internal/workspace/ladder"
)

// Workspace is the command weir workspace.
func Workspace(e *command.Env) *cobra.Command {
	return e.Noun("workspace", "Workspaces: a home that stays, and a container that comes and goes", []string{"workspaces", "ws"},
		workspaceMove(e, workspace.Start, ladder.Running), workspaceMove(e, workspace.Stop, ladder.Standby), workspaceMove(e, workspace.PutAway, ladder.Archived), workspaceCreate(e), workspaceList(e), workspaceShow(e), workspaceWhy(e), workspaceLog(e), workspaceOpen(e), workspaceSSH(e), workspaceLogs(e),
		workspaceSet(e), workspaceRecover(e), workspaceDelete(e), workspacePolicy(e), workspaceImport(e))
}

func workspaceList(e *command.Env) *cobra.Command {
	c := command.Lists(e, workspace.List, &cobra.Command{
		Short:   "List workspaces, newest first: one's own, or with --all everybody's",
		Example: "  weir workspace list --watch\n  weir workspace list --phase running\n  weir workspace list --all -o wide",
	}, workspaceListing)
	_ = c.RegisterFlagCompletionFunc("owner", e.Complete(accountcmd.UserNames))
	return c
}

var workspaceListing = command.Listing[workspace.View]{
	Name:  func(w workspace.View) string { return w.ID.String() },
	Empty: []string{"There are no workspaces yet.", "Make one with: weir workspace create NAME --watch"},
	Columns: []command.Column[workspace.View]{
		{Title: "ID", Wide: true, Value: func(_ *command.Output, w workspace.View) string { return w.ID.String() }},
		{Title: "NAME", Value: func(_ *command.Output, w workspace.View) string { return w.Name }},
		{Title: "PHASE", Value: func(_ *command.Output, w workspace.View) string { return string(w.Phase) }, Paint: phaseColor},
		{Title: "DESIRED", Value: func(_ *command.Output, w workspace.View) string { return string(w.Desired) }},
		{Title: "OPERATION", Value: func(_ *command.Output, w workspace.View) string { return operationText(w) }},
		{Title: "LAST ACCESS", Ages: true, Value: func(o *command.Output, w workspace.View) string { return o.Ago(w.LastAccess) }},
		{Title: "BY", Wide: true, Value: func(_ *command.Output, w workspace.View) string { return w.LastUse }},
		{Title: "PROVIDER", Wide: true, Value: func(_ *command.Output, w workspace.View) string { return w.Provider }},
		{Title: "IMAGE", Wide: true, Value: func(_ *command.Output, w workspace.View) string { return w.Image }},
		{Title: "OWNER", Value: func(_ *command.Output, w workspace.View) string { return w.Owner }},
		{Title: "NEXT", Ages: true, Value: nextText},
	},
}

// operationText is what is under way, and how far.
func operationText(w workspace.View) string {
	if w.Operation == ladder.None {
		return ""
	}
	if w.OpSays != "" {
		return string(w.Operation) + ": " + w.OpSays
	}
	return string(w.Operation)
}

// nextText is the one thing to know: what is wrong, or what happens by itself, and when.
func nextText(o *command.Output, w workspace.View) string {
	switch {
	case w.Error != "":
		return strings.TrimSuffix(string(w.Error)+": "+w.ErrorSays, ": ")
	case w.Next == nil && w.Unseen:
		return "cannot be seen at the moment"
	case w.Next == nil:
		return ""
	case w.Next.At.After(o.Now):
		return w.Next.What + " in " + command.Span(w.Next.At.Sub(o.Now).Round(time.Second))
	}
	return w.Next.What + " now"
}

// phaseColor is the colour of a phase.
func phaseColor(s string) string {
	switch ladder.Phase(s) {
	case ladder.Running:
		return command.Green
	case ladder.Standby:
		return command.Yellow
	case ladder.Error:
		return command.Red
	case ladder.Pending, ladder.Deleting:
		return command.Blue
	}
	return command.Dim
}

// WorkspaceNames are those of workspaces.
var WorkspaceNames = command.Listed(workspace.List, func(w workspace.View) (string, string) { return w.Name, string(w.Phase) + " " + w.Description })

// Find reads the one that is called so.
func Find(ctx context.Context, s *app.Session, called string) (workspace.View, error) {
	return workspace.Show.Call(ctx, s.Operations, &workspace.Named{Workspace: called})
}

// Inside is what runs inside of workspaces and beside their homes. Providers call
// it, people do not.
func Inside(e *command.Env) *cobra.Command {
	return &cobra.Command{
		Use: "workspace-inside", Hidden: true, DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			e.Began = true
			return program.Run(cmd.Context(), args, program.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
		},
	}
}
