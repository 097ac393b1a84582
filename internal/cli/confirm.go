package cli

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/weirhq/weir/internal/problem"
)

// bulkFlags say how careful to be.
type bulkFlags struct{ yes, dryRun bool }

func (f *bulkFlags) register(c *cobra.Command) {
	c.Flags().BoolVar(&f.yes, "yes", false, "with a filter: do not ask")
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "with a filter: only say how many match, and show some")
}

// many names what is changed: one, several, and what they are afterwards.
type many struct{ one, several, did string }

func (m many) count(n int) string { return plural(n, m.one, m.several) }

const (
	// bulkHelp is the same for all that can be done to many.
	bulkHelp = `Without an id it is done to all that match the filter: first it says how many
those are and asks. --yes does not ask, --dry-run only looks. It can be done again.
The exit code is 1 if some were refused.`
	// refusalsShown is how many refusals a person is told.
	refusalsShown = 5
)

// sure asks a person whether it is meant.
func (e *env) sure(o *output, question string) error {
	return e.sureBy(o, question, "--yes, or look with --dry-run")
}

// sureBy is sure for a command whose flags say it in another way.
func (e *env) sureBy(o *output, question, flags string) error {
	answer, err := e.ask(question+"? yes or no", "no", flags)
	if err != nil {
		return err
	}
	if a := strings.ToLower(answer); a != "y" && a != "yes" {
		o.say("Nothing was done.")
		return quiet(problem.Canceled)
	}
	return nil
}
