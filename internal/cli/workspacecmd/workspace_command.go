package workspacecmd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/accountcmd"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/workspace"
	"github.com/weirhq/weir/internal/workspace/ladder"
)

func workspaceCreate(e *command.Env) *cobra.Command {
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
	typed := e.Flagged(c, &workspace.Create.Operation, in)
	c.RunE = e.Session(func(ctx context.Context, s *app.Session, args []string) (err error) {
		if err := typed(args); err != nil {
			return err
		}
		if in.Body.Owner == "" && !s.Target.Remote() {
			if in.Body.Owner, err = accountcmd.Self(ctx, s); err != nil {
				return err
			}
		}
		in.IdempotencyKey = in.Body.IdempotencyKey // the client looks there whether it may send it again
		w, err := workspace.Create.Call(ctx, s.Operations, in)
		if err != nil {
			return overLimit(e, err)
		}
		o := e.Output()
		said := "is made"
		if w.Existed {
			said = "was there already"
		}
		if watch {
			if o.Table() {
				fmt.Fprintf(o.Out, "Workspace %s %s; %s is wanted.\n", command.Clean(w.Name), said, w.Desired)
			}
			return watchWorkspace(ctx, o, s, w.ID, &w.Desired)
		}
		if err := o.Did(w.ID.String(), w, "Workspace %s %s; %s is wanted.", command.Clean(w.Name), said, w.Desired); err != nil {
			return err
		}
		if o.Table() {
			o.Say("Open it with: weir workspace open %s", command.Clean(w.Name))
		}
		return nil
	})
	c.Flags().BoolVarP(&watch, "watch", "w", false, "watch it until it is where it is wanted; the exit code is whether it got there")
	_ = c.RegisterFlagCompletionFunc("provider", cobra.FixedCompletions([]string{"process", "docker"}, cobra.ShellCompDirectiveNoFileComp))
	_ = c.RegisterFlagCompletionFunc("owner", e.Complete(accountcmd.UserNames))
	return c
}

// overLimit names what runs, so that one of them can be stopped.
func overLimit(e *command.Env, err error) error {
	limit, over := workspace.LimitOf(err)
	var p *problem.Problem
	if !over || !errors.As(err, &p) || e.WantsData() {
		return err
	}
	lines := []string{p.What}
	for _, r := range limit.Running {
		lines = append(lines, fmt.Sprintf("  %s  %s", command.Clean(r.Name), r.Phase))
	}
	said := *p
	said.What = strings.Join(lines, "\n")
	if len(limit.Running) > 0 {
		said.Next = "stop one of them: weir workspace stop " + command.Clean(limit.Running[0].Name)
	}
	return &said
}

// workspaceMove is a command that wants another phase.
func workspaceMove(e *command.Env, o *op.Op[*workspace.Host, workspace.Decision, workspace.Answer], want ladder.Phase) *cobra.Command {
	var watch bool
	c := &cobra.Command{Example: "  weir workspace " + o.Verb + " notes --watch"}
	c.Flags().BoolVarP(&watch, "watch", "w", false, "watch it until it is there; the exit code is whether it got there")
	return limited(e, command.Operation(e, o, c, func(ctx context.Context, s *app.Session, _ *workspace.Decision, did workspace.Answer) error {
		return moved(ctx, e, s, did, want, watch)
	}))
}

// limited makes a command name what runs, where there is no room for one more.
func limited(e *command.Env, c *cobra.Command) *cobra.Command {
	run := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error { return overLimit(e, run(c, args)) }
	return c
}

// surely makes a command ask before it does something to a workspace, unless there is --yes.
func surely(e *command.Env, c *cobra.Command, yes *bool, question string) *cobra.Command {
	run := c.RunE
	sure := e.Session(func(ctx context.Context, s *app.Session, args []string) error {
		w, err := Find(ctx, s, args[0])
		if err != nil {
			return err
		}
		return e.SureBy(e.Output(), fmt.Sprintf(question, command.Clean(w.Name)), "--yes")
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

func moved(ctx context.Context, e *command.Env, s *app.Session, did workspace.Answer, want ladder.Phase, watch bool) error {
	o, w := e.Output(), did.Workspace
	said := fmt.Sprintf("is %s; %s is wanted", w.Phase, want)
	if !did.Changed {
		said += " already"
	}
	if watch {
		if o.Table() {
			fmt.Fprintf(o.Out, "Workspace %s %s.\n", command.Clean(w.Name), said)
		}
		return watchWorkspace(ctx, o, s, w.ID, &want)
	}
	if err := o.Did(w.ID.String(), workspaceDid{w.ID, w.Name, did.Changed, want}, "Workspace %s %s.", command.Clean(w.Name), said); err != nil {
		return err
	}
	if o.Table() && w.Phase != want {
		o.Say("See how far with: weir workspace show %s", command.Clean(w.Name))
	}
	return nil
}

func workspaceDelete(e *command.Env) *cobra.Command {
	var yes, watch bool
	c := &cobra.Command{Aliases: []string{"rm"}, Example: "  weir workspace delete notes\n  weir workspace delete notes --yes --reason 'moved to the new one'"}
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	c.Flags().BoolVarP(&watch, "watch", "w", false, "watch it until nothing is left")
	command.Operation(e, workspace.Delete, c, func(ctx context.Context, s *app.Session, _ *workspace.Deleting, did workspace.Answer) error {
		return moved(ctx, e, s, did, ladder.Deleted, watch)
	})
	return surely(e, c, &yes, "Delete workspace %s with its home")
}

func workspaceRecover(e *command.Env) *cobra.Command {
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
	command.Operation(e, workspace.Recover, c, func(ctx context.Context, s *app.Session, _ *workspace.Recovering, did workspace.Answer) error {
		o, w := e.Output(), did.Workspace
		said := "has no error any more; it is tried again"
		if !did.Changed {
			said = "has no error"
		}
		if watch {
			return watchWorkspace(ctx, o, s, w.ID, &w.Desired)
		}
		return o.Did(w.ID.String(), workspaceDid{w.ID, w.Name, did.Changed, w.Desired}, "Workspace %s %s.", command.Clean(w.Name), said)
	})
	c.MarkFlagsMutuallyExclusive("archive", "fresh")
	return surely(e, c, &yes, "Give up what was in the home of workspace %s since its last archive, or all of it without one")
}

func workspaceSet(e *command.Env) *cobra.Command {
	c := &cobra.Command{
		Short:   "Change the name, the description, the image or the times of a workspace",
		Example: "  weir workspace set notes --standby-ttl 1h\n  weir workspace set notes --standby-ttl 0 --archive-ttl 0    # as the policy says\n  weir workspace set notes --name ideas\n  weir workspace set api --image registry.example.org/dev/go:1.27    # from the next start on",
	}
	command.Operation(e, workspace.Set, c, func(_ context.Context, _ *app.Session, _ *workspace.Changing, w workspace.View) error {
		return e.Output().Did(w.ID.String(), w, "Workspace %s is changed: stopped after %s without use, archived after %s in standby.", command.Clean(w.Name), command.Span(time.Duration(w.StandbyTTL)), command.Span(time.Duration(w.ArchiveTTL)))
	})
	run := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		if !command.AnyGiven(c, "name", "description", "image", "standby-ttl", "archive-ttl") {
			return command.Invalid("use it so: weir workspace set NAME --standby-ttl 1h", "nothing is to be changed")
		}
		return run(c, args)
	}
	return c
}
