package cli

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/workspace"
	"github.com/weirhq/weir/internal/workspace/ladder"
)

func (e *env) workspace() *cobra.Command {
	return e.noun("workspace", "Workspaces: a home that stays, and a container that comes and goes", []string{"workspaces", "ws"},
		append(e.workspaceMoves(), e.workspaceCreate(), e.workspaceList(), e.workspaceShow(), e.workspaceWhy(), e.workspaceLog(), e.workspaceOpen(), e.workspaceSSH(), e.workspaceLogs(),
			e.workspaceSet(), e.workspaceRecover(), e.workspaceDelete(), e.workspacePolicy(), e.workspaceImport())...)
}

// phaseWords are the phases as flags take them.
func phaseWords() (words []string) {
	for _, p := range ladder.Phases {
		words = append(words, strings.ToLower(string(p)))
	}
	return words
}

// providerWords are the ways in which workspaces run.
var providerWords = []string{"process", "docker"}

func (e *env) workspaceList() *cobra.Command {
	var page view.Page
	var f workspace.Filter
	var owner, phase string
	var all bool
	c := &cobra.Command{
		Short:   "List workspaces, newest first: one's own, or with --all everybody's",
		Example: "  weir workspace list --watch\n  weir workspace list --phase running\n  weir workspace list --all -o wide",
	}
	listCommand(e, c, func(ctx context.Context, s *app.Session, _ []string) (l list[workspace.Workspace], err error) {
		if err := oneOf("phase", phase, phaseWords()); err != nil {
			return l, err
		}
		if err := oneOf("provider", f.Provider, providerWords); err != nil {
			return l, err
		}
		f.Phase = ladder.Phase(strings.ToUpper(phase))
		if page.After != "" {
			w, err := s.Workspaces.Find(ctx, page.After)
			if err != nil {
				return l, err
			}
			page.After = w.ID.String()
		}
		policy, err := s.Workspaces.Policy(ctx)
		if err != nil {
			return l, err
		}
		shown := workspaceListing(policy)
		if anyGiven(c, "phase", "search", "provider", "owner") {
			shown.empty = []string{"No workspace matches.", "See them all with: weir workspace list"}
		}
		l = plainList(page, shown, func(ctx context.Context, page view.Page) ([]workspace.Workspace, error) {
			return s.Workspaces.List(ctx, f, owner, all, page)
		})
		l.after = func(w workspace.Workspace) string { return w.ID.String() }
		return l, nil
	})
	flags := c.Flags()
	flags.StringVar(&phase, "phase", "", "only workspaces in this phase: "+strings.Join(phaseWords(), ", "))
	flags.StringVar(&f.Search, "search", "", "only workspaces with this in their name")
	flags.StringVar(&f.Provider, "provider", "", "only workspaces that run so: "+strings.Join(providerWords, ", "))
	flags.StringVar(&owner, "owner", "", "only workspaces of this user; for an admin")
	flags.BoolVarP(&all, "all", "a", false, "everybody's; for an admin")
	flags.BoolVar(&f.Deleted, "deleted", false, "deleted ones, too")
	_ = c.RegisterFlagCompletionFunc("phase", cobra.FixedCompletions(phaseWords(), cobra.ShellCompDirectiveNoFileComp))
	_ = c.RegisterFlagCompletionFunc("provider", cobra.FixedCompletions(providerWords, cobra.ShellCompDirectiveNoFileComp))
	_ = c.RegisterFlagCompletionFunc("owner", e.complete(userNames))
	pageFlags(c, &page, "id")
	return c
}

// workspaceListing shows workspaces, under a policy that says what cannot be seen.
func workspaceListing(policy workspace.Policy) listing[workspace.Workspace] {
	return listing[workspace.Workspace]{
		name:  func(w workspace.Workspace) string { return w.ID.String() },
		empty: []string{"There are no workspaces yet.", "Make one with: weir workspace create NAME --watch"},
		columns: []column[workspace.Workspace]{
			{title: "ID", wide: true, value: func(_ *output, w workspace.Workspace) string { return w.ID.String() }},
			{title: "NAME", value: func(_ *output, w workspace.Workspace) string { return w.Name }},
			{title: "PHASE", value: func(_ *output, w workspace.Workspace) string { return string(w.Phase) }, paint: phaseColor},
			{title: "DESIRED", value: func(_ *output, w workspace.Workspace) string { return string(w.Desired) }},
			{title: "OPERATION", value: func(_ *output, w workspace.Workspace) string { return operationText(w) }},
			{title: "LAST ACCESS", ages: true, value: func(o *output, w workspace.Workspace) string { return o.ago(w.LastAccess) }},
			{title: "BY", wide: true, value: func(_ *output, w workspace.Workspace) string { return w.LastUse }},
			{title: "PROVIDER", wide: true, value: func(_ *output, w workspace.Workspace) string { return w.Provider }},
			{title: "IMAGE", wide: true, value: func(_ *output, w workspace.Workspace) string { return w.Image }},
			{title: "OWNER", value: func(_ *output, w workspace.Workspace) string { return w.Owner }},
			{title: "NEXT", ages: true, value: func(o *output, w workspace.Workspace) string { return nextText(o, w, policy.Unseen(w.Provider)) }},
		},
	}
}

// operationText is what is under way, and how far.
func operationText(w workspace.Workspace) string {
	if w.Operation == ladder.None {
		return ""
	}
	if w.OpSays != "" {
		return string(w.Operation) + ": " + w.OpSays
	}
	return string(w.Operation)
}

// nextText is the one thing to know: what is wrong, or what happens by itself, and when.
func nextText(o *output, w workspace.Workspace, unknown bool) string {
	if w.Error != "" {
		return strings.TrimSuffix(string(w.Error)+": "+w.ErrorSays, ": ")
	}
	next := w.Next(o.now, unknown)
	switch {
	case next == nil && unknown:
		return "cannot be seen at the moment"
	case next == nil:
		return ""
	case next.At.After(o.now):
		return next.What + " in " + span(next.At.Sub(o.now).Round(time.Second))
	}
	return next.What + " now"
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

func workspaceNames(ctx context.Context, s *app.Session) ([][2]string, error) {
	found, err := s.Workspaces.List(ctx, workspace.Filter{}, "", false, view.Page{Limit: completeMost})
	return pairs(found, err, func(w workspace.Workspace) (string, string) { return w.Name, string(w.Phase) + " " + w.Description })
}
