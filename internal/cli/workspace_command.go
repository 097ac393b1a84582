package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/workspace"
	"github.com/weirhq/weir/internal/workspace/ladder"
)

func (e *env) workspaceCreate() *cobra.Command {
	var d workspace.Draft
	var owner, desired string
	var standby, archive time.Duration
	var watch bool
	c := &cobra.Command{
		Use: "create NAME", Short: "Make a workspace and start it", Args: e.args("NAME"),
		Long: `Make a workspace and start it. Its home is kept: it is stopped when nobody uses it,
and later archived, and comes back when it is opened.

Without --image it is the built-in one: files, a terminal and an editor. With the
provider process it runs on the server's machine as the server itself, which takes an
admin; with docker in a container of its own.`,
		Example:           "  weir workspace create notes --watch\n  weir workspace create api --provider docker --image registry.example.org/dev/go:1.26\n  weir workspace create later --desired archived --standby-ttl 30m",
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	c.RunE = e.session(func(ctx context.Context, s *app.Session, args []string) (err error) {
		words := []string{"running", "standby", "archived"}
		if err := oneOf("desired", desired, words); err != nil {
			return err
		}
		if err := ttlsGiven(standby, archive); err != nil {
			return err
		}
		d.Name, d.Desired = args[0], ladder.Phase(strings.ToUpper(desired))
		d.StandbyTTL, d.ArchiveTTL = node.Span(standby), node.Span(archive)
		if owner == "" && !s.Target.Remote() {
			if owner, err = self(ctx, s); err != nil {
				return err
			}
		}
		w, existed, err := s.Workspaces.Create(ctx, whoami(), owner, d)
		if err != nil {
			return e.overLimit(err)
		}
		o := e.output()
		said := "is made"
		if existed {
			said = "was there already"
		}
		if watch {
			if o.table() {
				fmt.Fprintf(o.Out, "Workspace %s %s; %s is wanted.\n", clean(w.Name), said, w.Desired)
			}
			return watchWorkspace(ctx, o, s, w.ID, &w.Desired)
		}
		if err := o.did(w.ID.String(), w, "Workspace %s %s; %s is wanted.", clean(w.Name), said, w.Desired); err != nil {
			return err
		}
		if o.table() {
			o.say("Open it with: weir workspace open %s", clean(w.Name))
		}
		return nil
	})
	flags := c.Flags()
	flags.StringVar(&d.Description, "description", "", "what it is for")
	flags.StringVar(&d.Provider, "provider", "", "how it runs: process or docker; default: the server's usual way")
	flags.StringVar(&d.Image, "image", "", "on docker: what runs; default: the built-in image")
	flags.StringVar(&desired, "desired", "", "where it goes first: running, standby or archived; default: running")
	flags.DurationVar(&standby, "standby-ttl", 0, "after how long without use it is stopped; default: as the policy says")
	flags.DurationVar(&archive, "archive-ttl", 0, "after how long in standby it is archived; default: as the policy says")
	flags.StringVar(&owner, "owner", "", "the user whose it is; for an admin")
	flags.StringVar(&d.Key, "key", "", "the same `key` gives the same workspace, however often it is sent")
	flags.BoolVarP(&watch, "watch", "w", false, "watch it until it is where it is wanted; the exit code is whether it got there")
	_ = c.RegisterFlagCompletionFunc("provider", cobra.FixedCompletions(providerWords, cobra.ShellCompDirectiveNoFileComp))
	_ = c.RegisterFlagCompletionFunc("desired", cobra.FixedCompletions([]string{"running", "standby", "archived"}, cobra.ShellCompDirectiveNoFileComp))
	_ = c.RegisterFlagCompletionFunc("owner", e.complete(userNames))
	return c
}

// ttlLeast is the shortest time after which a workspace is stopped or archived.
const ttlLeast = 10 * time.Second

// ttlsGiven refuses times that are too short; zero is that of the policy.
func ttlsGiven(standby, archive time.Duration) error {
	flag, d := "standby-ttl", standby
	if d == 0 || d >= ttlLeast {
		flag, d = "archive-ttl", archive
	}
	if d == 0 || d >= ttlLeast {
		return nil
	}
	return invalid("give 10s or more, or 0 for that of the policy", "--%s: %s is too short", flag, d)
}

// overLimit names what runs, so that one of them can be stopped.
func (e *env) overLimit(err error) error {
	limit, over := workspace.LimitOf(err)
	var p *problem.Problem
	if !over || !errors.As(err, &p) || e.wantsData() {
		return err
	}
	lines := []string{p.What}
	for _, r := range limit.Running {
		lines = append(lines, fmt.Sprintf("  %s  %s", clean(r.Name), r.Phase))
	}
	said := *p
	said.What = strings.Join(lines, "\n")
	if len(limit.Running) > 0 {
		said.Next = "stop one of them: weir workspace stop " + clean(limit.Running[0].Name)
	}
	return &said
}

// move is a command that wants another phase.
type move struct {
	verb, short string
	want        ladder.Phase
}

var moves = []move{
	{verb: "start", short: "Start a workspace: from standby, or out of its archive", want: ladder.Running},
	{verb: "stop", short: "Stop a workspace; its home stays where it is", want: ladder.Standby},
	{verb: "archive", short: "Stop a workspace and put its home into the bucket", want: ladder.Archived},
}

func (e *env) workspaceMoves() (commands []*cobra.Command) {
	for _, m := range moves {
		commands = append(commands, e.workspaceMove(m))
	}
	return commands
}

func (e *env) workspaceMove(m move) *cobra.Command {
	var reason string
	var watch bool
	c := &cobra.Command{
		Use: m.verb + " NAME", Short: m.short, Args: e.args("NAME"), Example: "  weir workspace " + m.verb + " notes --watch",
		RunE: e.session(func(ctx context.Context, s *app.Session, args []string) error {
			w, err := s.Workspaces.Find(ctx, args[0])
			if err != nil {
				return err
			}
			return e.moved(ctx, s, w, m.want, reason, watch)
		}),
	}
	c.Flags().StringVar(&reason, "reason", "", "why, for the timeline")
	c.Flags().BoolVarP(&watch, "watch", "w", false, "watch it until it is there; the exit code is whether it got there")
	return c
}

// workspaceDid is what a command did, as programs read it.
type workspaceDid struct {
	ID      weir.ID      `json:"id"`
	Name    string       `json:"name"`
	Changed bool         `json:"changed"`
	Desired ladder.Phase `json:"desired"`
}

func (e *env) moved(ctx context.Context, s *app.Session, w workspace.Workspace, want ladder.Phase, reason string, watch bool) error {
	changed, err := s.Workspaces.Want(ctx, w.ID, want, whoami(), reason)
	if err != nil {
		return e.overLimit(err)
	}
	o := e.output()
	said := fmt.Sprintf("is %s; %s is wanted", w.Phase, want)
	if !changed {
		said += " already"
	}
	if watch {
		if o.table() {
			fmt.Fprintf(o.Out, "Workspace %s %s.\n", clean(w.Name), said)
		}
		return watchWorkspace(ctx, o, s, w.ID, &want)
	}
	if err := o.did(w.ID.String(), workspaceDid{w.ID, w.Name, changed, want}, "Workspace %s %s.", clean(w.Name), said); err != nil {
		return err
	}
	if o.table() && w.Phase != want {
		o.say("See how far with: weir workspace show %s", clean(w.Name))
	}
	return nil
}

func (e *env) workspaceDelete() *cobra.Command {
	var reason string
	var yes, watch bool
	c := &cobra.Command{
		Use: "delete NAME", Aliases: []string{"rm"}, Short: "Delete a workspace with its home; archives are collected later", Args: e.args("NAME"),
		Example: "  weir workspace delete notes\n  weir workspace delete notes --yes --reason 'moved to the new one'",
		RunE: e.session(func(ctx context.Context, s *app.Session, args []string) error {
			w, err := s.Workspaces.Find(ctx, args[0])
			if err != nil {
				return err
			}
			if !yes {
				if err := e.sureBy(e.output(), fmt.Sprintf("Delete workspace %s with its home", clean(w.Name)), "--yes"); err != nil {
					return err
				}
			}
			return e.moved(ctx, s, w, ladder.Deleted, reason, watch)
		}),
	}
	c.Flags().StringVar(&reason, "reason", "", "why, for the timeline")
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	c.Flags().BoolVarP(&watch, "watch", "w", false, "watch it until nothing is left")
	return c
}

func (e *env) workspaceRecover() *cobra.Command {
	var reason, archive string
	var fresh, yes, watch bool
	c := &cobra.Command{
		Use: "recover NAME", Short: "Clear the error of a workspace and try again", Args: e.args("NAME"),
		Long: `Clear the error of a workspace and try again. First see what it is: weir workspace why NAME.

A home that is lost (DataLost) is not made anew by itself. --archive brings one of its
archives back: weir workspace show NAME lists them. --fresh takes the last one that is
there, or an empty home if there is none.`,
		Example: "  weir workspace recover notes --watch\n  weir workspace recover notes --archive workspaces/01a1…/home.tar.zst\n  weir workspace recover notes --fresh --yes --reason 'nothing was in it'",
		RunE: e.session(func(ctx context.Context, s *app.Session, args []string) error {
			w, err := s.Workspaces.Find(ctx, args[0])
			if err != nil {
				return err
			}
			if fresh && !yes {
				if err := e.sureBy(e.output(), fmt.Sprintf("Give up what was in the home of workspace %s since its last archive, or all of it without one", clean(w.Name)), "--yes"); err != nil {
					return err
				}
			}
			var changed bool
			if archive != "" {
				changed, err = s.Workspaces.RecoverFrom(ctx, w.ID, whoami(), reason, archive)
			} else {
				changed, err = s.Workspaces.Recover(ctx, w.ID, whoami(), reason, fresh)
			}
			if err != nil {
				return err
			}
			o := e.output()
			said := "has no error any more; it is tried again"
			if !changed {
				said = "has no error"
			}
			if watch {
				return watchWorkspace(ctx, o, s, w.ID, &w.Desired)
			}
			return o.did(w.ID.String(), workspaceDid{w.ID, w.Name, changed, w.Desired}, "Workspace %s %s.", clean(w.Name), said)
		}),
	}
	c.Flags().StringVar(&reason, "reason", "", "why, for the timeline")
	c.Flags().StringVar(&archive, "archive", "", "bring the home back from the archive with this `key`, whatever came after it")
	c.Flags().BoolVar(&fresh, "fresh", false, "the home is lost: begin with its last archive that is there, or with an empty one")
	c.Flags().BoolVarP(&yes, "yes", "y", false, "with --fresh: do not ask")
	c.MarkFlagsMutuallyExclusive("archive", "fresh")
	c.Flags().BoolVarP(&watch, "watch", "w", false, "watch it until it is where it is wanted")
	return c
}

func (e *env) workspaceSet() *cobra.Command {
	var name, description, image string
	var standby, archive time.Duration
	c := &cobra.Command{
		Use: "set NAME", Short: "Change the name, the description, the image or the times of a workspace", Args: e.args("NAME"),
		Example: "  weir workspace set notes --standby-ttl 1h\n  weir workspace set notes --standby-ttl 0 --archive-ttl 0    # as the policy says\n  weir workspace set notes --name ideas\n  weir workspace set api --image registry.example.org/dev/go:1.27    # from the next start on",
	}
	c.RunE = e.session(func(ctx context.Context, s *app.Session, args []string) error {
		if !anyGiven(c, "name", "description", "image", "standby-ttl", "archive-ttl") {
			return invalid("use it so: weir workspace set NAME --standby-ttl 1h", "nothing is to be changed")
		}
		if err := ttlsGiven(standby, archive); err != nil {
			return err
		}
		w, err := s.Workspaces.Find(ctx, args[0])
		if err != nil {
			return err
		}
		var change workspace.Change
		given := c.Flags().Changed
		if given("name") {
			change.Name = &name
		}
		if given("description") {
			change.Description = &description
		}
		if given("image") {
			change.Image = &image
		}
		if given("standby-ttl") {
			change.StandbyTTL = (*node.Span)(&standby)
		}
		if given("archive-ttl") {
			change.ArchiveTTL = (*node.Span)(&archive)
		}
		if _, err := s.Workspaces.Patch(ctx, w.ID, whoami(), change); err != nil {
			return err
		}
		if w, err = s.Workspaces.Workspace(ctx, w.ID); err != nil {
			return err
		}
		return e.output().did(w.ID.String(), w, "Workspace %s is changed: stopped after %s without use, archived after %s in standby.", clean(w.Name), span(time.Duration(w.StandbyTTL)), span(time.Duration(w.ArchiveTTL)))
	})
	flags := c.Flags()
	flags.StringVar(&name, "name", "", "another name")
	flags.StringVar(&image, "image", "", "on docker: what runs from the next start on; empty: the built-in image")
	flags.StringVar(&description, "description", "", "what it is for")
	flags.DurationVar(&standby, "standby-ttl", 0, "after how long without use it is stopped; 0: as the policy says")
	flags.DurationVar(&archive, "archive-ttl", 0, "after how long in standby it is archived; 0: as the policy says")
	return c
}
