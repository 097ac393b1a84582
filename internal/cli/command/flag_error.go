package command

import (
	"errors"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/weirhq/weir/internal/spelling"
)

// kinds says what a flag wants, by the type of its value.
var kinds = map[string]string{
	"int": "a whole number", "int64": "a whole number", "bool": "true or false", "stringToString": "KEY=VALUE",
}

// FlagError names the flag and what it wants, in the words of people.
func FlagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) && len(unknown.GetSpecifiedName()) > 1 {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if meant := spelling.Closest(unknown.GetSpecifiedName(), names); meant != "" {
			return Invalid("did you mean: --"+meant, "%s has no flag --%s", cmd.CommandPath(), unknown.GetSpecifiedName())
		}
		return err
	}
	var wrong *pflag.InvalidValueError
	if !errors.As(err, &wrong) {
		return err
	}
	flag := wrong.GetFlag()
	if kind, known := kinds[flag.Value.Type()]; known {
		return Invalid("", "--%s: %q is not %s", flag.Name, wrong.GetValue(), kind)
	}
	return Invalid("", "--%s: %q: %s", flag.Name, wrong.GetValue(), errors.Unwrap(wrong))
}
