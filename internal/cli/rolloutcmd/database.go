package rolloutcmd

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/rollout"
	"github.com/weirhq/weir/internal/rollout/target"
)

// Database is the command weir database.
func Database(e *command.Env) *cobra.Command {
	return e.Noun("database", "The databases that rollouts change", []string{"databases", "db"},
		databaseList(e), databaseShow(e), databaseAdd(e), databaseSet(e), databaseCheck(e), databaseHistory(e), databaseDrift(e), databaseImport(e), databaseRemove(e))
}

func databaseList(e *command.Env) *cobra.Command {
	c := &cobra.Command{Short: "List databases and what is applied there", Example: "  weir database list --environment prod --watch\n  weir database list --label region=eu -o json"}
	return command.Lists(e, rollout.ListDatabases, c, databaseListing)
}

var engines = []string{"postgres", "mysql"}

var databaseListing = command.Listing[rollout.Database]{
	Name:  func(d rollout.Database) string { return d.Name },
	Empty: []string{"There are no databases.", "Register one with: weir database add NAME --environment test <FILE, where FILE has its address"},
	Columns: []command.Column[rollout.Database]{
		{Title: "NAME", Value: func(_ *command.Output, d rollout.Database) string { return d.Name }},
		{Title: "ENGINE", Value: func(_ *command.Output, d rollout.Database) string { return d.Engine }},
		{Title: "ENVIRONMENT", Value: func(_ *command.Output, d rollout.Database) string { return d.Environment }},
		{Title: "STATE", Value: func(_ *command.Output, d rollout.Database) string { return databaseState(d) }, Paint: func(s string) string {
			if s == "drifted" {
				return command.Yellow
			}
			return command.StateColor(s)
		}},
		{Title: "VERSION", Value: func(_ *command.Output, d rollout.Database) string { return d.Version }},
		{Title: "LIVE", Value: func(_ *command.Output, d rollout.Database) string { return fmt.Sprint(d.Live) }},
		{Title: "LABELS", Value: func(_ *command.Output, d rollout.Database) string { return command.Labels(d.Labels) }},
		{Title: "SERVER", Wide: true, Value: func(_ *command.Output, d rollout.Database) string { return d.Server }},
		{Title: "SECRET", Wide: true, Value: func(_ *command.Output, d rollout.Database) string { return d.Secret }},
		{Title: "CHECKED", Ages: true, Value: func(o *command.Output, d rollout.Database) string { return o.AgoOf(d.CheckedAt) }},
		{Title: "NOTE", Value: func(_ *command.Output, d rollout.Database) string {
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

func databaseShow(e *command.Env) *cobra.Command {
	c := &cobra.Command{Short: "Show a database and the rollouts that reach it; its address is never shown"}
	return command.Operation(e, rollout.ShowDatabase, c, func(ctx context.Context, s *app.Session, _ *rollout.NamedDatabase, d rollout.Database) error {
		o := e.Output()
		return o.Show(d.Name, d, func() error {
			if err := o.Details(databaseFields(o, d)); err != nil {
				return err
			}
			found, err := rollout.List.Call(ctx, s.Operations, &rollout.Listing{Paged: op.Paged{Limit: 10}, Filter: rollout.Filter{Database: d.Name}})
			if err != nil {
				return err
			}
			return rolloutListing.Below(o, "Rollouts", found.Items)
		})
	})
}

func databaseFields(o *command.Output, d rollout.Database) []command.Field {
	fields := []command.Field{
		{"Database", d.Name},
		{"Engine", d.Engine},
		{"Environment", d.Environment},
		{"State", databaseState(d)},
		{"Fault", d.Fault},
		{"Version", d.Version},
		{"Runs that live", fmt.Sprint(d.Live)},
		{"Labels", command.Labels(d.Labels)},
		{"Note", d.Note},
		{"Server", d.Server},
		{"Identity", d.Identity},
		{"Secret", d.Secret},
		{"Registered", o.Both(d.CreatedAt)},
		{"By", d.By},
	}
	if d.CheckedAt != nil {
		fields = append(fields, command.Field{"Checked", o.Both(*d.CheckedAt)})
	}
	return fields
}

func databaseCheck(e *command.Env) *cobra.Command {
	var accept bool
	c := &cobra.Command{
		Use: "check NAME", Short: "Connect to a database: which is it, and what is applied there", Args: e.Args("NAME"),
		Long: `Connect to a database and write down which it is and what is applied there. It also
looks whether its user may create the tables in which Weir keeps the history.
An address that leads to another database than before is a fault: no rollout runs
there, unless --accept takes that database for the right one from now on.
The exit code is 1 when it cannot be reached, is another one, or may not be changed.`,
		RunE: e.Session(func(ctx context.Context, s *app.Session, args []string) error {
			d, err := rollout.CheckDatabase.Call(ctx, s.Operations, &rollout.Checking{NamedDatabase: rollout.NamedDatabase{Database: args[0]}, Body: &rollout.CheckBody{Accept: accept}})
			if err != nil {
				return err
			}
			if d.Fault != "" && e.Output().Table() {
				return problem.New(problem.Failed, "change its address with: weir database set "+command.Clean(d.Name)+" --dsn-stdin", "database %s: %s", d.Name, d.Fault)
			}
			version := "nothing is applied yet"
			if d.Version != "" {
				version = "version " + command.Clean(d.Version)
			}
			if err := e.Output().Did(d.Name, d, "Database %s answers: %s, its user may create tables, %s.", command.Clean(d.Name), command.Clean(d.Server), version); err != nil || d.Fault == "" {
				return err
			}
			return command.Quiet(problem.Failed)
		}),
	}
	c.Flags().BoolVar(&accept, "accept", false, "take the database that the address leads to for the right one, whichever it was before")
	return keyed(e, c)
}

// keyed offers the setting that a command needs to reach a database: addresses are
// sealed secrets.
func keyed(e *command.Env, c *cobra.Command) *cobra.Command {
	command.SettingFlags(c, false, "secret_key_file")
	return c
}

func databaseHistory(e *command.Env) *cobra.Command {
	c := &cobra.Command{Short: "List what is applied to a database, newest first, as it says itself"}
	return keyed(e, command.Lists(e, rollout.ListHistory, c, historyListing))
}

var historyListing = command.Listing[target.Entry]{
	Name:  func(x target.Entry) string { return changeLabel(x.Version, x.Name) },
	Empty: []string{"Nothing is applied to NAME yet.", "A history of another tool is taken over with: weir database import NAME"},
	Columns: []command.Column[target.Entry]{
		{Title: "VERSION", Value: func(_ *command.Output, x target.Entry) string { return x.Version }},
		{Title: "NAME", Value: func(_ *command.Output, x target.Entry) string { return x.Name }},
		{Title: "KIND", Value: func(_ *command.Output, x target.Entry) string { return x.Kind }},
		{Title: "APPLIED", Ages: true, Value: func(o *command.Output, x target.Entry) string { return o.Ago(x.AppliedAt) }},
		{Title: "TOOK", Value: func(_ *command.Output, x target.Entry) string { return command.Span(x.Took()) }},
		{Title: "STATEMENTS", Value: func(_ *command.Output, x target.Entry) string { return fmt.Sprint(x.Statements) }},
		{Title: "BY", Value: func(_ *command.Output, x target.Entry) string { return x.By }},
		{Title: "ROLLOUT", Narrow: true, Value: func(_ *command.Output, x target.Entry) string {
			if id, err := weir.ParseID(x.Rollout); err == nil {
				return command.Short(id)
			}
			return x.Rollout
		}},
		{Title: "ROLLOUT", Wide: true, Value: func(_ *command.Output, x target.Entry) string { return x.Rollout }},
		{Title: "ATTEMPT", Wide: true, Value: func(_ *command.Output, x target.Entry) string { return fmt.Sprint(x.Attempt) }},
		{Title: "CHECKSUM", Wide: true, Value: func(_ *command.Output, x target.Entry) string { return x.Checksum }},
		{Title: "NOTE", Value: func(_ *command.Output, x target.Entry) string { return x.Note }},
	},
}

// changeLabel is what a change is called: its version, else its name.
func changeLabel(version, name string) string {
	if version != "" {
		return version
	}
	return name
}

func databaseRemove(e *command.Env) *cobra.Command {
	c := &cobra.Command{Aliases: []string{"rm", "delete", "drop"}, Short: "Forget a database and its address; nothing in it is touched"}
	return command.Told(e, rollout.DropDatabase, c, "Database %s is forgotten; nothing in it was touched.")
}

// DatabaseNames are those of databases.
var DatabaseNames = command.Listed(rollout.ListDatabases, func(d rollout.Database) (string, string) { return d.Name, d.Environment + " " + d.Engine })
