package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/cli/accountcmd"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/cli/fleetcmd"
	"github.com/weirhq/weir/internal/cli/machinecmd"
	"github.com/weirhq/weir/internal/cli/rolloutcmd"
	"github.com/weirhq/weir/internal/cli/workcmd"
	"github.com/weirhq/weir/internal/cli/workflowcmd"
	"github.com/weirhq/weir/internal/cli/workspacecmd"
)

func completion(e *command.Env) *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	c := &cobra.Command{
		Use: "completion SHELL", Short: "Print the completion for a shell: " + strings.Join(shells, ", "), Args: e.Args("SHELL"), ValidArgs: shells,
		Long: `Print a script that lets a shell complete commands, flags, ids and names.

Ids and names come from where the command would work; a place that does not
answer in 300 ms offers none.

bash, with the package bash-completion:
  weir completion bash >~/.local/share/bash-completion/completions/weir
zsh, with a folder that is in fpath:
  weir completion zsh >"${fpath[1]}/_weir"
fish:
  weir completion fish >~/.config/fish/completions/weir.fish`,
		Example: "  source <(weir completion bash)",
		RunE: e.Run(func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(e.Out, true)
			case "zsh":
				return root.GenZshCompletion(e.Out)
			case "fish":
				return root.GenFishCompletion(e.Out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(e.Out)
			}
			return command.Invalid("choose one of "+strings.Join(shells, ", "), "%q is no shell we know", args[0])
		}),
	}
	return c
}

// completions offers names wherever one is wanted: by the noun of a command for
// its first argument, by the name of a flag for its value.
func completions(e *command.Env, root *cobra.Command) {
	byNoun := map[string]command.Names{
		"task": workcmd.TaskIDs, "job": workcmd.JobIDs, "pool": workcmd.PoolNames, "node": machinecmd.NodeNames, "schedule": workflowcmd.ScheduleNames, "trigger": workflowcmd.TriggerNames, "worker": machinecmd.WorkerNames,
		"user": accountcmd.UserNames, "workflow": workflowcmd.WorkflowNames, "secret": workcmd.SecretNames, "rollout": rolloutcmd.RolloutIDs, "database": rolloutcmd.DatabaseNames, "fleet": fleetcmd.FleetIDs, "device": fleetcmd.DeviceNames, "pc": fleetcmd.PCNames, "workspace": workspacecmd.WorkspaceNames,
	}
	byFlag := map[string]command.Names{
		"task": workcmd.TaskIDs, "job": workcmd.JobIDs, "pool": workcmd.PoolNames, "node": machinecmd.NodeNames, "service": workcmd.ServiceNames, "user": accountcmd.UserNames,
		"workflow": workflowcmd.WorkflowNames, "schedule": workflowcmd.ScheduleNames, "database": rolloutcmd.DatabaseNames, "device": fleetcmd.DeviceNames, "pc": fleetcmd.PCNames,
	}
	for _, noun := range root.Commands() {
		verbs := noun.Commands()
		if len(verbs) == 0 {
			verbs = []*cobra.Command{noun}
		}
		for _, c := range verbs {
			for flag, read := range byFlag {
				if c.LocalNonPersistentFlags().Lookup(flag) != nil {
					_ = c.RegisterFlagCompletionFunc(flag, e.Complete(read))
				}
			}
			wants := strings.Contains(c.Use, " ID") || strings.Contains(c.Use, " NAME") || strings.Contains(c.Use, " SERIAL")
			if read, ok := byNoun[noun.Name()]; ok && wants && c.ValidArgsFunction == nil {
				c.ValidArgsFunction = e.First(read)
			}
		}
		if noun.Name() == "why" {
			noun.ValidArgsFunction = e.First(workcmd.TaskIDs)
		}
		if noun.Name() == "run" {
			noun.ValidArgsFunction = e.OrFile(workflowcmd.WorkflowNames)
		}
	}
	for _, verb := range []string{"lint", "apply"} {
		if c, _, err := root.Find([]string{"workflow", verb}); err == nil {
			c.ValidArgsFunction = command.DefinitionFiles
		}
	}
	if plan, _, err := root.Find([]string{"workflow", "plan"}); err == nil {
		plan.ValidArgsFunction = e.OrFile(workflowcmd.WorkflowNames)
	}
	if submit, _, err := root.Find([]string{"task", "submit"}); err == nil {
		submit.ValidArgsFunction = e.First(workcmd.ServiceNames)
	}
	_ = root.RegisterFlagCompletionFunc("context", accountcmd.OfferContexts)
}
