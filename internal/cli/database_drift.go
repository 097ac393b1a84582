package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/rollout"
	"github.com/weirhq/weir/internal/rollout/target"
)

func (e *env) databaseDrift() *cobra.Command {
	var accept bool
	c := &cobra.Command{
		Use: "drift NAME", Short: "Say whether somebody changed the schema beside the rollouts", Args: e.args("NAME"),
		Long: `Compare the schema of a database with the one that it had after its last change,
or that was last accepted. The exit code is 1 when they differ.`,
		Example: "  weir database drift orders-eu\n  weir database drift orders-eu --accept",
		RunE: e.session(func(ctx context.Context, s *app.Session, args []string) error {
			if accept {
				report, err := rollout.AcceptDrift.Call(ctx, s.Operations, &rollout.NamedDatabase{Database: args[0]})
				if err != nil {
					return err
				}
				return e.output().did(args[0], report, "Database %s: the schema as it is now is the one to compare with.", clean(args[0]))
			}
			report, err := rollout.ShowDrift.Call(ctx, s.Operations, &rollout.NamedDatabase{Database: args[0]})
			if err != nil {
				return err
			}
			return printDrift(e.output(), report)
		}),
	}
	c.Flags().BoolVar(&accept, "accept", false, "take the schema as it is for the right one")
	return e.keyed(c)
}

func printDrift(o *output, r rollout.DriftReport) (err error) {
	switch {
	case o.data():
		err = o.value(r)
	case o.format == "name":
		if r.Drifted {
			_, err = fmt.Fprintln(o.Out, clean(r.Database))
		}
	case r.Base == nil:
		o.say("There is nothing to compare with yet. Take the schema as it is with: weir database drift %s --accept", clean(r.Database))
	case !r.Drifted:
		_, err = fmt.Fprintf(o.Out, "Database %s is as it was %s.\n", clean(r.Database), o.ago(*r.Base))
	default:
		fmt.Fprintf(o.Out, "Database %s has changed since %s:\n", clean(r.Database), o.both(*r.Base))
		for _, line := range strings.Split(strings.TrimRight(cleanLines(r.Diff), "\n"), "\n") {
			color := plain
			switch {
			case strings.HasPrefix(line, "+"):
				color = green
			case strings.HasPrefix(line, "-"):
				color = red
			}
			fmt.Fprintln(o.Out, o.paint(color, line))
		}
		if r.Note != "" {
			o.say("Mind: %s.", clean(r.Note))
		}
		o.say("Take it for the right one with: weir database drift %s --accept", clean(r.Database))
	}
	if err == nil && r.Drifted {
		return quiet(problem.Failed)
	}
	return err
}

func (e *env) databaseImport() *cobra.Command {
	var dryRun bool
	c := &cobra.Command{
		Use: "import NAME", Short: "Take over the history of goose, Flyway or golang-migrate", Args: e.args("NAME"),
		Long: `Take over the history that goose (goose_db_version), Flyway (flyway_schema_history)
or golang-migrate (schema_migrations) left in a database, so that what it applied is
not applied again. The other tool's table stays as it is. Twice is the same as once.`,
		Example: "  weir database import orders-eu --dry-run\n  weir database import orders-eu",
		RunE: e.session(func(ctx context.Context, s *app.Session, args []string) error {
			o := e.output()
			if dryRun {
				found, err := rollout.ShowForeign.Call(ctx, s.Operations, &rollout.NamedDatabase{Database: args[0]})
				if err != nil {
					return err
				}
				return printForeign(o, args[0], found.Foreign)
			}
			taken, err := rollout.ImportHistory.Call(ctx, s.Operations, &rollout.NamedDatabase{Database: args[0]})
			if err != nil {
				return err
			}
			return o.did(args[0], struct {
				Name     string `json:"name"`
				Imported int    `json:"imported"`
			}{args[0], taken.Imported}, "Database %s: %s taken over. See it with: weir database history %s", clean(args[0]), plural(taken.Imported, "entry", "entries"), clean(args[0]))
		}),
	}
	c.Flags().BoolVar(&dryRun, "dry-run", false, "only show what would be taken over")
	return e.keyed(c)
}

func printForeign(o *output, name string, f *target.Foreign) error {
	switch {
	case o.data():
		return o.value(f)
	case f == nil:
		o.say("Database %s has no history of another tool.", clean(name))
		return nil
	}
	shown := listing[target.ForeignEntry]{
		name: func(x target.ForeignEntry) string { return changeLabel(x.Version, x.Name) },
		columns: []column[target.ForeignEntry]{
			{title: "VERSION", value: func(_ *output, x target.ForeignEntry) string { return x.Version }},
			{title: "NAME", value: func(_ *output, x target.ForeignEntry) string { return x.Name }},
			{title: "APPLIED", value: func(o *output, x target.ForeignEntry) string { return o.ago(x.AppliedAt) }},
			{title: "NOTE", value: func(_ *output, x target.ForeignEntry) string {
				if x.Baseline {
					return strings.TrimSuffix("everything up to here; "+x.Note, "; ")
				}
				return x.Note
			}},
		},
	}
	if o.table() {
		fmt.Fprintf(o.Out, "%s, in %s: %s\n", clean(f.Tool), clean(f.Table), plural(len(f.Entries), "entry", "entries"))
	}
	if err := shown.print(o, f.Entries); err != nil || !o.table() {
		return err
	}
	if f.Fault != "" {
		return problem.New(problem.Conflict, "mend it with "+f.Tool+" first", "it must not be taken over as it is: %s", f.Fault)
	}
	o.say("Nothing was written. Take it over with: weir database import %s", clean(name))
	return nil
}
