package command

import (
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/spelling"
)

// SettingFlags offers settings as flags; none named: all that are not global.
func SettingFlags(cmd *cobra.Command, persistent bool, names ...string) {
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

// ownFlag marks flags that have the name of a setting and are another thing.
const ownFlag = "weir-own-flag"

// OwnFlag says that a flag of a command is not the setting of that name. Without it the
// value would become the setting of this process, and a check against the setting could
// not fail.
func OwnFlag(cmd *cobra.Command, name string) {
	if err := cmd.Flags().SetAnnotation(name, ownFlag, []string{name}); err != nil {
		panic(err) // there is no such flag: a programming error
	}
}

// Noun is a command that only holds verbs.
func (e *Env) Noun(use, short string, aliases []string, verbs ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Aliases: aliases, Args: e.NoArgs, RunE: e.Help}
	c.AddCommand(verbs...)
	return c
}

// Help prints the help of a command.
func (e *Env) Help(cmd *cobra.Command, _ []string) error {
	e.Began = true
	return cmd.Help()
}

// NoArgs refuses arguments: for a noun they are verbs that do not exist.
func (e *Env) NoArgs(cmd *cobra.Command, args []string) error {
	e.HelpFor = cmd.CommandPath()
	if len(args) == 0 {
		return nil
	}
	if !cmd.HasSubCommands() {
		return Invalid("", "%s takes no argument, got %q", cmd.CommandPath(), args[0])
	}
	var verbs []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			verbs = append(verbs, append([]string{c.Name()}, c.Aliases...)...)
		}
	}
	if meant := spelling.Closest(args[0], verbs); meant != "" {
		return Invalid("did you mean: "+cmd.CommandPath()+" "+meant, "%s has no command %q", cmd.CommandPath(), args[0])
	}
	return Invalid("", "%s has no command %q", cmd.CommandPath(), args[0])
}

// AtMost wants at most these arguments.
func (e *Env) AtMost(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		return e.Args(names[:min(len(args), len(names))]...)(cmd, args)
	}
}

// Some wants one or more arguments.
func (e *Env) Some(name string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		return e.Args(name)(cmd, args[:min(len(args), 1)])
	}
}

// Args wants exactly these arguments.
func (e *Env) Args(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		e.HelpFor = cmd.CommandPath()
		switch {
		case len(args) < len(names):
			return Invalid("use it so: "+cmd.UseLine(), "%s is missing", names[len(args)])
		case len(args) > len(names):
			return Invalid("use it so: "+cmd.UseLine(), "%q is one argument too many", args[len(names)])
		}
		return nil
	}
}

// KeepNegative lets a number below zero be the argument of task priority, and be
// refused in plain words by pc slots: neither has a flag that is a digit. A blank
// before it makes it no flag.
func KeepNegative(args []string) []string {
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

// AnyGiven says that one of the flags was given.
func AnyGiven(c *cobra.Command, names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return c.Flags().Changed(name) })
}

// OneOf refuses a value of a flag that is not one of the known words.
func OneOf(flag, value string, words []string) error {
	for _, word := range append(words, "") {
		if word == value {
			return nil
		}
	}
	return Invalid("choose one of "+strings.Join(words, ", "), "--%s: %q is not known", flag, value)
}

// PageFlags are those of every list.
func PageFlags(c *cobra.Command, page *view.Page, what string) {
	LimitFlag(c, &page.Limit)
	c.Flags().StringVar(&page.After, "after", "", "go on after this "+what)
}

// LimitFlag is how much to show.
func LimitFlag(c *cobra.Command, into *int) {
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
