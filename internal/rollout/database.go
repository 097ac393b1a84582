package rollout

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/rollout/script"
	"github.com/weirhq/weir/internal/rollout/target"
)

// lookFor bounds a look at a database: somebody waits for the answer.
const lookFor = 10 * time.Second

// Database is a registered target of changes.
type Database struct {
	Name string `json:"name"`
	// Engine is postgres or mysql.
	Engine      string            `json:"engine"`
	Environment string            `json:"environment"`
	Labels      map[string]string `json:"labels,omitempty"`
	// Secret is the name under which the vault keeps the DSN.
	Secret string `json:"secret"`
	Note   string `json:"note,omitempty"`
	// Identity is which database it was when it was last looked at; empty: nobody
	// has reached it yet.
	Identity string `json:"identity,omitempty"`
	// Server is what the server calls its version.
	Server string `json:"server,omitempty"`
	// Version is the newest applied version, as far as known.
	Version   string     `json:"version,omitempty"`
	CheckedAt *time.Time `json:"checked_at,omitempty"`
	// Fault is why the last look failed; empty: it did not.
	Fault string `json:"fault,omitempty"`
	// Drifted: an executor found another schema than the one that was accepted.
	Drifted bool `json:"drifted,omitempty"`
	// Live counts runs of rollouts that wait or run.
	Live      int       `json:"live"`
	By        string    `json:"by,omitempty"`
	CreatedAt time.Time `json:"created_at"`
	ChangedAt time.Time `json:"changed_at"`

	// isNew is set where it was registered just now.
	isNew bool
}

// DatabaseFilter narrows a list. Zero fields match everything.
type DatabaseFilter struct {
	Environment string   `query:"environment" maxLength:"200" doc:"Only databases of this environment."`
	Engine      string   `query:"engine" enum:"postgres,mysql" doc:"Only databases of this engine."`
	Labels      []string `query:"label,explode" maxItems:"50" doc:"Only databases with this label, KEY=VALUE. Given more than once: with all of them."`
	Search      string   `query:"search" maxLength:"200" doc:"Only databases with this in their name."`
}

// PutDatabase registers a database or changes what is known of it. With a dsn the
// vault gets it, under d.Secret or a name made of the database's; without one
// d.Secret names a secret that is there. It then looks at the database, as
// [Store.CheckDatabase] does: one that cannot be reached is registered all the same,
// with its fault.
func (s *Store) PutDatabase(ctx context.Context, by string, d Database, dsn string) (Database, error) {
	if dsn != "" {
		// An address that nobody could use is refused before it is kept.
		t, err := target.Open(ctx, script.Engine(d.Engine), dsn, target.Options{})
		if f := new(target.Failure); errors.As(err, &f) && f.Code == target.CodeInvalid {
			return d, &problem.Problem{Kind: problem.Invalid, Field: "dsn", What: f.What, Next: f.Next, Err: err}
		}
		if err != nil {
			return d, connectProblem(err)
		}
		t.Close()
		if s.vault == nil {
			return d, noVault()
		}
	}
	if err := s.putDatabase(ctx, by, d, secretFor(d.Name), dsn); err != nil {
		return d, fmt.Errorf("register database: %w", err)
	}
	return s.CheckDatabase(ctx, d.Name)
}

// Environment is where databases belong.
type Environment struct {
	Name      string
	Databases int
}

// Environments are those that have databases, by name, at most so many.
func (s *Store) Environments(ctx context.Context, most int) ([]Environment, error) {
	list, err := s.environments(ctx, most)
	if err != nil {
		return nil, fmt.Errorf("list environments: %w", err)
	}
	return list, nil
}

// Databases lists databases by name. After is the name of the last one of the page
// before.
func (s *Store) Databases(ctx context.Context, f DatabaseFilter, page view.Page) ([]Database, error) {
	labels := map[string]string{}
	for _, pair := range f.Labels {
		key, value, ok := strings.Cut(pair, "=")
		if !ok || key == "" {
			return nil, problem.Refuse("label", "write it so: label=region=eu", "it is not KEY=VALUE")
		}
		labels[key] = value
	}
	list, err := s.databases(ctx, databaseFilter, page.After, f.Environment, f.Engine, labels, f.Search, page.Most())
	if err != nil {
		return nil, fmt.Errorf("list databases: %w", err)
	}
	return list, nil
}

// Database reads one.
func (s *Store) Database(ctx context.Context, name string) (Database, error) {
	list, err := s.databases(ctx, databaseNamed, name)
	if err == nil && len(list) == 0 {
		err = notFound("database", name, "see what there is", "weir database list")
	}
	if err != nil {
		return Database{}, fmt.Errorf("read database: %w", err)
	}
	return list[0], nil
}

// DropDatabase forgets a database and, if no other uses it, its secret. It is a
// conflict while runs wait or run there.
func (s *Store) DropDatabase(ctx context.Context, by, name string) error {
	if err := s.dropDatabase(ctx, by, name); err != nil {
		return fmt.Errorf("drop database: %w", err)
	}
	return nil
}

// CheckDatabase connects and writes down which database it is and what is applied
// there. A database that cannot be reached comes back with its fault, not as an error,
// and so does one whose address leads to another database than before.
func (s *Store) CheckDatabase(ctx context.Context, name string) (Database, error) {
	return s.check(ctx, "", name, false)
}

// AdoptDatabase checks a database, and takes the one that it finds for the right one,
// whichever it was before.
func (s *Store) AdoptDatabase(ctx context.Context, by, name string) (Database, error) {
	return s.check(ctx, by, name, true)
}

func (s *Store) check(ctx context.Context, by, name string, accept bool) (Database, error) {
	d, err := s.Database(ctx, name)
	if err != nil {
		return d, err
	}
	seen, err := s.look(ctx, d)
	if err != nil {
		if ctx.Err() != nil {
			return d, ctx.Err()
		}
		seen = found{fault: said(err)}
	}
	if err := s.checked(ctx, name, seen, &d.ChangedAt, accept, by); err != nil {
		return d, fmt.Errorf("check database: %w", err)
	}
	return s.Database(ctx, name)
}

// DatabaseHistory reads what is applied, from the database itself, newest first.
// After counts entries of the pages before.
func (s *Store) DatabaseHistory(ctx context.Context, name string, page view.Page) ([]target.Entry, error) {
	from, err := strconv.Atoi(cmp.Or(page.After, "0"))
	if err != nil || from < 0 {
		return nil, problem.Refuse("after", "use the number of entries of the pages before", "%.40q is not a number", page.After)
	}
	var entries []target.Entry
	err = s.with(ctx, name, func(t target.Target) (err error) {
		entries, err = t.History(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	entries = entries[min(from, len(entries)):]
	return entries[:min(page.Most(), len(entries))], nil
}

// Foreign is what another tool (goose, Flyway, golang-migrate) wrote down in the
// database; nil: nothing.
func (s *Store) Foreign(ctx context.Context, name string) (*target.Foreign, error) {
	var f *target.Foreign
	err := s.with(ctx, name, func(t target.Target) (err error) {
		f, err = t.Foreign(ctx)
		return err
	})
	return f, err
}

// ImportHistory takes over the history that another tool left, and returns how many
// rows of it are new.
func (s *Store) ImportHistory(ctx context.Context, by, name string) (int, error) {
	n := 0
	err := s.with(ctx, name, func(t target.Target) error {
		if err := s.recognise(ctx, t, name); err != nil {
			return err
		}
		f, err := t.Foreign(ctx)
		if err != nil {
			return err
		}
		if f == nil {
			return problem.New(problem.NotFound, "there is nothing to take over: goose, Flyway and golang-migrate are known", "database %s has no history of another tool", name)
		}
		n, err = t.Import(ctx, *f, by)
		return err
	})
	if err != nil {
		return 0, err
	}
	if _, err := s.CheckDatabase(ctx, name); err != nil {
		return n, err
	}
	return n, nil
}

// with reaches a registered database and hands it to do.
func (s *Store) with(ctx context.Context, name string, do func(target.Target) error) error {
	d, err := s.Database(ctx, name)
	if err != nil {
		return err
	}
	t, err := s.connect(ctx, d.Engine, d.Secret)
	if err != nil {
		return err
	}
	defer t.Close()
	return connectProblem(do(t))
}

// look asks a database which it is, and what is applied.
func (s *Store) look(ctx context.Context, d Database) (f found, err error) {
	t, err := s.connect(ctx, d.Engine, d.Secret)
	if err != nil {
		return f, err
	}
	defer t.Close()
	ctx, cancel := context.WithTimeout(ctx, lookFor)
	defer cancel()
	id, err := t.Identity(ctx)
	if err != nil {
		return f, connectProblem(err)
	}
	if err := t.Rights(ctx); err != nil {
		return f, connectProblem(err)
	}
	entries, err := t.History(ctx)
	if err != nil {
		return f, connectProblem(err)
	}
	f.identity, f.server = id.String(), id.Version
	f.version, f.rank = newest(entries)
	return f, nil
}
