package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/rollout"
	"github.com/weirhq/weir/internal/rollout/target"
)

func (e *env) database() *cobra.Command {
	return e.noun("database", "The databases that rollouts change", []string{"databases", "db"},
		e.databaseList(), e.databaseShow(), e.databaseAdd(), e.databaseSet(), e.databaseCheck(), e.databaseHistory(), e.databaseDrift(), e.databaseImport(), e.databaseRemove())
}

func (e *env) databaseList() *cobra.Command {
	var page view.Page
	var f rollout.DatabaseFilter
	c := &cobra.Command{Short: "List databases and what is applied there", Example: "  weir database list --environment prod --watch\n  weir database list --label region=eu -o json"}
	listCommand(e, c, func(_ context.Context, s *app.Session) (list[rollout.Database], error) {
		shown := databaseListing
		if anyGiven(c, "environment", "engine", "label", "search") {
			shown.empty = []string{"No database matches.", "See them all with: weir database list"}
		}
		return plainList(page, shown, func(ctx context.Context, page view.Page) ([]rollout.Database, error) {
			return s.Rollouts.Databases(ctx, f, page)
		}), nil
	})
	flags := c.Flags()
	flags.StringVar(&f.Environment, "environment", "", "only databases of this environment")
	flags.StringVar(&f.Engine, "engine", "", "only databases of this engine: postgres or mysql")
	flags.StringToStringVar(&f.Labels, "label", nil, "only databases with this label: `KEY=VALUE`; may be repeated")
	flags.StringVar(&f.Search, "search", "", "only databases with this in their name")
	_ = c.RegisterFlagCompletionFunc("engine", cobra.FixedCompletions(engines, cobra.ShellCompDirectiveNoFileComp))
	pageFlags(c, &page, "name")
	return c
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
	c := &cobra.Command{
		Use: "show NAME", Short: "Show a database and the rollouts that reach it; its address is never shown", Args: e.args("NAME"),
		RunE: e.session(func(ctx context.Context, s *app.Session, args []string) error {
			d, err := s.Rollouts.Database(ctx, args[0])
			if err != nil {
				return err
			}
			o := e.output()
			switch {
			case o.data():
				return o.value(d)
			case o.format == "name":
				return o.did(d.Name, nil, "")
			}
			if err := o.details(databaseFields(o, d)); err != nil {
				return err
			}
			found, err := s.Rollouts.Rollouts(ctx, rollout.Filter{Database: d.Name}, view.Page{Limit: 10})
			if err != nil || len(found) == 0 {
				return err
			}
			fmt.Fprintf(o.Out, "\n%s\n", o.paint(bold, "Rollouts"))
			return rolloutListing.print(o, found)
		}),
	}
	return c
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
	var page view.Page
	c := &cobra.Command{Use: "history NAME", Short: "List what is applied to a database, newest first, as it says itself", Args: e.args("NAME")}
	c.RunE = e.session(func(ctx context.Context, s *app.Session, args []string) error {
		if page.After != "" && strings.Trim(page.After, "0123456789") != "" {
			return invalid("give the number that the page before ended with", "--after: %q is not a number", page.After)
		}
		entries, err := s.Rollouts.DatabaseHistory(ctx, args[0], page)
		if err != nil {
			return err
		}
		shown := historyListing
		shown.empty = []string{"Nothing is applied to " + clean(args[0]) + " yet.", "A history of another tool is taken over with: weir database import " + clean(args[0])}
		o := e.output()
		if err := shown.print(o, entries); err != nil {
			return err
		}
		if o.table() && len(entries) > 0 && len(entries) == page.Limit {
			before := 0
			_, _ = fmt.Sscan(page.After, &before) // checked above; empty is nothing
			o.say("More with: --after %d", before+len(entries))
		}
		return nil
	})
	pageFlags(c, &page, "number of entries")
	return e.keyed(c)
}

var historyListing = listing[target.Entry]{
	name: func(x target.Entry) string { return changeLabel(x.Version, x.Name) },
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

func databaseNames(ctx context.Context, s *app.Session) ([][2]string, error) {
	found, err := s.Rollouts.Databases(ctx, rollout.DatabaseFilter{}, view.Page{Limit: completeMost})
	return pairs(found, err, func(d rollout.Database) (string, string) { return d.Name, d.Environment + " " + d.Engine })
}
