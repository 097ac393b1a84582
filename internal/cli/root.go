package cli

import (
	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/spelling"
)

const (
	groupWork     = "work"
	groupMachines = "machines"
	groupPeople   = "people"
	groupServer   = "server"
	groupClient   = "client"
)

// root is the whole tree of commands.
func (e *env) root() *cobra.Command {
	if e.program == "" {
		e.program = "weir"
	}
	root := &cobra.Command{
		Use:   "weir",
		Short: "A control plane that lives in one PostgreSQL database",
		Long: `Weir runs work: tasks that pass gates, never run twice, and can say why they wait.

Start a server with its own PostgreSQL and something to look at:
  weir up --demo
Then, in another terminal, look around and run a workflow of your own:
  weir job list
  weir workflow init
  weir run hello.yaml --watch`,
		Version: e.version, SilenceErrors: true, SilenceUsage: true,
		Args: e.noArgs, RunE: e.help,
		Annotations: map[string]string{cobra.CommandDisplayNameAnnotation: e.program},
	}
	root.SetIn(e.In)
	root.SetOut(e.Out)
	root.SetErr(e.Err)
	root.CompletionOptions.DisableDefaultCmd = true // ours says the same in the words of the rest
	e.helpFor = e.program
	flags := root.PersistentFlags()
	flags.StringVar(&e.configFile, "config", "", "TOML `file` with settings (WEIR_CONFIG)")
	flags.StringVarP(&e.format, "output", "o", "table", "table, wide, json, yaml or name")
	settingFlags(root, true, "data", "database_url")
	for _, s := range app.ClientSettings() {
		flags.String(s.Flag, "", s.Help+" ("+s.Variable+")")
	}
	_ = root.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		e.helpFor = cmd.CommandPath()
		return flagError(cmd, err)
	})
	root.AddGroup(&cobra.Group{ID: groupWork, Title: "Work:"}, &cobra.Group{ID: groupMachines, Title: "Machines:"}, &cobra.Group{ID: groupPeople, Title: "People and credentials:"}, &cobra.Group{ID: groupServer, Title: "Server:"}, &cobra.Group{ID: groupClient, Title: "This command:"})
	for group, commands := range map[string][]*cobra.Command{
		groupWork:     {e.runCommand(), e.workflow(), e.job(), e.task(), e.rollout(), e.database(), e.fleet(), e.workspace(), e.schedule(), e.pool(), e.artifact(), e.secret(), e.events(), e.whyCommand()},
		groupMachines: {e.agent(), e.node(), e.worker(), e.pc(), e.device()},
		groupPeople:   {e.user(), e.token(), e.sessionNoun(), e.join()},
		groupServer:   {e.up(), e.server(), e.urlCommand(), e.migrate(), e.doctor(), e.configCommand()},
		groupClient:   {e.open(), e.login(), e.logout(), e.context(), e.completion(), e.versionCommand()},
	} {
		for _, c := range commands {
			c.GroupID = group
			root.AddCommand(c)
		}
	}
	root.AddCommand(e.docs(), e.workspaceInside())
	e.completions(root)
	e.verbs = map[string]bool{}
	for _, c := range root.Commands() {
		e.verbs[c.Name()] = true
	}
	e.hintHelp(root)
	return root
}

// settingFlags offers settings as flags; none named: all that are not global.
func settingFlags(cmd *cobra.Command, persistent bool, names ...string) {
	for _, s := range app.Settings() {
		wanted := len(names) == 0 && s.Name != "data" && s.Name != "database_url"
		for _, name := range names {
			wanted = wanted || s.Name == name
		}
		if !wanted {
			continue
		}
		flags := cmd.Flags()
		if persistent {
			flags = cmd.PersistentFlags()
		}
		help := s.Help
		if s.Default != "" {
			help += "; default: " + s.Default
		}
		flags.String(s.Flag, "", help+" ("+s.Variable+")")
	}
}

// noun is a command that only holds verbs.
func (e *env) noun(use, short string, aliases []string, verbs ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Aliases: aliases, Args: e.noArgs, RunE: e.help}
	c.AddCommand(verbs...)
	return c
}

func (e *env) help(cmd *cobra.Command, _ []string) error {
	e.began = true
	return cmd.Help()
}

// noArgs refuses arguments: for a noun they are verbs that do not exist.
func (e *env) noArgs(cmd *cobra.Command, args []string) error {
	e.helpFor = cmd.CommandPath()
	if len(args) == 0 {
		return nil
	}
	if !cmd.HasSubCommands() {
		return invalid("", "%s takes no argument, got %q", cmd.CommandPath(), args[0])
	}
	var verbs []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			verbs = append(verbs, append([]string{c.Name()}, c.Aliases...)...)
		}
	}
	if meant := spelling.Closest(args[0], verbs); meant != "" {
		return invalid("did you mean: "+cmd.CommandPath()+" "+meant, "%s has no command %q", cmd.CommandPath(), args[0])
	}
	return invalid("", "%s has no command %q", cmd.CommandPath(), args[0])
}

// atMost wants at most these arguments.
func (e *env) atMost(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		return e.args(names[:min(len(args), len(names))]...)(cmd, args)
	}
}

// some wants one or more arguments.
func (e *env) some(name string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		return e.args(name)(cmd, args[:min(len(args), 1)])
	}
}

// args wants exactly these arguments.
func (e *env) args(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		e.helpFor = cmd.CommandPath()
		switch {
		case len(args) < len(names):
			return invalid("use it so: "+cmd.UseLine(), "%s is missing", names[len(args)])
		case len(args) > len(names):
			return invalid("use it so: "+cmd.UseLine(), "%q is one argument too many", args[len(names)])
		}
		return nil
	}
}
