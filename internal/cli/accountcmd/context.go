package accountcmd

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/command"
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

// Contexts is the command weir context.
func Contexts(e *command.Env) *cobra.Command {
	c := e.Noun("context", "Servers to work with, and which one commands ask", []string{"contexts"},
		contextList(e), contextShow(e), contextUse(e), contextAdd(e), contextRemove(e))
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

func contextList(e *command.Env) *cobra.Command {
	return &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List contexts", Args: e.NoArgs,
		RunE: e.Run(func(*cobra.Command, []string) error {
			contexts, err := app.ReadContexts()
			if err != nil {
				return err
			}
			rows := make([]contextRow, 0, len(contexts.Servers))
			for _, name := range contexts.Names() {
				rows = append(rows, rowOf(contexts, name))
			}
			return contextListing.Print(e.Output(), rows)
		}),
	}
}

var contextListing = command.Listing[contextRow]{
	Name:  func(c contextRow) string { return c.Name },
	Empty: []string{"There are no contexts: commands ask the Weir of this machine.", "Make one with: weir login SERVER"},
	Columns: []command.Column[contextRow]{
		{Title: "CURRENT", Value: func(_ *command.Output, c contextRow) string {
			if c.Current {
				return "*"
			}
			return ""
		}},
		{Title: "NAME", Value: func(_ *command.Output, c contextRow) string { return c.Name }},
		{Title: "SERVER", Value: func(_ *command.Output, c contextRow) string { return c.Server }},
		{Title: "USER", Value: func(_ *command.Output, c contextRow) string { return c.User }},
		{Title: "TOKEN", Wide: true, Value: func(_ *command.Output, c contextRow) string { return c.Token }},
	},
}

func contextShow(e *command.Env) *cobra.Command {
	return &cobra.Command{
		Use: "show [NAME]", Short: "Show a context, the current one if none is named; its token is masked", Args: e.AtMost("NAME"),
		ValidArgsFunction: completeContexts,
		RunE: e.Run(func(_ *cobra.Command, args []string) error {
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
			o, row := e.Output(), rowOf(contexts, name)
			return o.Show(name, row, func() error {
				return o.Details([]command.Field{{"Context", name}, {"Server", row.Server}, {"User", row.User}, {"Token", row.Token}, {"Token id", row.TokenID}, {"Current", command.Yes(row.Current)}, {"File", contexts.Path()}})
			})
		}),
	}
}

func contextUse(e *command.Env) *cobra.Command {
	var none bool
	c := &cobra.Command{
		Use: "use NAME", Short: "Let commands ask this server from now on", ValidArgsFunction: completeContexts,
		Example: "  weir context use production\n  weir context use --none    # the Weir of this machine again",
	}
	c.Flags().BoolVar(&none, "none", false, "use no context: the Weir of this machine")
	c.Args = func(cmd *cobra.Command, args []string) error {
		if none {
			return e.NoArgs(cmd, args)
		}
		return e.Args("NAME")(cmd, args)
	}
	c.RunE = e.Run(func(cmd *cobra.Command, args []string) error {
		contexts, err := app.ReadContexts()
		if err != nil {
			return err
		}
		if none {
			contexts.Current = ""
			if err := contexts.Write(); err != nil {
				return err
			}
			return e.Output().Did("", contextRow{}, "Commands ask the Weir of this machine.")
		}
		name := args[0]
		if _, err := contexts.Get(name); err != nil {
			return err
		}
		contexts.Current = name
		if err := contexts.Write(); err != nil {
			return err
		}
		return toldCurrent(e, cmd, contexts, name)
	})
	return c
}

// toldCurrent says which context is current, and what keeps it from being used.
func toldCurrent(e *command.Env, cmd *cobra.Command, contexts *app.Contexts, name string) error {
	o := e.Output()
	if err := o.Did(name, rowOf(contexts, name), "Commands ask %s (context %s).", contexts.Servers[name].Server, name); err != nil {
		return err
	}
	if target, err := e.Target(cmd); err == nil && o.Table() && target.Context != name {
		o.Say("But %s wins over it: commands ask %s.", target.Origin, target.Asked())
	}
	return nil
}

func contextAdd(e *command.Env) *cobra.Command {
	var fromStdin, use bool
	var user string
	c := &cobra.Command{
		Use: "add NAME --server URL", Short: "Add a context, or replace it", Args: e.Args("NAME"),
		Long: `Add a context, or replace it. The first one becomes the current one.

Give the token on standard input: on the command line other people of the
machine can read it.`,
		Example: "  weir context add production --server https://weir.example.org --token-stdin <token.txt",
	}
	c.Flags().BoolVar(&fromStdin, "token-stdin", false, "read the token from standard input")
	c.Flags().StringVar(&user, "user", "", "whose token it is, for people")
	c.Flags().BoolVar(&use, "use", false, "make it the current one")
	c.RunE = e.Run(func(cmd *cobra.Command, args []string) (err error) {
		server, _ := cmd.Flags().GetString("server")
		token, _ := cmd.Flags().GetString("token")
		if server == "" {
			return problem.New(problem.Invalid, "give it with --server https://weir.example.org", "a context needs a server")
		}
		if fromStdin {
			if token, err = e.StdinSecret("token"); err != nil {
				return err
			}
		}
		return keep(e, args[0], app.Context{Server: server, Token: strings.TrimSpace(token), User: user}, use)
	})
	return c
}

// keep stores a context and says so.
func keep(e *command.Env, name string, c app.Context, use bool) error {
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
	o, row := e.Output(), rowOf(contexts, name)
	if app.InTheClear(row.Server) {
		o.Say("Note: %s is not https: the token can be read on the way.", row.Server)
	}
	if row.Current {
		return o.Did(name, row, "Context %s is kept and current: commands ask %s.", name, row.Server)
	}
	return o.Did(name, row, "Context %s is kept. Use it with: weir context use %s", name, name)
}

func contextRemove(e *command.Env) *cobra.Command {
	return &cobra.Command{
		Use: "remove NAME", Aliases: []string{"rm", "drop"}, Short: "Forget a context; its token stays good until it is revoked or expires", Args: e.Args("NAME"),
		ValidArgsFunction: completeContexts,
		RunE: e.Run(func(_ *cobra.Command, args []string) error {
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
			return e.Output().Did(row.Name, row, "Context %s is gone.", row.Name)
		}),
	}
}

func completeContexts(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return OfferContexts(cmd, args, begun)
}

// OfferContexts completes the name of a context.
func OfferContexts(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	contexts, err := app.ReadContexts()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var words []cobra.Completion
	for _, name := range contexts.Names() {
		words = append(words, cobra.CompletionWithDesc(name, contexts.Servers[name].Server))
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}
