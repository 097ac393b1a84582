package command

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/problem"
)

// BulkFlags say how careful to be.
type BulkFlags struct{ Yes, DryRun bool }

// Register offers them.
func (f *BulkFlags) Register(c *cobra.Command) {
	c.Flags().BoolVar(&f.Yes, "yes", false, "with a filter: do not ask")
	c.Flags().BoolVar(&f.DryRun, "dry-run", false, "with a filter: only say how many match, and show some")
}

// Many names what is changed: one, several, and what they are afterwards.
type Many struct{ One, Several, Did string }

// Count is so many of them.
func (m Many) Count(n int) string { return Plural(n, m.One, m.Several) }

const (
	// BulkHelp is the same for all that can be done to many.
	BulkHelp = `Without an id it is done to all that match the filter: first it says how many
those are and asks. --yes does not ask, --dry-run only looks. It can be done again.
The exit code is 1 if some were refused.`
	// RefusalsShown is how many refusals a person is told.
	RefusalsShown = 5
)

// Sure asks a person whether it is meant.
func (e *Env) Sure(o *Output, question string) error {
	return e.SureBy(o, question, "--yes, or look with --dry-run")
}

// SureBy is sure for a command whose flags say it in another way.
func (e *Env) SureBy(o *Output, question, flags string) error {
	answer, err := e.Ask(question+"? yes or no", "no", flags)
	if err != nil {
		return err
	}
	if a := strings.ToLower(answer); a != "y" && a != "yes" {
		o.Say("Nothing was done.")
		return Quiet(problem.Canceled)
	}
	return nil
}
