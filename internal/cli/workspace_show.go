package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/app"
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
	if p.View, err = workspaceOf(ctx, s, ref); err != nil {
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

func (e *env) workspaceShow() *cobra.Command {
	var watch bool
	c := &cobra.Command{
		Use: "show NAME", Short: "Show a workspace: its phase, what is wanted and under way, what happens next, its archives and its log", Args: e.args("NAME"),
		Example: "  weir workspace show notes\n  weir workspace show notes --watch\n  weir workspace show ann/notes -o json",
		RunE: e.session(func(ctx context.Context, s *app.Session, args []string) error {
			o := e.output()
			if watch {
				w, err := workspaceOf(ctx, s, args[0])
				if err != nil {
					return err
				}
				return watchWorkspace(ctx, o, s, w.ID, nil)
			}
			p, err := readWorkspace(ctx, s, args[0])
			if err != nil {
				return err
			}
			return o.show(p.ID.String(), p, func() error { return printWorkspace(o, p) })
		}),
	}
	c.Flags().BoolVarP(&watch, "watch", "w", false, "print a line whenever it moves, until Ctrl-C")
	return c
}

func printWorkspace(o *output, p workspacePage) error {
	w := p.View
	image := w.Image
	if image == "" {
		image = "built-in"
	}
	if err := o.details([]field{
		{"Workspace", w.ID.String()},
		{"Name", w.Name},
		{"Owner", w.Owner},
		{"Description", w.Description},
		{"Phase", string(w.Phase) + " since " + o.both(w.PhaseAt)},
		{"Desired", strings.TrimSuffix(string(w.Desired)+" by "+w.DesiredBy, " by ")},
		{"Operation", operationText(w)},
		{"Error", o.hint(nextError(w))},
		{"Why", o.hint(p.Why.Summary)},
		{"Next", nextText(o, w)},
		{"Last access", strings.TrimSuffix(o.both(w.LastAccess)+", "+w.LastUse, ", ")},
		{"Runs on", w.Provider + ", " + image},
		{"Stopped after", span(time.Duration(w.StandbyTTL)) + " without use"},
		{"Archived after", span(time.Duration(w.ArchiveTTL)) + " in standby"},
		{"Seen", o.bothOf(w.ObservedAt, "")},
		{"Created", o.both(w.CreatedAt)},
		{"Deleted", o.bothOf(w.DeletedAt, "")},
	}); err != nil {
		return err
	}
	if err := homeListing.below(o, "Archives", p.Archives); err != nil {
		return err
	}
	return entryListing.below(o, "Log", p.Log)
}

func nextError(w workspace.View) string {
	if w.Error == "" {
		return ""
	}
	return strings.TrimSuffix(string(w.Error)+": "+w.ErrorSays, ": ") + "\nclear it with: weir workspace recover " + w.Name
}

var homeListing = listing[workspace.Archive]{
	name: func(a workspace.Archive) string { return a.Key },
	columns: []column[workspace.Archive]{
		{title: "VERIFIED", ages: true, value: func(o *output, a workspace.Archive) string { return o.agoOf(a.VerifiedAt) }},
		{title: "SIZE", value: func(_ *output, a workspace.Archive) string {
			if a.Meta == nil {
				return ""
			}
			return bytesText(a.Meta.Size)
		}},
		{title: "USE", value: func(_ *output, a workspace.Archive) string {
			switch {
			case a.Current:
				return "current"
			case a.OrphanSince != nil:
				return "is collected"
			}
			return "kept"
		}},
		{title: "KEY", value: func(_ *output, a workspace.Archive) string { return a.Key }},
	},
}

var entryListing = listing[workspace.Entry]{
	name:  func(e workspace.Entry) string { return e.Type },
	empty: []string{"Nothing has become of it yet."},
	columns: []column[workspace.Entry]{
		{title: "WHEN", ages: true, value: func(o *output, e workspace.Entry) string { return o.ago(e.At) }},
		{title: "WHAT", value: func(_ *output, e workspace.Entry) string { return e.Type }, paint: stateColor},
		{title: "OPERATION", value: func(_ *output, e workspace.Entry) string { return string(e.Operation) }},
		{title: "BY", value: func(_ *output, e workspace.Entry) string { return e.By }},
		{title: "SAYS", value: func(_ *output, e workspace.Entry) string { return entrySays(e) }},
	},
}

func (e *env) workspaceLog() *cobra.Command {
	return lists(e, workspace.ListLog, &cobra.Command{Short: "List what became of a workspace, newest first: what was wanted, done and seen"}, entryListing)
}

func (e *env) workspaceWhy() *cobra.Command {
	return &cobra.Command{
		Use: "why NAME", Short: "Say why a workspace is where it is, what it waits for, and what happens next", Args: e.args("NAME"),
		RunE: e.session(func(ctx context.Context, s *app.Session, args []string) error {
			w, err := workspaceOf(ctx, s, args[0])
			if err != nil {
				return err
			}
			return e.printWorkspaceWhy(ctx, s, w)
		}),
	}
}

// printWorkspaceWhy says it in one line, then part by part.
func (e *env) printWorkspaceWhy(ctx context.Context, s *app.Session, w workspace.View) error {
	why, err := workspace.Explain.Call(ctx, s.Operations, &workspace.Named{Workspace: w.ID.String()})
	if err != nil {
		return err
	}
	o := e.output()
	return o.show(string(w.Phase), why, func() error {
		writeWorkspaceWhy(o, w, why)
		return nil
	})
}

func writeWorkspaceWhy(o *output, w workspace.View, why workspace.Why) {
	fmt.Fprintf(o.Out, "Workspace %s: %s\n", clean(w.Name), clean(o.hint(why.Summary)))
	width := 0
	for _, part := range why.Parts {
		width = max(width, len(part.What))
	}
	for _, part := range why.Parts {
		tail := ""
		if part.Since != nil {
			tail = " · since " + o.both(*part.Since)
		}
		fmt.Fprintf(o.Out, "  %-*s  %s%s\n", width, clean(part.What), clean(o.hint(part.Text)), o.paint(dim, tail))
	}
	if why.Next != nil && !slices.ContainsFunc(why.Parts, func(p workspace.Part) bool { return p.What == "next" }) {
		fmt.Fprintf(o.Out, "  %-*s  %s\n", width, "next", clean(why.Next.Says))
	}
}
