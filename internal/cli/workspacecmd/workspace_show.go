package workspacecmd

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/workspace"
)

// workspacePage is everything about a workspace.
type workspacePage struct {
	workspace.View
	Why      workspace.Why       `json:"why"`
	Archives []workspace.Archive `json:"archives"`
	Log      []workspace.Entry   `json:"log"`
}

// workspaceShown is how many lines of its log a workspace's page shows.
const workspaceShown = 20

func readWorkspace(ctx context.Context, s *app.Session, ref string) (p workspacePage, err error) {
	if p.View, err = Find(ctx, s, ref); err != nil {
		return p, err
	}
	named := workspace.Named{Workspace: p.ID.String()}
	if p.Why, err = workspace.Explain.Call(ctx, s.Operations, &named); err != nil {
		return p, err
	}
	archives, err := workspace.ListArchives.Call(ctx, s.Operations, &named)
	if err != nil {
		return p, err
	}
	log, err := workspace.ListLog.Call(ctx, s.Operations, &workspace.ListingLog{Named: named, Paged: op.Paged{Limit: workspaceShown}})
	p.Archives, p.Log = archives.Items, log.Items
	return p, err
}

func workspaceShow(e *command.Env) *cobra.Command {
	var watch bool
	c := &cobra.Command{
		Use: "show NAME", Short: "Show a workspace: its phase, what is wanted and under way, what happens next, its archives and its log", Args: e.Args("NAME"),
		Example: "  weir workspace show notes\n  weir workspace show notes --watch\n  weir workspace show ann/notes -o json",
		RunE: e.Session(func(ctx context.Context, s *app.Session, args []string) error {
			o := e.Output()
			if watch {
				w, err := Find(ctx, s, args[0])
				if err != nil {
					return err
				}
				return watchWorkspace(ctx, o, s, w.ID, nil)
			}
			p, err := readWorkspace(ctx, s, args[0])
			if err != nil {
				return err
			}
			return o.Show(p.ID.String(), p, func() error { return printWorkspace(o, p) })
		}),
	}
	c.Flags().BoolVarP(&watch, "watch", "w", false, "print a line whenever it moves, until Ctrl-C")
	return c
}

func printWorkspace(o *command.Output, p workspacePage) error {
	w := p.View
	image := w.Image
	if image == "" {
		image = "built-in"
	}
	if err := o.Details([]command.Field{
		{"Workspace", w.ID.String()},
		{"Name", w.Name},
		{"Owner", w.Owner},
		{"Description", w.Description},
		{"Phase", string(w.Phase) + " since " + o.Both(w.PhaseAt)},
		{"Desired", strings.TrimSuffix(string(w.Desired)+" by "+w.DesiredBy, " by ")},
		{"Operation", operationText(w)},
		{"Error", o.Hint(nextError(w))},
		{"Why", o.Hint(p.Why.Summary)},
		{"Next", nextText(o, w)},
		{"Last access", strings.TrimSuffix(o.Both(w.LastAccess)+", "+w.LastUse, ", ")},
		{"Runs on", w.Provider + ", " + image},
		{"Stopped after", command.Span(time.Duration(w.StandbyTTL)) + " without use"},
		{"Archived after", command.Span(time.Duration(w.ArchiveTTL)) + " in standby"},
		{"Seen", o.BothOf(w.ObservedAt, "")},
		{"Created", o.Both(w.CreatedAt)},
		{"Deleted", o.BothOf(w.DeletedAt, "")},
	}); err != nil {
		return err
	}
	if err := homeListing.Below(o, "Archives", p.Archives); err != nil {
		return err
	}
	return entryListing.Below(o, "Log", p.Log)
}

func nextError(w workspace.View) string {
	if w.Error == "" {
		return ""
	}
	return strings.TrimSuffix(string(w.Error)+": "+w.ErrorSays, ": ") + "\nclear it with: weir workspace recover " + w.Name
}

var homeListing = command.Listing[workspace.Archive]{
	Name: func(a workspace.Archive) string { return a.Key },
	Columns: []command.Column[workspace.Archive]{
		{Title: "VERIFIED", Ages: true, Value: func(o *command.Output, a workspace.Archive) string { return o.AgoOf(a.VerifiedAt) }},
		{Title: "SIZE", Value: func(_ *command.Output, a workspace.Archive) string {
			if a.Meta == nil {
				return ""
			}
			return command.BytesText(a.Meta.Size)
		}},
		{Title: "USE", Value: func(_ *command.Output, a workspace.Archive) string {
			switch {
			case a.Current:
				return "current"
			case a.OrphanSince != nil:
				return "is collected"
			}
			return "kept"
		}},
		{Title: "KEY", Value: func(_ *command.Output, a workspace.Archive) string { return a.Key }},
	},
}

var entryListing = command.Listing[workspace.Entry]{
	Name:  func(e workspace.Entry) string { return e.Type },
	Empty: []string{"Nothing has become of it yet."},
	Columns: []command.Column[workspace.Entry]{
		{Title: "WHEN", Ages: true, Value: func(o *command.Output, e workspace.Entry) string { return o.Ago(e.At) }},
		{Title: "WHAT", Value: func(_ *command.Output, e workspace.Entry) string { return e.Type }, Paint: command.StateColor},
		{Title: "OPERATION", Value: func(_ *command.Output, e workspace.Entry) string { return string(e.Operation) }},
		{Title: "BY", Value: func(_ *command.Output, e workspace.Entry) string { return e.By }},
		{Title: "SAYS", Value: func(_ *command.Output, e workspace.Entry) string { return entrySays(e) }},
	},
}

func workspaceLog(e *command.Env) *cobra.Command {
	return command.Lists(e, workspace.ListLog, &cobra.Command{Short: "List what became of a workspace, newest first: what was wanted, done and seen"}, entryListing)
}

func workspaceWhy(e *command.Env) *cobra.Command {
	c := &cobra.Command{Use: "why NAME", Short: "Say why a workspace is where it is, what it waits for, and what happens next"}
	return command.On(e, c, Find, PrintWorkspaceWhy)
}

// PrintWorkspaceWhy says it in one line, then part by part.
func PrintWorkspaceWhy(ctx context.Context, o *command.Output, s *app.Session, w workspace.View) error {
	why, err := workspace.Explain.Call(ctx, s.Operations, &workspace.Named{Workspace: w.ID.String()})
	if err != nil {
		return err
	}
	return o.Show(string(w.Phase), why, func() error {
		writeWorkspaceWhy(o, w, why)
		return nil
	})
}

func writeWorkspaceWhy(o *command.Output, w workspace.View, why workspace.Why) {
	fmt.Fprintf(o.Out, "Workspace %s: %s\n", command.Clean(w.Name), command.Clean(o.Hint(why.Summary)))
	width := 0
	for _, part := range why.Parts {
		width = max(width, len(part.What))
	}
	for _, part := range why.Parts {
		tail := ""
		if part.Since != nil {
			tail = " · since " + o.Both(*part.Since)
		}
		fmt.Fprintf(o.Out, "  %-*s  %s%s\n", width, command.Clean(part.What), command.Clean(o.Hint(part.Text)), o.Paint(command.Dim, tail))
	}
	if why.Next != nil && !slices.ContainsFunc(why.Parts, func(p workspace.Part) bool { return p.What == "next" }) {
		fmt.Fprintf(o.Out, "  %-*s  %s\n", width, "next", command.Clean(why.Next.Says))
	}
}
