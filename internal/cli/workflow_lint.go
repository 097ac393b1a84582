package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/workflow/definition"
)

func (e *env) workflowLint() *cobra.Command {
	return &cobra.Command{
		Use: "lint FILE...", Short: "Check workflow files; no server is needed", Args: e.some("FILE"),
		Long: `Check workflow files in YAML or JSON; - is standard input. No server is needed.

Each fault is a line file:line:column: what is wrong, then one that says what to
do. The exit code is 3 if a file cannot be used; warnings do not count.`,
		Example: "  weir workflow lint *.yaml\n  weir workflow lint - <media.yaml\n  weir workflow lint media.yaml -o json",
		RunE: e.run(func(_ *cobra.Command, args []string) error {
			files := make([]workflowFile, len(args))
			for i, path := range args {
				var err error
				if files[i], err = e.readWorkflow(path); err != nil {
					return err
				}
			}
			return printLint(e.output(), files)
		}),
	}
}

// printLint tells all faults of all files.
func printLint(o *output, files []workflowFile) error {
	bad, found := 0, definition.Faults{}
	for _, f := range files {
		failed := f.check() != nil
		if failed {
			bad++
		}
		found = append(found, f.faults...)
		switch {
		case o.data():
		case o.format == "name":
			if failed {
				fmt.Fprintln(o.Out, f.path)
			}
		default:
			printFaults(o, f.faults)
			if !failed {
				fmt.Fprintf(o.Out, "%s: %s, %s\n", clean(f.path), o.paint(green, "ok"), plural(len(f.definition.Steps), "step", "steps"))
			}
		}
	}
	if o.data() {
		if err := o.value(found); err != nil {
			return err
		}
	}
	if bad > 0 {
		return quiet(problem.Invalid)
	}
	return nil
}

func printFaults(o *output, faults definition.Faults) {
	for _, fault := range faults {
		color := red
		if fault.Warning {
			color = yellow
		}
		advice := fault.Next
		fault.Next = ""
		fmt.Fprintln(o.Out, o.paint(color, clean(fault.String())))
		if advice != "" {
			fmt.Fprintf(o.Out, "  %s\n", clean(advice))
		}
	}
}

func (e *env) workflowSchema() *cobra.Command {
	return &cobra.Command{
		Use: "schema", Short: "Print the JSON Schema of workflow files, for editors", Args: e.noArgs,
		Long: `Print the JSON Schema of workflow files. An editor that knows it completes keys
and marks what is wrong while you type: name it in the file's first line,
  # yaml-language-server: $schema=weir-workflow.schema.json`,
		Example: "  weir workflow schema >weir-workflow.schema.json",
		RunE: e.run(func(*cobra.Command, []string) error {
			o := e.output()
			if o.format != "yaml" {
				o.format = "json"
			}
			return o.value(definition.Schema())
		}),
	}
}
