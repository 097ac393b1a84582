package cli

import (
	"context"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/account"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
)

func (e *env) open() *cobra.Command {
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
				return e.noArgs(cmd, args)
			}
			if args[0] != "task" && args[0] != "job" {
				return invalid("use it so: "+cmd.UseLine(), "%q is neither task nor job", args[0])
			}
			return e.args("KIND", "ID")(cmd, args)
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
			switch {
			case len(args) == 0:
				return []cobra.Completion{"task", "job"}, cobra.ShellCompDirectiveNoFileComp
			case len(args) == 1 && args[0] == "task":
				return e.complete(taskIDs)(cmd, nil, begun)
			case len(args) == 1 && args[0] == "job":
				return e.complete(jobIDs)(cmd, nil, begun)
			}
			return nil, cobra.ShellCompDirectiveNoFileComp
		},
	}
	c.Flags().BoolVar(&onlyPrint, "print", false, "print the address, do not open it")
	c.Flags().StringVar(&user, "user", "", "on the server's machine: log in as this user")
	c.RunE = e.session(func(ctx context.Context, s *app.Session, args []string) error {
		page, err := pageOf(ctx, s, args)
		if err != nil {
			return err
		}
		address, err := e.dashboard(ctx, s, page, user)
		if err != nil {
			return err
		}
		return e.lead(address, onlyPrint)
	})
	return c
}

// pageOf is the path of what is to be opened.
func pageOf(ctx context.Context, s *app.Session, args []string) (string, error) {
	if len(args) == 0 {
		return "/", nil
	}
	find, folder := findTask, "/tasks/"
	if args[0] == "job" {
		find, folder = findJob, "/jobs/"
	}
	id, err := find(ctx, s, args[1])
	return folder + id.String(), err
}

// dashboard is the address of a page. On the server's machine it logs in.
func (e *env) dashboard(ctx context.Context, s *app.Session, page, user string) (string, error) {
	switch {
	case s.Target.Dashboard == "":
		return "", problem.New(problem.NotFound, "start it with weir up or weir server, or say where it is with --server URL or --public-url URL", "it is not known where the dashboard of %s is", s.Target.Asked())
	case s.Target.Remote():
		return s.Target.Dashboard + page, nil
	}
	name, err := user, error(nil)
	if name == "" {
		name, err = self(ctx, s)
	}
	if err != nil {
		return "", err
	}
	address, err := newLink(ctx, s, name)
	if err != nil {
		return "", err
	}
	if page != "/" {
		address += "&next=" + url.QueryEscape(page)
	}
	return address, nil
}

// self is the user that whoever works on the database most likely is; "": there
// are no users yet.
func self(ctx context.Context, s *app.Session) (string, error) {
	users, err := account.ListUsers.Call(ctx, s.Operations, &op.Paged{Limit: 1000})
	if err != nil || len(users.Items) == 0 {
		return "", err
	}
	me := whoami()
	var admins []string
	for _, u := range users.Items {
		switch {
		case u.Disabled():
		case u.Name == me:
			return me, nil
		case u.Role == auth.Admin:
			admins = append(admins, u.Name)
		}
	}
	if len(admins) == 1 {
		return admins[0], nil
	}
	return "", invalid("say who you are: --user NAME; weir user list shows them", "there is no user %q here", me)
}
