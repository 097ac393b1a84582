package cli

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/problem"
)

// docs writes the reference from the commands themselves, so that it is never
// out of date.
func docs(e *command.Env) *cobra.Command {
	var out string
	c := &cobra.Command{
		Use: "docs", Short: "Write the reference of the command line", Hidden: true, Args: e.NoArgs,
		RunE: e.Run(func(cmd *cobra.Command, _ []string) error {
			text := reference(cmd.Root())
			if out == "" {
				_, err := fmt.Fprint(e.Out, text)
				return err
			}
			return os.WriteFile(out, []byte(text), 0o644) // #nosec G306 -- a page for everybody
		}),
	}
	c.Flags().StringVar(&out, "out", "", "write to this `file` instead of standard output")
	return c
}

// reference is the page: exit codes, settings, global flags, then each command.
func reference(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString("# Command line\n\n<!-- Written by `weir docs`; do not edit. -->\n\n")
	b.WriteString(fenced(root.Long) + "\n\n")
	b.WriteString("## Exit codes\n\n| code | meaning |\n|---|---|\n| 0 | ok |\n")
	for i, meaning := range problem.Exits() {
		fmt.Fprintf(&b, "| %d | %s |\n", i+1, meaning)
	}
	b.WriteString("\n## Settings\n\nA flag wins over the environment, that over the file, that over the default. `weir config` shows what holds and why.\n\n")
	b.WriteString("| file | environment | flag | default | meaning |\n|---|---|---|---|---|\n")
	for _, s := range app.Settings() {
		fmt.Fprintf(&b, "| `%s` | `%s` | `--%s` | %s | %s |\n", s.Name, s.Variable, s.Flag, s.Default, s.Help)
	}
	b.WriteString("\nWhere a command works is said by these; a server reads none of them. `weir context` has the order.\n\n")
	b.WriteString("| environment | flag | meaning |\n|---|---|---|\n")
	for _, s := range app.ClientSettings() {
		fmt.Fprintf(&b, "| `%s` | `--%s` | %s |\n", s.Variable, s.Flag, s.Help)
	}
	b.WriteString("\n## Flags of every command\n\n" + flagTable(root.PersistentFlags()))
	writeCommands(&b, root)
	return b.String()
}

func writeCommands(b *strings.Builder, c *cobra.Command) {
	for _, child := range c.Commands() {
		if child.Hidden || child.Name() == "help" {
			continue
		}
		if child.HasSubCommands() {
			text := child.Short + "."
			if child.Long != "" {
				text = fenced(child.Long)
			}
			fmt.Fprintf(b, "\n## weir %s\n\n%s\n", child.Name(), text)
			writeCommands(b, child)
			continue
		}
		level := "###"
		if c.Parent() == nil {
			level = "##"
		}
		fmt.Fprintf(b, "\n%s %s\n\n", level, child.CommandPath())
		text := child.Short + "."
		if child.Long != "" {
			text = child.Long
		}
		fmt.Fprintf(b, "%s\n\n```\n%s\n```\n", fenced(text), child.UseLine())
		if child.Example != "" {
			fmt.Fprintf(b, "\nExamples:\n\n```\n%s\n```\n", strings.ReplaceAll(strings.TrimPrefix(child.Example, "  "), "\n  ", "\n"))
		}
		if table := flagTable(child.LocalNonPersistentFlags()); table != "" {
			b.WriteString("\n" + table)
		}
	}
}

// fenced puts the indented lines of a help text into a code block.
func fenced(text string) string {
	var out []string
	inside := false
	for _, line := range strings.Split(text, "\n") {
		indented := strings.HasPrefix(line, "  ")
		if indented != inside {
			out = append(out, "```")
			inside = indented
		}
		out = append(out, strings.TrimPrefix(line, "  "))
	}
	if inside {
		out = append(out, "```")
	}
	return strings.Join(out, "\n")
}

func flagTable(flags *pflag.FlagSet) string {
	var b strings.Builder
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		value, help := pflag.UnquoteUsage(f)
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		switch {
		case strings.ContainsAny(value, "0123456789"):
			name += " " + value // an example
		case value != "":
			name += " " + strings.ToUpper(value)
		}
		if def := f.DefValue; def != "" && def != "0" && def != "false" && def != "[]" {
			help += "; default: " + def
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", name, strings.ReplaceAll(help, "|", `\|`))
	})
	if b.Len() == 0 {
		return ""
	}
	return "| flag | meaning |\n|---|---|\n" + b.String()
}
