package rolloutcmd

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/rollout"
)

// dsnVariable has the address of a database, for commands that register one.
const dsnVariable = "WEIR_DSN"

// databaseFlags are what is known of a database.
type databaseFlags struct {
	rollout.Database
	dsn      string
	dsnStdin bool
}

func (f *databaseFlags) register(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.Environment, "environment", "", "where it belongs, such as test, staging or prod")
	flags.StringToStringVar(&f.Labels, "label", nil, "label: `KEY=VALUE`; may be repeated")
	flags.StringVar(&f.Note, "note", "", "what it is for")
	flags.StringVar(&f.Secret, "secret", "", "`name` of the secret that has its address, if not its own")
	flags.StringVar(&f.dsn, "dsn", "", "its address; every process of this machine can read it here, so better give it by "+dsnVariable+" or on standard input")
}

func databaseAdd(e *command.Env) *cobra.Command {
	var f databaseFlags
	c := &cobra.Command{
		Use: "add NAME", Short: "Register a database, so that rollouts can change it", Args: e.Args("NAME"),
		Long: `Register a database, so that rollouts can change it.

Its address (DSN) is read from ` + dsnVariable + `, else from standard input; on a terminal it
is asked for. It is sealed and never shown again:
  postgres://user:password@host:5432/name
  mysql://user:password@host:3306/name
The server connects once and says which database it is. One that cannot be
reached is registered all the same.`,
		Example: "  weir database add orders-test --environment test <address\n  weir database add orders-eu --environment prod --label region=eu --note 'orders of Europe'\n  weir database add orders-us --environment prod --secret ORDERS_US",
	}
	c.RunE = e.Session(func(ctx context.Context, s *app.Session, args []string) error {
		d := f.Database
		d.Name = args[0]
		if d.Environment == "" {
			return command.Invalid("say where it belongs: --environment test", "--environment is missing")
		}
		if _, err := rollout.ShowDatabase.Call(ctx, s.Operations, &rollout.NamedDatabase{Database: d.Name}); err == nil {
			return problem.New(problem.Conflict, "change it with: weir database set "+command.Clean(d.Name), "there is a database %s already", d.Name)
		} else if !isMissing(err) {
			return err
		}
		dsn := ""
		if d.Secret == "" || c.Flags().Changed("dsn") {
			var err error
			if dsn, err = readDSN(e, f.dsn); err != nil {
				return err
			}
		}
		var err error
		if d.Engine, err = engineOf(d.Engine, dsn); err != nil {
			return err
		}
		made, err := rollout.PutDatabase.Call(ctx, s.Operations, putting(d, dsn, op.Matched{IfNoneMatch: "*"}))
		if err != nil {
			return err
		}
		sayTwins(ctx, e, s, made)
		return registered(e, made, "is registered")
	})
	f.register(c)
	c.Flags().StringVar(&f.Engine, "engine", "", "postgres or mysql; default: as the address says")
	_ = c.RegisterFlagCompletionFunc("engine", cobra.FixedCompletions(engines, cobra.ShellCompDirectiveNoFileComp))
	return keyed(e, c)
}

func databaseSet(e *command.Env) *cobra.Command {
	var f databaseFlags
	c := &cobra.Command{
		Use: "set NAME", Short: "Change what is known of a database, or its address", Args: e.Args("NAME"),
		Long:    `Change what is known of a database. What is not given stays as it is; --label KEY= takes a label away.`,
		Example: "  weir database set orders-eu --label tier=gold --label old=\n  weir database set orders-eu --dsn-stdin <address",
	}
	c.RunE = e.Session(func(ctx context.Context, s *app.Session, args []string) error {
		given := []string{"environment", "label", "note", "secret", "dsn", "dsn-stdin"}
		if !command.AnyGiven(c, given...) {
			return command.Invalid("give --"+strings.Join(given, ", --"), "nothing to change was given")
		}
		d, err := rollout.ShowDatabase.Call(ctx, s.Operations, &rollout.NamedDatabase{Database: args[0]})
		if err != nil {
			return err
		}
		seen := op.Matched{IfMatch: d.Tag()}
		f.change(c, &d)
		dsn := ""
		if command.AnyGiven(c, "dsn", "dsn-stdin") {
			if dsn, err = readDSN(e, f.dsn); err != nil {
				return err
			}
		}
		if d, err = rollout.PutDatabase.Call(ctx, s.Operations, putting(d, dsn, seen)); err != nil {
			return err
		}
		sayTwins(ctx, e, s, d)
		return registered(e, d, "is set")
	})
	f.register(c)
	c.Flags().BoolVar(&f.dsnStdin, "dsn-stdin", false, "read another address from "+dsnVariable+" or standard input")
	return keyed(e, c)
}

// putting is what is known of a database, as it is written.
func putting(d rollout.Database, dsn string, m op.Matched) *rollout.Putting {
	return &rollout.Putting{
		NamedDatabase: rollout.NamedDatabase{Database: d.Name}, Matched: m,
		Body: rollout.DatabaseBody{Engine: d.Engine, Environment: d.Environment, Labels: d.Labels, DSN: dsn, Secret: d.Secret, Note: d.Note},
	}
}

// change puts what was given over what is there.
func (f *databaseFlags) change(c *cobra.Command, d *rollout.Database) {
	if c.Flags().Changed("environment") {
		d.Environment = f.Environment
	}
	if c.Flags().Changed("note") {
		d.Note = f.Note
	}
	if c.Flags().Changed("secret") {
		d.Secret = f.Secret
	}
	for key, value := range f.Labels {
		if d.Labels == nil {
			d.Labels = map[string]string{}
		}
		d.Labels[key] = value
		if value == "" {
			delete(d.Labels, key)
		}
	}
}

// sayTwins warns of a database that is registered under another name, too. What cannot
// be read is not worth an error: the database is registered.
func sayTwins(ctx context.Context, e *command.Env, s *app.Session, d rollout.Database) {
	if d.Identity == "" {
		return
	}
	var names []string
	all, _ := op.Each(ctx, s.Operations, rollout.ListDatabases, rollout.ListingDatabases{DatabaseFilter: rollout.DatabaseFilter{Engine: d.Engine}})
	for _, other := range all {
		if other.Identity == d.Identity && other.Name != d.Name {
			names = append(names, command.Clean(other.Name))
		}
	}
	if len(names) > 0 {
		e.Output().Say("Warning: it is the same database as %s. Take one of the names away with: weir database remove NAME", who(names))
	}
}

// registered tells what became of a database.
func registered(e *command.Env, d rollout.Database, what string) error {
	o := e.Output()
	if d.Fault != "" && o.Table() {
		defer o.Say("It cannot be used yet: %s\nTry again with: weir database check %s", command.Clean(d.Fault), command.Clean(d.Name))
	}
	version := ""
	if d.Version != "" {
		version = ", version " + command.Clean(d.Version)
	}
	return o.Did(d.Name, d, "Database %s %s: %s, environment %s%s.", command.Clean(d.Name), what, d.Engine, command.Clean(d.Environment), version)
}

// readDSN reads an address: from the command line with a warning, from the
// environment, or from standard input.
func readDSN(e *command.Env, given string) (string, error) {
	if given != "" {
		if o := e.Output(); o.Table() {
			o.Say("Warning: every process of this machine can read --dsn; give it by %s or on standard input.", dsnVariable)
		}
		return given, nil
	}
	if dsn := os.Getenv(dsnVariable); dsn != "" {
		return dsn, nil
	}
	if f, ok := e.In.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return e.AskSecret("Address (DSN)", dsnVariable+" or on standard input")
	}
	dsn, err := e.StdinSecret("dsn")
	if err != nil {
		return "", problem.Refuse("dsn", "give the address by "+dsnVariable+" or on standard input: weir database add NAME --environment test <FILE", "nothing came on standard input")
	}
	return strings.TrimSpace(dsn), nil
}

// schemes are what addresses begin with that Weir understands.
var schemes = []string{"postgres", "postgresql", "mysql", "mariadb"}

// engineOf reads the engine from the address, if nobody says.
func engineOf(given, dsn string) (string, error) {
	scheme, _, url := strings.Cut(dsn, "://")
	switch {
	case given == "" && url && !slices.Contains(schemes, scheme):
		return "", problem.Refuse("dsn", "databases of PostgreSQL, MySQL and MariaDB can be changed: postgres://… or mysql://…", "%s is not supported", command.Clean(scheme))
	case given != "":
		if given != engines[0] && given != engines[1] {
			return "", command.Invalid("postgres or mysql", "--engine: %q is not known", given)
		}
		return given, nil
	case url && (scheme == "postgres" || scheme == "postgresql"), !url && strings.Contains(dsn, "host="):
		return "postgres", nil
	case url && (scheme == "mysql" || scheme == "mariadb"), strings.Contains(dsn, "@tcp("), strings.Contains(dsn, "@unix("):
		return "mysql", nil
	}
	return "", command.Invalid("say which it is: --engine postgres or --engine mysql", "--engine is missing, and the address does not tell")
}

// isMissing says that something is not there, as opposed to not being known.
func isMissing(err error) bool {
	return errors.Is(err, weir.ErrNotFound) || problem.Explain(err).Kind == problem.NotFound
}
