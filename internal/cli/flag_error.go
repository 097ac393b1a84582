package cli

import (
	"errors"
	"regexp"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/weirhq/weir/internal/spelling"
)

// kinds says what a flag wants, by the type of its value.
var kinds = map[string]string{
	"int": "a whole number", "int64": "a whole number", "bool": "true or false", "stringToString": "KEY=VALUE",
}

// flagError names the flag and what it wants, in the words of people.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) && len(unknown.GetSpecifiedName()) > 1 {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if meant := spelling.Closest(unknown.GetSpecifiedName(), names); meant != "" {
			return invalid("did you mean: --"+meant, "%s has no flag --%s", cmd.CommandPath(), unknown.GetSpecifiedName())
		}
		return err
	}
	var wrong *pflag.InvalidValueError
	if !errors.As(err, &wrong) {
		return err
	}
	flag := wrong.GetFlag()
	if kind, known := kinds[flag.Value.Type()]; known {
		return invalid("", "--%s: %q is not %s", flag.Name, wrong.GetValue(), kind)
	}
	return invalid("", "--%s: %q: %s", flag.Name, wrong.GetValue(), errors.Unwrap(wrong))
}

var belowZero = regexp.MustCompile(`^-[0-9]+$`)

// numbered are commands with an argument that is a number, by their verb.
var numbered = map[string][]string{"priority": {"task", "tasks"}, "slots": {"pc", "pcs"}}

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
