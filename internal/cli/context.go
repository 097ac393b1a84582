package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/problem"
)

// contextRow is a context as programs read it: without its token.
type contextRow struct {
	Name    string `json:"name"`
	Server  string `json:"server"`
	User    string `json:"user,omitempty"`
	Token   string `json:"token,omitempty"` // masked
	TokenID string `json:"token_id,omitempty"`
	Current bool   `json:"current"`
}

func rowOf(contexts *app.Contexts, name string) contextRow {
	c := contexts.Servers[name]
	return contextRow{name, c.Server, c.User, app.MaskToken(c.Token), c.TokenID, contexts.Current == name}
}

func (e *env) context() *cobra.Command {
	c := e.noun("context", "Servers to work with, and which one commands ask", []string{"contexts"},
		e.contextList(), e.contextShow(), e.contextUse(), e.contextAdd(), e.contextRemove())
	c.Long = `Servers to work with, and which one commands ask.

A context is a name for a server and the token to use there. They are kept in
weir/contexts.toml in the user's configuration folder, readable by its owner
alone. weir login makes one.

Where a command works: a flag wins over the environment, that over the
configuration file, that over the current context, and without any of them it is
the Weir of this machine.
  database   --database-url, WEIR_DATABASE_URL
  server     --server, WEIR_SERVER, with --token or WEIR_TOKEN
  context    --context, WEIR_CONTEXT, else the current one
  machine    --data, WEIR_DATA, else the likely folders`
	return c
}

func (e *env) contextList() *cobra.Command {
	return &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List contexts", Args: e.noArgs,
		RunE: e.run(func(*cobra.Command, []string) error {
			contexts, err := app.ReadContexts()
			if err != nil {
				return err
			}
			rows := make([]contextRow, 0, len(contexts.Servers))
			for _, name := range contexts.Names() {
				rows = append(rows, rowOf(contexts, name))
			}
			return contextListing.print(e.output(), rows)
		}),
	}
}

var contextListing = listing[contextRow]{
	name:  func(c contextRow) string { return c.Name },
	empty: []string{"There are no contexts: commands ask the Weir of this machine.", "Make one with: weir login SERVER"},
	columns: []column[contextRow]{
		{title: "CURRENT", value: func(_ *output, c contextRow) string {
			if c.Current {
				return "*"
			}
			return ""
		}},
		{title: "NAME", value: func(_ *output, c contextRow) string { return c.Name }},
		{title: "SERVER", value: func(_ *output, c contextRow) string { return c.Server }},
		{title: "USER", value: func(_ *output, c contextRow) string { return c.User }},
		{title: "TOKEN", wide: true, value: func(_ *output, c contextRow) string { return c.Token }},
	},
}

func (e *env) contextShow() *cobra.Command {
	return &cobra.Command{
		Use: "show [NAME]", Short: "Show a context, the current one if none is named; its token is masked", Args: e.atMost("NAME"),
		ValidArgsFunction: completeContexts,
		RunE: e.run(func(_ *cobra.Command, args []string) error {
			contexts, err := app.ReadContexts()
			if err != nil {
				return err
			}
			name := contexts.Current
			if len(args) > 0 {
				name = args[0]
			}
			if name == "" {
				return problem.New(problem.NotFound, "choose one with: weir context use NAME, or make one with: weir login SERVER", "no context is current")
			}
			if _, err := contexts.Get(name); err != nil {
				return err
			}
			o, row := e.output(), rowOf(contexts, name)
			return o.show(name, row, func() error {
				return o.details([]field{{"Context", name}, {"Server", row.Server}, {"User", row.User}, {"Token", row.Token}, {"Token id", row.TokenID}, {"Current", yes(row.Current)}, {"File", contexts.Path()}})
			})
		}),
	}
}

func (e *env) contextUse() *cobra.Command {
	var none bool
	c := &cobra.Command{
		Use: "use NAME", Short: "Let commands ask this server from now on", ValidArgsFunction: completeContexts,
		Example: "  weir context use production\n  weir context use --none    # the Weir of this machine again",
	}
	c.Flags().BoolVar(&none, "none", false, "use no context: the Weir of this machine")
	c.Args = func(cmd *cobra.Command, args []string) error {
		if none {
			return e.noArgs(cmd, args)
		}
		return e.args("NAME")(cmd, args)
	}
	c.RunE = e.run(func(cmd *cobra.Command, args []string) error {
		contexts, err := app.ReadContexts()
		if err != nil {
			return err
		}
		if none {
			contexts.Current = ""
			if err := contexts.Write(); err != nil {
				return err
			}
			return e.output().did("", contextRow{}, "Commands ask the Weir of this machine.")
		}
		name := args[0]
		if _, err := contexts.Get(name); err != nil {
			return err
		}
		contexts.Current = name
		if err := contexts.Write(); err != nil {
			return err
		}
		return e.toldCurrent(cmd, contexts, name)
	})
	return c
}

// toldCurrent says which context is current, and what keeps it from being used.
func (e *env) toldCurrent(cmd *cobra.Command, contexts *app.Contexts, name string) error {
	o := e.output()
	if err := o.did(name, rowOf(contexts, name), "Commands ask %s (context %s).", contexts.Servers[name].Server, name); err != nil {
		return err
	}
	if target, err := e.target(cmd); err == nil && o.table() && target.Context != name {
		o.say("But %s wins over it: commands ask %s.", target.Origin, target.Asked())
	}
	return nil
}

func (e *env) contextAdd() *cobra.Command {
	var fromStdin, use bool
	var user string
	c := &cobra.Command{
		Use: "add NAME --server URL", Short: "Add a context, or replace it", Args: e.args("NAME"),
		Long: `Add a context, or replace it. The first one becomes the current one.

Give the token on standard input: on the command line other people of the
machine can read it.`,
		Example: "  weir context add production --server https://weir.example.org --token-stdin <token.txt",
	}
	c.Flags().BoolVar(&fromStdin, "token-stdin", false, "read the token from standard input")
	c.Flags().StringVar(&user, "user", "", "whose token it is, for people")
	c.Flags().BoolVar(&use, "use", false, "make it the current one")
	c.RunE = e.run(func(cmd *cobra.Command, args []string) (err error) {
		server, _ := cmd.Flags().GetString("server")
		token, _ := cmd.Flags().GetString("token")
		if server == "" {
			return problem.New(problem.Invalid, "give it with --server https://weir.example.org", "a context needs a server")
		}
		if fromStdin {
			if token, err = e.stdinSecret("token"); err != nil {
				return err
			}
		}
		return e.keep(args[0], app.Context{Server: server, Token: strings.TrimSpace(token), User: user}, use)
	})
	return c
}

// keep stores a context and says so.
func (e *env) keep(name string, c app.Context, use bool) error {
	contexts, err := app.ReadContexts()
	if err != nil {
		return err
	}
	if err := contexts.Set(name, c); err != nil {
		return err
	}
	if use {
		contexts.Current = name
	}
	if err := contexts.Write(); err != nil {
		return err
	}
	o, row := e.output(), rowOf(contexts, name)
	if app.InTheClear(row.Server) {
		o.say("Note: %s is not https: the token can be read on the way.", row.Server)
	}
	if row.Current {
		return o.did(name, row, "Context %s is kept and current: commands ask %s.", name, row.Server)
	}
	return o.did(name, row, "Context %s is kept. Use it with: weir context use %s", name, name)
}

func (e *env) contextRemove() *cobra.Command {
	return &cobra.Command{
		Use: "remove NAME", Aliases: []string{"rm", "drop"}, Short: "Forget a context; its token stays good until it is revoked or expires", Args: e.args("NAME"),
		ValidArgsFunction: completeContexts,
		RunE: e.run(func(_ *cobra.Command, args []string) error {
			contexts, err := app.ReadContexts()
			if err != nil {
				return err
			}
			if _, err := contexts.Get(args[0]); err != nil {
				return err
			}
			row := rowOf(contexts, args[0])
			contexts.Remove(args[0])
			if err := contexts.Write(); err != nil {
				return err
			}
			return e.output().did(row.Name, row, "Context %s is gone.", row.Name)
		}),
	}
}
