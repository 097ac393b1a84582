package cli

import (
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/near"
)

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
	if meant := near.Word(args[0], verbs); meant != "" {
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

// keepNegative lets a number below zero be the argument of task priority, and be
// refused in plain words by pc slots: neither has a flag that is a digit. A blank
// before it makes it no flag.
func keepNegative(args []string) []string {
	verb := slices.IndexFunc(args, func(word string) bool { return numbered[word] != nil })
	if verb < 1 || !slices.Contains(numbered[args[verb]], args[verb-1]) {
		return args
	}
	args = slices.Clone(args)
	for i := verb + 1; i < len(args); i++ {
		if belowZero.MatchString(args[i]) {
			args[i] = " " + args[i]
		}
	}
	return args
}

var belowZero = regexp.MustCompile(`^-[0-9]+$`)

// numbered are commands with an argument that is a number, by their verb.
var numbered = map[string][]string{"priority": {"task", "tasks"}, "slots": {"pc", "pcs"}}

// anyGiven says that one of the flags was given.
func anyGiven(c *cobra.Command, names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return c.Flags().Changed(name) })
}

// oneOf refuses a value of a flag that is not one of the known words.
func oneOf(flag, value string, words []string) error {
	for _, word := range append(words, "") {
		if word == value {
			return nil
		}
	}
	return invalid("choose one of "+strings.Join(words, ", "), "--%s: %q is not known", flag, value)
}

// pageFlags are those of every list.
func pageFlags(c *cobra.Command, page *view.Page, what string) {
	limitFlag(c, &page.Limit)
	c.Flags().StringVar(&page.After, "after", "", "go on after this "+what)
}

// limitFlag is how much to show.
func limitFlag(c *cobra.Command, into *int) {
	*into = 50
	c.Flags().Var((*limit)(into), "limit", "how many to show, up to 1000")
}

// limit is a number from 1 to 1000.
type limit int

// Set implements [pflag.Value].
func (l *limit) Set(s string) error {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > 1000 {
		return errors.New("give a number from 1 to 1000")
	}
	*l = limit(n)
	return nil
}

func (l *limit) String() string { return strconv.Itoa(int(*l)) }

// Type implements [pflag.Value].
func (*limit) Type() string { return "number" }
