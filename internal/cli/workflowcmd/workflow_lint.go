package workflowcmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/workflow/definition"
)

func workflowLint(e *command.Env) *cobra.Command {
	return &cobra.Command{
		Use: "lint FILE...", Short: "Check workflow files; no server is needed", Args: e.Some("FILE"),
		Long: `Check workflow files in YAML or JSON; - is standard input. No server is needed.

Each fault is a line file:line:column: what is wrong, then one that says what to
do. The exit code is 3 if a file cannot be used; warnings do not count.`,
		Example: "  weir workflow lint *.yaml\n  weir workflow lint - <media.yaml\n  weir workflow lint media.yaml -o json",
		RunE: e.Run(func(_ *cobra.Command, args []string) error {
			files := make([]workflowFile, len(args))
			for i, path := range args {
				var err error
				if files[i], err = readWorkflow(e, path); err != nil {
					return err
				}
			}
			return printLint(e.Output(), files)
		}),
	}
}

// printLint tells all faults of all files.
func printLint(o *command.Output, files []workflowFile) error {
	bad, found := 0, definition.Faults{}
	for _, f := range files {
		failed := f.check() != nil
		if failed {
			bad++
		}
		found = append(found, f.faults...)
		switch {
		case o.Data():
		case o.Format == "name":
			if failed {
				fmt.Fprintln(o.Out, f.path)
			}
		default:
			printFaults(o, f.faults)
			if !failed {
				fmt.Fprintf(o.Out, "%s: %s, %s\n", command.Clean(f.path), o.Paint(command.Green, "ok"), command.Plural(len(f.definition.Steps), "step", "steps"))
			}
		}
	}
	if o.Data() {
		if err := o.Value(found); err != nil {
			return err
		}
	}
	if bad > 0 {
		return command.Quiet(problem.Invalid)
	}
	return nil
}

func printFaults(o *command.Output, faults definition.Faults) {
	for _, fault := range faults {
		color := command.Red
		if fault.Warning {
			color = command.Yellow
		}
		advice := fault.Next
		fault.Next = ""
		fmt.Fprintln(o.Out, o.Paint(color, command.Clean(fault.String())))
		if advice != "" {
			fmt.Fprintf(o.Out, "  %s\n", command.Clean(advice))
		}
	}
}

func workflowSchema(e *command.Env) *cobra.Command {
	return &cobra.Command{
		Use: "schema", Short: "Print the JSON Schema of workflow files, for editors", Args: e.NoArgs,
		Long: `Print the JSON Schema of workflow files. An editor that knows it completes keys
and marks what is wrong while you type: name it in the file's first line,
  # yaml-language-server: $schema=weir-workflow.schema.json`,
		Example: "  weir workflow schema >weir-workflow.schema.json",
		RunE: e.Run(func(*cobra.Command, []string) error {
			o := e.Output()
			if o.Format != "yaml" {
				o.Format = "json"
			}
			return o.Value(definition.Schema())
		}),
	}
}
