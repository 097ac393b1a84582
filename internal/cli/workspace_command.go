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
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/workspace"
	"github.com/weirhq/weir/internal/workspace/ladder"
)

func (e *env) workspaceCreate() *cobra.Command {
	var watch bool
	in := new(workspace.Creating)
	c := &cobra.Command{
		Short: "Make a workspace and start it",
		Long: `Make a workspace and start it. Its home is kept: it is stopped when nobody uses it,
and later archived, and comes back when it is opened.

Without --image it is the built-in one: files, a terminal and an editor. With the
provider process it runs on the server's machine as the server itself, which takes an
admin; with docker in a container of its own.`,
		Example:           "  weir workspace create notes --watch\n  weir workspace create api --provider docker --image registry.example.org/dev/go:1.26\n  weir workspace create later --desired archived --standby-ttl 30m",
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	typed := e.flagged(c, &workspace.Create.Operation, in)
	c.RunE = e.session(func(ctx context.Context, s *app.Session, args []string) (err error) {
		if err := typed(args); err != nil {
			return err
		}
		if in.Body.Owner == "" && !s.Target.Remote() {
			if in.Body.Owner, err = self(ctx, s); err != nil {
				return err
			}
		}
		in.IdempotencyKey = in.Body.IdempotencyKey // the client looks there whether it may send it again
		w, err := workspace.Create.Call(ctx, s.Operations, in)
		if err != nil {
			return e.overLimit(err)
		}
		o := e.output()
		said := "is made"
		if w.Existed {
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
	c.Flags().BoolVarP(&watch, "watch", "w", false, "watch it until it is where it is wanted; the exit code is whether it got there")
	_ = c.RegisterFlagCompletionFunc("provider", cobra.FixedCompletions([]string{"process", "docker"}, cobra.ShellCompDirectiveNoFileComp))
	_ = c.RegisterFlagCompletionFunc("owner", e.complete(userNames))
	return c
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

// workspaceMove is a command that wants another phase.
func (e *env) workspaceMove(o *op.Op[*workspace.Host, workspace.Decision, workspace.Answer], want ladder.Phase) *cobra.Command {
	var watch bool
	c := &cobra.Command{Example: "  weir workspace " + o.Verb + " notes --watch"}
	c.Flags().BoolVarP(&watch, "watch", "w", false, "watch it until it is there; the exit code is whether it got there")
	return e.limited(operation(e, o, c, func(ctx context.Context, s *app.Session, _ *workspace.Decision, did workspace.Answer) error {
		return e.moved(ctx, s, did, want, watch)
	}))
}

// limited makes a command name what runs, where there is no room for one more.
func (e *env) limited(c *cobra.Command) *cobra.Command {
	run := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error { return e.overLimit(run(c, args)) }
	return c
}

// surely makes a command ask before it does something to a workspace, unless there is --yes.
func (e *env) surely(c *cobra.Command, yes *bool, question string) *cobra.Command {
	run := c.RunE
	sure := e.session(func(ctx context.Context, s *app.Session, args []string) error {
		w, err := workspaceOf(ctx, s, args[0])
		if err != nil {
			return err
		}
		return e.sureBy(e.output(), fmt.Sprintf(question, clean(w.Name)), "--yes")
	})
	c.RunE = func(c *cobra.Command, args []string) error {
		if fresh := c.Flags().Lookup("fresh"); !*yes && (fresh == nil || fresh.Changed) {
			if err := sure(c, args); err != nil {
				return err
			}
		}
		return run(c, args)
	}
	return c
}

// workspaceDid is what a command did, as programs read it.
type workspaceDid struct {
	ID      weir.ID      `json:"id"`
	Name    string       `json:"name"`
	Changed bool         `json:"changed"`
	Desired ladder.Phase `json:"desired"`
}

func (e *env) moved(ctx context.Context, s *app.Session, did workspace.Answer, want ladder.Phase, watch bool) error {
	o, w := e.output(), did.Workspace
	said := fmt.Sprintf("is %s; %s is wanted", w.Phase, want)
	if !did.Changed {
		said += " already"
	}
	if watch {
		if o.table() {
			fmt.Fprintf(o.Out, "Workspace %s %s.\n", clean(w.Name), said)
		}
		return watchWorkspace(ctx, o, s, w.ID, &want)
	}
	if err := o.did(w.ID.String(), workspaceDid{w.ID, w.Name, did.Changed, want}, "Workspace %s %s.", clean(w.Name), said); err != nil {
		return err
	}
	if o.table() && w.Phase != want {
		o.say("See how far with: weir workspace show %s", clean(w.Name))
	}
	return nil
}

func (e *env) workspaceDelete() *cobra.Command {
	var yes, watch bool
	c := &cobra.Command{Aliases: []string{"rm"}, Example: "  weir workspace delete notes\n  weir workspace delete notes --yes --reason 'moved to the new one'"}
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	c.Flags().BoolVarP(&watch, "watch", "w", false, "watch it until nothing is left")
	operation(e, workspace.Delete, c, func(ctx context.Context, s *app.Session, _ *workspace.Deleting, did workspace.Answer) error {
		return e.moved(ctx, s, did, ladder.Deleted, watch)
	})
	return e.surely(c, &yes, "Delete workspace %s with its home")
}

func (e *env) workspaceRecover() *cobra.Command {
	var yes, watch bool
	c := &cobra.Command{
		Long: `Clear the error of a workspace and try again. First see what it is: weir workspace why NAME.

A home that is lost (DataLost) is not made anew by itself. --archive brings one of its
archives back: weir workspace show NAME lists them. --fresh takes the last one that is
there, or an empty home if there is none.`,
		Example: "  weir workspace recover notes --watch\n  weir workspace recover notes --archive workspaces/01a1…/home.tar.zst\n  weir workspace recover notes --fresh --yes --reason 'nothing was in it'",
	}
	c.Flags().BoolVarP(&yes, "yes", "y", false, "with --fresh: do not ask")
	c.Flags().BoolVarP(&watch, "watch", "w", false, "watch it until it is where it is wanted")
	operation(e, workspace.Recover, c, func(ctx context.Context, s *app.Session, _ *workspace.Recovering, did workspace.Answer) error {
		o, w := e.output(), did.Workspace
		said := "has no error any more; it is tried again"
		if !did.Changed {
			said = "has no error"
		}
		if watch {
			return watchWorkspace(ctx, o, s, w.ID, &w.Desired)
		}
		return o.did(w.ID.String(), workspaceDid{w.ID, w.Name, did.Changed, w.Desired}, "Workspace %s %s.", clean(w.Name), said)
	})
	c.MarkFlagsMutuallyExclusive("archive", "fresh")
	return e.surely(c, &yes, "Give up what was in the home of workspace %s since its last archive, or all of it without one")
}

func (e *env) workspaceSet() *cobra.Command {
	c := &cobra.Command{
		Short:   "Change the name, the description, the image or the times of a workspace",
		Example: "  weir workspace set notes --standby-ttl 1h\n  weir workspace set notes --standby-ttl 0 --archive-ttl 0    # as the policy says\n  weir workspace set notes --name ideas\n  weir workspace set api --image registry.example.org/dev/go:1.27    # from the next start on",
	}
	operation(e, workspace.Set, c, func(_ context.Context, _ *app.Session, _ *workspace.Changing, w workspace.View) error {
		return e.output().did(w.ID.String(), w, "Workspace %s is changed: stopped after %s without use, archived after %s in standby.", clean(w.Name), span(time.Duration(w.StandbyTTL)), span(time.Duration(w.ArchiveTTL)))
	})
	run := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		if !anyGiven(c, "name", "description", "image", "standby-ttl", "archive-ttl") {
			return invalid("use it so: weir workspace set NAME --standby-ttl 1h", "nothing is to be changed")
		}
		return run(c, args)
	}
	return c
}
