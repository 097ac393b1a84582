package accountcmd

import (
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/problem"
)

// Login is the command weir login.
func Login(e *command.Env) *cobra.Command {
	var name, user, ttl string
	var tokenStdin, passwordStdin bool
	c := &cobra.Command{
		Use: "login SERVER", Short: "Log in at a server and keep it as the current context", Args: e.Args("SERVER"),
		Long: `Log in at a server and keep it as the current context: commands ask it from then
on.

Your name and password are asked for. They make a token for this machine, which
is kept in the contexts file; the password is not kept. With --token-stdin a
token that you have already is kept instead.`,
		Example: "  weir login https://weir.example.org\n  weir login weir.example.org --name production --token-stdin <token.txt",
	}
	flags := c.Flags()
	flags.StringVar(&name, "name", "", "name of the context; default: the host of the server")
	flags.StringVar(&user, "user", "", "your name there, instead of being asked")
	flags.BoolVar(&passwordStdin, "password-stdin", false, "read the password from standard input")
	flags.BoolVar(&tokenStdin, "token-stdin", false, "keep the token that comes on standard input")
	flags.StringVar(&ttl, "ttl", "", "how long the token is good; default: 90d")
	c.RunE = e.Run(func(cmd *cobra.Command, args []string) error {
		server, err := app.ServerURL(args[0])
		if err != nil {
			return err
		}
		if name == "" {
			u, err := url.Parse(server)
			if err != nil {
				return err
			}
			name = strings.ReplaceAll(u.Host, ":", "-")
		}
		if app.InTheClear(server) {
			e.Output().Say("Note: %s is not https: what you send can be read on the way.", server)
		}
		credentials, err := credentials(e, server, user, ttl, tokenStdin, passwordStdin)
		if err != nil {
			return err
		}
		e.Asked = server
		context, err := app.Enroll(cmd.Context(), server, e.Version, credentials)
		if err != nil {
			return err
		}
		return keep(e, name, context, true)
	})
	return c
}

// credentials reads or asks for what a login needs.
func credentials(e *command.Env, server, user, ttl string, tokenStdin, passwordStdin bool) (c app.Credentials, err error) {
	if tokenStdin {
		c.Token, err = e.StdinSecret("token")
		return c, err
	}
	d, err := readTTL(ttl)
	if c.TTL = time.Duration(d); err != nil {
		return c, err
	}
	if c.Name = user; user == "" {
		if c.Name, err = e.Ask("Your name at "+server, command.Whoami(), "--user NAME"); err != nil {
			return c, err
		}
	}
	if passwordStdin {
		c.Password, err = e.StdinSecret("password")
		return c, err
	}
	c.Password, err = e.AskSecret("Password", "--password-stdin, or a token with --token-stdin")
	return c, err
}

// Logout is the command weir logout.
func Logout(e *command.Env) *cobra.Command {
	c := &cobra.Command{
		Use: "logout [NAME]", Short: "Forget a context and its token, the current one if none is named", Args: e.AtMost("NAME"),
		Long: `Forget a context and its token, the current one if none is named.

A token that weir login made is ended at the server, too. One that was given
with --token-stdin stays good: others may use it.`,
		ValidArgsFunction: completeContexts,
	}
	c.RunE = e.Run(func(cmd *cobra.Command, args []string) error {
		contexts, err := app.ReadContexts()
		if err != nil {
			return err
		}
		name := contexts.Current
		if len(args) > 0 {
			name = args[0]
		}
		if name == "" {
			return problem.New(problem.NotFound, "see what there is", "you are logged in nowhere: no context is current").Run("weir context list")
		}
		found, err := contexts.Get(name)
		if err != nil {
			return err
		}
		row := rowOf(contexts, name)
		contexts.Remove(name)
		if err := contexts.Write(); err != nil {
			return err
		}
		o := e.Output()
		if err := o.Did(name, row, "Logged out of %s: context %s is gone.", found.Server, name); err != nil {
			return err
		}
		if found.TokenID == "" {
			return nil
		}
		if err := app.Resign(cmd.Context(), found, e.Version); err != nil && o.Table() {
			o.Say("Its token could not be ended (%s): it is good until it expires. End it with: weir token revoke %s --server %s --as %s", problem.Explain(err).What, found.TokenID, found.Server, found.User)
		}
		return nil
	})
	return c
}
