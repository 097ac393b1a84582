package cli

import (
	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/app"
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
