package cli

import (
	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/accountcmd"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/cli/fleetcmd"
	"github.com/weirhq/weir/internal/cli/machinecmd"
	"github.com/weirhq/weir/internal/cli/rolloutcmd"
	"github.com/weirhq/weir/internal/cli/workcmd"
	"github.com/weirhq/weir/internal/cli/workflowcmd"
	"github.com/weirhq/weir/internal/cli/workspacecmd"
)

const (
	groupWork     = "work"
	groupMachines = "machines"
	groupPeople   = "people"
	groupServer   = "server"
	groupClient   = "client"
)

// root is the whole tree of commands.
func root(e *command.Env) *cobra.Command {
	if e.Program == "" {
		e.Program = "weir"
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
		Version: e.Version, SilenceErrors: true, SilenceUsage: true,
		Args: e.NoArgs, RunE: e.Help,
		Annotations: map[string]string{cobra.CommandDisplayNameAnnotation: e.Program},
	}
	root.SetIn(e.In)
	root.SetOut(e.Out)
	root.SetErr(e.Err)
	root.CompletionOptions.DisableDefaultCmd = true // ours says the same in the words of the rest
	e.HelpFor = e.Program
	flags := root.PersistentFlags()
	flags.StringVar(&e.ConfigFile, "config", "", "TOML `file` with settings (WEIR_CONFIG)")
	flags.StringVarP(&e.Format, "output", "o", "table", "table, wide, json, yaml or name")
	command.SettingFlags(root, true, "data", "database_url")
	for _, s := range app.ClientSettings() {
		flags.String(s.Flag, "", s.Help+" ("+s.Variable+")")
	}
	_ = root.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(command.Formats, cobra.ShellCompDirectiveNoFileComp))
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		e.HelpFor = cmd.CommandPath()
		return command.FlagError(cmd, err)
	})
	root.AddGroup(&cobra.Group{ID: groupWork, Title: "Work:"}, &cobra.Group{ID: groupMachines, Title: "Machines:"}, &cobra.Group{ID: groupPeople, Title: "People and credentials:"}, &cobra.Group{ID: groupServer, Title: "Server:"}, &cobra.Group{ID: groupClient, Title: "This command:"})
	for group, commands := range map[string][]*cobra.Command{
		groupWork:     {workflowcmd.Run(e), workflowcmd.Workflow(e), workcmd.Job(e), workcmd.Task(e), rolloutcmd.Rollout(e), rolloutcmd.Database(e), fleetcmd.Fleet(e), workspacecmd.Workspace(e), workflowcmd.Schedule(e), workflowcmd.Trigger(e), workcmd.Pool(e), workcmd.Artifact(e), workcmd.Secret(e), workcmd.Events(e), why(e)},
		groupMachines: {machinecmd.Agent(e), machinecmd.Node(e), machinecmd.Worker(e), fleetcmd.PC(e), fleetcmd.Device(e)},
		groupPeople:   {accountcmd.User(e), accountcmd.Token(e), accountcmd.Sessions(e), accountcmd.Join(e)},
		groupServer:   {up(e), server(e), databaseURL(e), migrate(e), doctor(e), configCommand(e)},
		groupClient:   {open(e), accountcmd.Login(e), accountcmd.Logout(e), accountcmd.Contexts(e), completion(e), versionCommand(e)},
	} {
		for _, c := range commands {
			c.GroupID = group
			root.AddCommand(c)
		}
	}
	root.AddCommand(docs(e), workspacecmd.Inside(e))
	completions(e, root)
	e.Verbs = map[string]bool{}
	for _, c := range root.Commands() {
		e.Verbs[c.Name()] = true
	}
	e.HintHelp(root)
	return root
}
