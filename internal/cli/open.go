package cli

import (
	"context"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/accountcmd"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/cli/workcmd"
	"github.com/weirhq/weir/internal/problem"
)

func open(e *command.Env) *cobra.Command {
	var onlyPrint bool
	var user string
	c := &cobra.Command{
		Use: "open [task|job ID]", Short: "Open the dashboard in the browser, or the page of a task or a job",
		Long: `Open the dashboard in the browser, or the page of a task or a job.

On the server's own machine the link logs you in, once: as --user, else as the
user with your name here, else as the only admin there is. If nobody is set up
yet, the link makes the first user. Elsewhere it is the plain address.`,
		Example: "  weir open\n  weir open job 8057b302099a\n  weir open --print",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return e.NoArgs(cmd, args)
			}
			if args[0] != "task" && args[0] != "job" {
				return command.Invalid("use it so: "+cmd.UseLine(), "%q is neither task nor job", args[0])
			}
			return e.Args("KIND", "ID")(cmd, args)
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
			switch {
			case len(args) == 0:
				return []cobra.Completion{"task", "job"}, cobra.ShellCompDirectiveNoFileComp
			case len(args) == 1 && args[0] == "task":
				return e.Complete(workcmd.TaskIDs)(cmd, nil, begun)
			case len(args) == 1 && args[0] == "job":
				return e.Complete(workcmd.JobIDs)(cmd, nil, begun)
			}
			return nil, cobra.ShellCompDirectiveNoFileComp
		},
	}
	c.Flags().BoolVar(&onlyPrint, "print", false, "print the address, do not open it")
	c.Flags().StringVar(&user, "user", "", "on the server's machine: log in as this user")
	c.RunE = e.Session(func(ctx context.Context, s *app.Session, args []string) error {
		page, err := pageOf(ctx, s, args)
		if err != nil {
			return err
		}
		address, err := dashboard(ctx, e, s, page, user)
		if err != nil {
			return err
		}
		return e.Lead(address, onlyPrint)
	})
	return c
}

// pageOf is the path of what is to be opened.
func pageOf(ctx context.Context, s *app.Session, args []string) (string, error) {
	if len(args) == 0 {
		return "/", nil
	}
	find, folder := workcmd.FindTask, "/tasks/"
	if args[0] == "job" {
		find, folder = workcmd.FindJob, "/jobs/"
	}
	id, err := find(ctx, s, args[1])
	return folder + id.String(), err
}

// dashboard is the address of a page. On the server's machine it logs in.
func dashboard(ctx context.Context, e *command.Env, s *app.Session, page, user string) (string, error) {
	switch {
	case s.Target.Dashboard == "":
		return "", problem.New(problem.NotFound, "start it with weir up or weir server, or say where it is with --server URL or --public-url URL", "it is not known where the dashboard of %s is", s.Target.Asked())
	case s.Target.Remote():
		return s.Target.Dashboard + page, nil
	}
	name, err := user, error(nil)
	if name == "" {
		name, err = accountcmd.Self(ctx, s)
	}
	if err != nil {
		return "", err
	}
	address, err := accountcmd.NewLink(ctx, s, name)
	if err != nil {
		return "", err
	}
	if page != "/" {
		address += "&next=" + url.QueryEscape(page)
	}
	return address, nil
}
