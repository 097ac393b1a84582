package rolloutcmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/rollout"
	"github.com/weirhq/weir/internal/rollout/target"
)

func databaseDrift(e *command.Env) *cobra.Command {
	var accept bool
	c := &cobra.Command{
		Use: "drift NAME", Short: "Say whether somebody changed the schema beside the rollouts", Args: e.Args("NAME"),
		Long: `Compare the schema of a database with the one that it had after its last change,
or that was last accepted. The exit code is 1 when they differ.`,
		Example: "  weir database drift orders-eu\n  weir database drift orders-eu --accept",
		RunE: e.Session(func(ctx context.Context, s *app.Session, args []string) error {
			if accept {
				report, err := rollout.AcceptDrift.Call(ctx, s.Operations, &rollout.NamedDatabase{Database: args[0]})
				if err != nil {
					return err
				}
				return e.Output().Did(args[0], report, "Database %s: the schema as it is now is the one to compare with.", command.Clean(args[0]))
			}
			report, err := rollout.ShowDrift.Call(ctx, s.Operations, &rollout.NamedDatabase{Database: args[0]})
			if err != nil {
				return err
			}
			return printDrift(e.Output(), report)
		}),
	}
	c.Flags().BoolVar(&accept, "accept", false, "take the schema as it is for the right one")
	return keyed(e, c)
}

func printDrift(o *command.Output, r rollout.DriftReport) (err error) {
	switch {
	case o.Data():
		err = o.Value(r)
	case o.Format == "name":
		if r.Drifted {
			_, err = fmt.Fprintln(o.Out, command.Clean(r.Database))
		}
	case r.Base == nil:
		o.Say("There is nothing to compare with yet. Take the schema as it is with: weir database drift %s --accept", command.Clean(r.Database))
	case !r.Drifted:
		_, err = fmt.Fprintf(o.Out, "Database %s is as it was %s.\n", command.Clean(r.Database), o.Ago(*r.Base))
	default:
		fmt.Fprintf(o.Out, "Database %s has changed since %s:\n", command.Clean(r.Database), o.Both(*r.Base))
		for _, line := range strings.Split(strings.TrimRight(command.CleanLines(r.Diff), "\n"), "\n") {
			color := command.Plain
			switch {
			case strings.HasPrefix(line, "+"):
				color = command.Green
			case strings.HasPrefix(line, "-"):
				color = command.Red
			}
			fmt.Fprintln(o.Out, o.Paint(color, line))
		}
		if r.Note != "" {
			o.Say("Mind: %s.", command.Clean(r.Note))
		}
		o.Say("Take it for the right one with: weir database drift %s --accept", command.Clean(r.Database))
	}
	if err == nil && r.Drifted {
		return command.Quiet(problem.Failed)
	}
	return err
}

func databaseImport(e *command.Env) *cobra.Command {
	var dryRun bool
	c := &cobra.Command{
		Use: "import NAME", Short: "Take over the history of goose, Flyway or golang-migrate", Args: e.Args("NAME"),
		Long: `Take over the history that goose (goose_db_version), Flyway (flyway_schema_history)
or golang-migrate (schema_migrations) left in a database, so that what it applied is
not applied again. The other tool's table stays as it is. Twice is the same as once.`,
		Example: "  weir database import orders-eu --dry-run\n  weir database import orders-eu",
		RunE: e.Session(func(ctx context.Context, s *app.Session, args []string) error {
			o := e.Output()
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
			return o.Did(args[0], struct {
				Name     string `json:"name"`
				Imported int    `json:"imported"`
			}{args[0], taken.Imported}, "Database %s: %s taken over. See it with: weir database history %s", command.Clean(args[0]), command.Plural(taken.Imported, "entry", "entries"), command.Clean(args[0]))
		}),
	}
	c.Flags().BoolVar(&dryRun, "dry-run", false, "only show what would be taken over")
	return keyed(e, c)
}

func printForeign(o *command.Output, name string, f *target.Foreign) error {
	switch {
	case o.Data():
		return o.Value(f)
	case f == nil:
		o.Say("Database %s has no history of another tool.", command.Clean(name))
		return nil
	}
	shown := command.Listing[target.ForeignEntry]{
		Name: func(x target.ForeignEntry) string { return changeLabel(x.Version, x.Name) },
		Columns: []command.Column[target.ForeignEntry]{
			{Title: "VERSION", Value: func(_ *command.Output, x target.ForeignEntry) string { return x.Version }},
			{Title: "NAME", Value: func(_ *command.Output, x target.ForeignEntry) string { return x.Name }},
			{Title: "APPLIED", Value: func(o *command.Output, x target.ForeignEntry) string { return o.Ago(x.AppliedAt) }},
			{Title: "NOTE", Value: func(_ *command.Output, x target.ForeignEntry) string {
				if x.Baseline {
					return strings.TrimSuffix("everything up to here; "+x.Note, "; ")
				}
				return x.Note
			}},
		},
	}
	if o.Table() {
		fmt.Fprintf(o.Out, "%s, in %s: %s\n", command.Clean(f.Tool), command.Clean(f.Table), command.Plural(len(f.Entries), "entry", "entries"))
	}
	if err := shown.Print(o, f.Entries); err != nil || !o.Table() {
		return err
	}
	if f.Fault != "" {
		return problem.New(problem.Conflict, "mend it with "+f.Tool+" first", "it must not be taken over as it is: %s", f.Fault)
	}
	o.Say("Nothing was written. Take it over with: weir database import %s", command.Clean(name))
	return nil
}
