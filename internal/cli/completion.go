package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/work"
)

func (e *env) completion() *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	c := &cobra.Command{
		Use: "completion SHELL", Short: "Print the completion for a shell: " + strings.Join(shells, ", "), Args: e.args("SHELL"), ValidArgs: shells,
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
		RunE: e.run(func(cmd *cobra.Command, args []string) error {
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
			return invalid("choose one of "+strings.Join(shells, ", "), "%q is no shell we know", args[0])
		}),
	}
	return c
}

func completeContexts(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return offerContexts(cmd, args, begun)
}

func offerContexts(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
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

var taskIDs = listed(work.ListTasks, func(t view.Task) (string, string) {
	about := t.Service
	if t.Key != "" {
		about = t.Key + ", " + about
	}
	return short(t.ID), string(t.State) + ": " + about
})

var jobIDs = listed(work.ListJobs, func(j view.Job) (string, string) { return short(j.ID), j.State + ": " + j.Name })

var poolNames = listed(work.ListPools, func(p work.Pool) (string, string) { return p.Name, p.Note })

var nodeNames = listed(work.ListNodes, func(n view.Node) (string, string) { return n.Name, n.State })

var scheduleNames = listed(work.ListSchedules, func(s work.Schedule) (string, string) { return s.Name, s.Spec + " " + scheduleRuns(s) })

var workerNames = listed(work.ListWorkers, func(w view.Worker) (string, string) { return w.Name, w.State })

// serviceNames are those that a live worker serves.
func serviceNames(ctx context.Context, s *app.Session) (words [][2]string, err error) {
	workers, err := work.ListWorkers.Call(ctx, s.Operations, &work.ListingWorkers{Paged: op.Paged{Limit: servedMost}})
	var services []string
	for _, w := range workers.Items {
		services = append(services, w.Services...)
	}
	slices.Sort(services)
	for _, name := range slices.Compact(services) {
		words = append(words, [2]string{name, ""})
	}
	return words, err
}

// completions offers names wherever one is wanted: by the noun of a command for
// its first argument, by the name of a flag for its value.
func (e *env) completions(root *cobra.Command) {
	byNoun := map[string]names{
		"task": taskIDs, "job": jobIDs, "pool": poolNames, "node": nodeNames, "schedule": scheduleNames, "worker": workerNames,
		"user": userNames, "workflow": workflowNames, "secret": secretNames, "rollout": rolloutIDs, "database": databaseNames, "fleet": fleetIDs, "device": deviceNames, "pc": pcNames, "workspace": workspaceNames,
	}
	byFlag := map[string]names{
		"task": taskIDs, "job": jobIDs, "pool": poolNames, "node": nodeNames, "service": serviceNames, "user": userNames,
		"workflow": workflowNames, "schedule": scheduleNames, "database": databaseNames, "device": deviceNames, "pc": pcNames,
	}
	for _, noun := range root.Commands() {
		verbs := noun.Commands()
		if len(verbs) == 0 {
			verbs = []*cobra.Command{noun}
		}
		for _, c := range verbs {
			for flag, read := range byFlag {
				if c.LocalNonPersistentFlags().Lookup(flag) != nil {
					_ = c.RegisterFlagCompletionFunc(flag, e.complete(read))
				}
			}
			wants := strings.Contains(c.Use, " ID") || strings.Contains(c.Use, " NAME") || strings.Contains(c.Use, " SERIAL")
			if read, ok := byNoun[noun.Name()]; ok && wants && c.ValidArgsFunction == nil {
				c.ValidArgsFunction = e.first(read)
			}
		}
		if noun.Name() == "why" {
			noun.ValidArgsFunction = e.first(taskIDs)
		}
		if noun.Name() == "run" {
			noun.ValidArgsFunction = e.orFile(workflowNames)
		}
	}
	for _, verb := range []string{"lint", "apply"} {
		if c, _, err := root.Find([]string{"workflow", verb}); err == nil {
			c.ValidArgsFunction = definitionFiles
		}
	}
	if plan, _, err := root.Find([]string{"workflow", "plan"}); err == nil {
		plan.ValidArgsFunction = e.orFile(workflowNames)
	}
	if submit, _, err := root.Find([]string{"task", "submit"}); err == nil {
		submit.ValidArgsFunction = e.first(serviceNames)
	}
	_ = root.RegisterFlagCompletionFunc("context", offerContexts)
}
