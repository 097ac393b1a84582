package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/rollout"
	"github.com/weirhq/weir/internal/rollout/target"
)

func (e *env) database() *cobra.Command {
	return e.noun("database", "The databases that rollouts change", []string{"databases", "db"},
		e.databaseList(), e.databaseShow(), e.databaseAdd(), e.databaseSet(), e.databaseCheck(), e.databaseHistory(), e.databaseDrift(), e.databaseImport(), e.databaseRemove())
}

func (e *env) databaseList() *cobra.Command {
	c := &cobra.Command{Short: "List databases and what is applied there", Example: "  weir database list --environment prod --watch\n  weir database list --label region=eu -o json"}
	return lists(e, rollout.ListDatabases, c, databaseListing)
}

var engines = []string{"postgres", "mysql"}

var databaseListing = listing[rollout.Database]{
	name:  func(d rollout.Database) string { return d.Name },
	empty: []string{"There are no databases.", "Register one with: weir database add NAME --environment test <FILE, where FILE has its address"},
	columns: []column[rollout.Database]{
		{title: "NAME", value: func(_ *output, d rollout.Database) string { return d.Name }},
		{title: "ENGINE", value: func(_ *output, d rollout.Database) string { return d.Engine }},
		{title: "ENVIRONMENT", value: func(_ *output, d rollout.Database) string { return d.Environment }},
		{title: "STATE", value: func(_ *output, d rollout.Database) string { return databaseState(d) }, paint: func(s string) string {
			if s == "drifted" {
				return yellow
			}
			return stateColor(s)
		}},
		{title: "VERSION", value: func(_ *output, d rollout.Database) string { return d.Version }},
		{title: "LIVE", value: func(_ *output, d rollout.Database) string { return fmt.Sprint(d.Live) }},
		{title: "LABELS", value: func(_ *output, d rollout.Database) string { return labels(d.Labels) }},
		{title: "SERVER", wide: true, value: func(_ *output, d rollout.Database) string { return d.Server }},
		{title: "SECRET", wide: true, value: func(_ *output, d rollout.Database) string { return d.Secret }},
		{title: "CHECKED", ages: true, value: func(o *output, d rollout.Database) string { return o.agoOf(d.CheckedAt) }},
		{title: "NOTE", value: func(_ *output, d rollout.Database) string {
			if d.Fault != "" {
				return d.Fault
			}
			return d.Note
		}},
	},
}

// databaseState is how the last look at a database ended. One that drifted was
// changed by somebody else.
func databaseState(d rollout.Database) string {
	switch {
	case d.Fault != "":
		return "broken"
	case d.Drifted:
		return "drifted"
	case d.CheckedAt == nil:
		return "unseen"
	}
	return "ok"
}

func (e *env) databaseShow() *cobra.Command {
	c := &cobra.Command{Short: "Show a database and the rollouts that reach it; its address is never shown"}
	return operation(e, rollout.ShowDatabase, c, func(ctx context.Context, s *app.Session, _ *rollout.NamedDatabase, d rollout.Database) error {
		o := e.output()
		return o.show(d.Name, d, func() error {
			if err := o.details(databaseFields(o, d)); err != nil {
				return err
			}
			found, err := rollout.List.Call(ctx, s.Operations, &rollout.Listing{Paged: op.Paged{Limit: 10}, Filter: rollout.Filter{Database: d.Name}})
			if err != nil {
				return err
			}
			return rolloutListing.below(o, "Rollouts", found.Items)
		})
	})
}

func databaseFields(o *output, d rollout.Database) []field {
	fields := []field{
		{"Database", d.Name},
		{"Engine", d.Engine},
		{"Environment", d.Environment},
		{"State", databaseState(d)},
		{"Fault", d.Fault},
		{"Version", d.Version},
		{"Runs that live", fmt.Sprint(d.Live)},
		{"Labels", labels(d.Labels)},
		{"Note", d.Note},
		{"Server", d.Server},
		{"Identity", d.Identity},
		{"Secret", d.Secret},
		{"Registered", o.both(d.CreatedAt)},
		{"By", d.By},
	}
	if d.CheckedAt != nil {
		fields = append(fields, field{"Checked", o.both(*d.CheckedAt)})
	}
	return fields
}

func (e *env) databaseCheck() *cobra.Command {
	var accept bool
	c := &cobra.Command{
		Use: "check NAME", Short: "Connect to a database: which is it, and what is applied there", Args: e.args("NAME"),
		Long: `Connect to a database and write down which it is and what is applied there. It also
looks whether its user may create the tables in which Weir keeps the history.
An address that leads to another database than before is a fault: no rollout runs
there, unless --accept takes that database for the right one from now on.
The exit code is 1 when it cannot be reached, is another one, or may not be changed.`,
		RunE: e.session(func(ctx context.Context, s *app.Session, args []string) error {
			d, err := rollout.CheckDatabase.Call(ctx, s.Operations, &rollout.Checking{NamedDatabase: rollout.NamedDatabase{Database: args[0]}, Body: &rollout.CheckBody{Accept: accept}})
			if err != nil {
				return err
			}
			if d.Fault != "" && e.output().table() {
				return problem.New(problem.Failed, "change its address with: weir database set "+clean(d.Name)+" --dsn-stdin", "database %s: %s", d.Name, d.Fault)
			}
			version := "nothing is applied yet"
			if d.Version != "" {
				version = "version " + clean(d.Version)
			}
			if err := e.output().did(d.Name, d, "Database %s answers: %s, its user may create tables, %s.", clean(d.Name), clean(d.Server), version); err != nil || d.Fault == "" {
				return err
			}
			return quiet(problem.Failed)
		}),
	}
	c.Flags().BoolVar(&accept, "accept", false, "take the database that the address leads to for the right one, whichever it was before")
	return e.keyed(c)
}

// keyed offers the setting that a command needs to reach a database: addresses are
// sealed secrets.
func (e *env) keyed(c *cobra.Command) *cobra.Command {
	settingFlags(c, false, "secret_key_file")
	return c
}

func (e *env) databaseHistory() *cobra.Command {
	c := &cobra.Command{Short: "List what is applied to a database, newest first, as it says itself"}
	return e.keyed(lists(e, rollout.ListHistory, c, historyListing))
}

var historyListing = listing[target.Entry]{
	name:  func(x target.Entry) string { return changeLabel(x.Version, x.Name) },
	empty: []string{"Nothing is applied to NAME yet.", "A history of another tool is taken over with: weir database import NAME"},
	columns: []column[target.Entry]{
		{title: "VERSION", value: func(_ *output, x target.Entry) string { return x.Version }},
		{title: "NAME", value: func(_ *output, x target.Entry) string { return x.Name }},
		{title: "KIND", value: func(_ *output, x target.Entry) string { return x.Kind }},
		{title: "APPLIED", ages: true, value: func(o *output, x target.Entry) string { return o.ago(x.AppliedAt) }},
		{title: "TOOK", value: func(_ *output, x target.Entry) string { return span(x.Took()) }},
		{title: "STATEMENTS", value: func(_ *output, x target.Entry) string { return fmt.Sprint(x.Statements) }},
		{title: "BY", value: func(_ *output, x target.Entry) string { return x.By }},
		{title: "ROLLOUT", narrow: true, value: func(_ *output, x target.Entry) string {
			if id, err := weir.ParseID(x.Rollout); err == nil {
				return short(id)
			}
			return x.Rollout
		}},
		{title: "ROLLOUT", wide: true, value: func(_ *output, x target.Entry) string { return x.Rollout }},
		{title: "ATTEMPT", wide: true, value: func(_ *output, x target.Entry) string { return fmt.Sprint(x.Attempt) }},
		{title: "CHECKSUM", wide: true, value: func(_ *output, x target.Entry) string { return x.Checksum }},
		{title: "NOTE", value: func(_ *output, x target.Entry) string { return x.Note }},
	},
}

// changeLabel is what a change is called: its version, else its name.
func changeLabel(version, name string) string {
	if version != "" {
		return version
	}
	return name
}

func (e *env) databaseRemove() *cobra.Command {
	return &cobra.Command{
		Use: "remove NAME", Aliases: []string{"rm", "delete", "drop"}, Short: "Forget a database and its address; nothing in it is touched", Args: e.args("NAME"),
		RunE: e.session(func(ctx context.Context, s *app.Session, args []string) error {
			if _, err := rollout.DropDatabase.Call(ctx, s.Operations, &rollout.NamedDatabase{Database: args[0]}); err != nil {
				return err
			}
			return e.output().did(args[0], struct {
				Name string `json:"name"`
			}{args[0]}, "Database %s is forgotten; nothing in it was touched.", clean(args[0]))
		}),
	}
}

var databaseNames = listed(rollout.ListDatabases, func(d rollout.Database) (string, string) { return d.Name, d.Environment + " " + d.Engine })
