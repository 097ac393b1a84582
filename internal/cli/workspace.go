package cli

import (
	"context"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/workspace"
	"github.com/weirhq/weir/internal/workspace/inside/program"
	"github.com/weirhq/weir/internal/workspace/ladder"
)

func (e *env) workspace() *cobra.Command {
	return e.noun("workspace", "Workspaces: a home that stays, and a container that comes and goes", []string{"workspaces", "ws"},
		e.workspaceMove(workspace.Start, ladder.Running), e.workspaceMove(workspace.Stop, ladder.Standby), e.workspaceMove(workspace.PutAway, ladder.Archived), e.workspaceCreate(), e.workspaceList(), e.workspaceShow(), e.workspaceWhy(), e.workspaceLog(), e.workspaceOpen(), e.workspaceSSH(), e.workspaceLogs(),
		e.workspaceSet(), e.workspaceRecover(), e.workspaceDelete(), e.workspacePolicy(), e.workspaceImport())
}

func (e *env) workspaceList() *cobra.Command {
	c := lists(e, workspace.List, &cobra.Command{
		Short:   "List workspaces, newest first: one's own, or with --all everybody's",
		Example: "  weir workspace list --watch\n  weir workspace list --phase running\n  weir workspace list --all -o wide",
	}, workspaceListing)
	_ = c.RegisterFlagCompletionFunc("owner", e.complete(userNames))
	return c
}

var workspaceListing = listing[workspace.View]{
	name:  func(w workspace.View) string { return w.ID.String() },
	empty: []string{"There are no workspaces yet.", "Make one with: weir workspace create NAME --watch"},
	columns: []column[workspace.View]{
		{title: "ID", wide: true, value: func(_ *output, w workspace.View) string { return w.ID.String() }},
		{title: "NAME", value: func(_ *output, w workspace.View) string { return w.Name }},
		{title: "PHASE", value: func(_ *output, w workspace.View) string { return string(w.Phase) }, paint: phaseColor},
		{title: "DESIRED", value: func(_ *output, w workspace.View) string { return string(w.Desired) }},
		{title: "OPERATION", value: func(_ *output, w workspace.View) string { return operationText(w) }},
		{title: "LAST ACCESS", ages: true, value: func(o *output, w workspace.View) string { return o.ago(w.LastAccess) }},
		{title: "BY", wide: true, value: func(_ *output, w workspace.View) string { return w.LastUse }},
		{title: "PROVIDER", wide: true, value: func(_ *output, w workspace.View) string { return w.Provider }},
		{title: "IMAGE", wide: true, value: func(_ *output, w workspace.View) string { return w.Image }},
		{title: "OWNER", value: func(_ *output, w workspace.View) string { return w.Owner }},
		{title: "NEXT", ages: true, value: nextText},
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
func nextText(o *output, w workspace.View) string {
	switch {
	case w.Error != "":
		return strings.TrimSuffix(string(w.Error)+": "+w.ErrorSays, ": ")
	case w.Next == nil && w.Unseen:
		return "cannot be seen at the moment"
	case w.Next == nil:
		return ""
	case w.Next.At.After(o.now):
		return w.Next.What + " in " + span(w.Next.At.Sub(o.now).Round(time.Second))
	}
	return w.Next.What + " now"
}

// phaseColor is the colour of a phase.
func phaseColor(s string) string {
	switch ladder.Phase(s) {
	case ladder.Running:
		return green
	case ladder.Standby:
		return yellow
	case ladder.Error:
		return red
	case ladder.Pending, ladder.Deleting:
		return blue
	}
	return dim
}

var workspaceNames = listed(workspace.List, func(w workspace.View) (string, string) { return w.Name, string(w.Phase) + " " + w.Description })

// workspaceOf reads the one that is called so.
func workspaceOf(ctx context.Context, s *app.Session, called string) (workspace.View, error) {
	return workspace.Show.Call(ctx, s.Operations, &workspace.Named{Workspace: called})
}

// workspaceInside is what runs inside of workspaces and beside their homes. Providers call
// it, people do not.
func (e *env) workspaceInside() *cobra.Command {
	return &cobra.Command{
		Use: "workspace-inside", Hidden: true, DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			e.began = true
			return program.Run(cmd.Context(), args, program.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
		},
	}
}
