package workflowcmd

import (
	_ "embed"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/workflow/definition"
)

// starter is a workflow that works and says in comments what else there is.
//
//go:embed starter.yaml
var starter string

func workflowInit(e *command.Env) *cobra.Command {
	return &cobra.Command{
		Use: "init [NAME]", Short: "Write a workflow file to begin with", Args: e.AtMost("NAME"),
		Long:    `Write NAME.yaml, a workflow with comments to begin with. A file that is there already stays as it is.`,
		Example: "  weir workflow init\n  weir workflow init media",
		RunE: e.Run(func(_ *cobra.Command, args []string) error {
			name := "hello"
			if len(args) > 0 {
				name = strings.TrimSuffix(args[0], ".yaml")
			}
			path, text := name+".yaml", strings.ReplaceAll(starter, "{{NAME}}", name)
			d, faults := definition.Parse(path, []byte(text))
			if d != nil {
				faults = append(faults, d.Lint()...)
			}
			if err := faults.Err(); err != nil || strings.ContainsAny(name, `/\`) {
				return command.Invalid("use letters, digits, dots, dashes and underscores", "%q is not a name for a workflow", name)
			}
			if err := command.WriteNew(path, text, "give another name", "weir workflow init NAME"); err != nil {
				return err
			}
			return e.Output().Did(path, struct {
				File string `json:"file"`
			}{path}, "Wrote %s.\nRun it with: weir run %s --watch", path, path)
		}),
	}
}
