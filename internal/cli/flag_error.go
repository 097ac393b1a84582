package cli

import (
	"errors"
	"regexp"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
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
		if near := nearest(unknown.GetSpecifiedName(), names); near != "" {
			return invalid("did you mean: --"+near, "%s has no flag --%s", cmd.CommandPath(), unknown.GetSpecifiedName())
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

// nearest is the word that is most like a text, if one is like enough: a letter
// or two apart, and fewer than half of its letters.
func nearest(text string, words []string) string {
	best, least := "", 3
	for _, word := range words {
		if d := distance(text, word); d < least && 2*d < len(word) {
			best, least = word, d
		}
	}
	return best
}

// distance is how many letters must be changed, added, left out or swapped with
// the next one.
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			change := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}

var belowZero = regexp.MustCompile(`^-[0-9]+$`)

// keepNegative lets a number below zero be the argument of task priority, which
// has no flag that is a digit. A blank before it makes it no flag.
func keepNegative(args []string) []string {
	verb := slices.Index(args, "priority")
	if verb < 1 || args[verb-1] != "task" && args[verb-1] != "tasks" {
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
