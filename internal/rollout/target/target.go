package target

import (
	"context"
	"log/slog"
	"time"

	"github.com/weirhq/weir/internal/rollout/script"
)

// Target is one database that changes are applied to. It is safe for concurrent
// use; it holds no connection between two calls.
type Target interface {
	// Identity says which database this is, whatever its address is called.
	Identity(ctx context.Context) (Identity, error)
	// Apply runs a change by the ten rules. An error is a *Failure.
	Apply(ctx context.Context, run Run, watch Watch) (Result, error)
	// Resolve tells what became of a run whose outcome is unknown, with a sentence
	// that says how it knows.
	Resolve(ctx context.Context, run Run) (Verdict, string, error)
	// MarkApplied writes the history row of a change that a person found applied.
	MarkApplied(ctx context.Context, run Run, by, reason string) error
	// Forget takes back the mark of a step whose outcome nobody could tell, after a
	// person found that it was not applied: a retry runs it.
	Forget(ctx context.Context, run Run) error
	// History is what is applied, newest first; empty when nothing ever was.
	History(ctx context.Context) ([]Entry, error)
	// Foreign is the history that another tool left; nil when there is none.
	Foreign(ctx context.Context) (*Foreign, error)
	// Import takes a foreign history over. It counts the rows that are new.
	Import(ctx context.Context, f Foreign, by string) (int, error)
	// Snapshot is the schema as text: drift is the difference of two.
	Snapshot(ctx context.Context) (Snapshot, error)
	// Sizes are the estimated rows per table, by "table" and "schema.table".
	Sizes(ctx context.Context) (map[string]int64, error)
	// Rights says whether the user of the DSN can keep Weir's tables there: nil, or
	// what it lacks. It changes nothing.
	Rights(ctx context.Context) error
	// Activity shows the sessions of an application name (see ApplicationName).
	Activity(ctx context.Context, application string) ([]Session, error)
	// Cancel asks the statements of these sessions to stop, or ends the sessions.
	// It counts those it reached.
	Cancel(ctx context.Context, application string, terminate bool) (int, error)
	// Close frees what the target holds.
	Close()
}

// Options say how a target is treated. The zero value works.
type Options struct {
	// ApplicationName is that of connections that only look. A run has its own.
	ApplicationName string
	// LockWait is how long a run waits for the target to be free. Zero: 1 minute.
	LockWait time.Duration
	// Tries bounds how often a step that got no lock is tried. Zero: 25, which is
	// about two minutes of pauses.
	Tries int
	// Grace is how long a statement has to obey a cancel before its session is
	// ended. Zero: 5 seconds.
	Grace time.Duration
	// Schema is where the tables of Weir are. Empty: where the user of the DSN
	// creates tables (PostgreSQL), the database itself (MySQL).
	Schema string
	Log    *slog.Logger
}

func (o Options) withDefaults() Options {
	if o.ApplicationName == "" {
		o.ApplicationName = "weir"
	}
	if o.LockWait <= 0 {
		o.LockWait = time.Minute
	}
	if o.Tries <= 0 {
		o.Tries = 25
	}
	if o.Grace <= 0 {
		o.Grace = 5 * time.Second
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// Open checks the DSN and gives the target. It does not connect.
func Open(_ context.Context, engine script.Engine, dsn string, o Options) (Target, error) {
	o = o.withDefaults()
	switch engine {
	case script.Postgres:
		return openPostgres(dsn, o)
	case script.MySQL:
		return openMySQL(dsn, o)
	}
	return nil, badEngine(engine)
}

// Identity names a database by what the server itself says: two addresses of one
// database have the same identity, and a restored copy elsewhere has another.
type Identity struct {
	// System is the server: the system identifier, or its uuid.
	System string `json:"system"`
	// Database is the database in it: name and oid, or the schema.
	Database string `json:"database"`
	// Version is what the server calls its version. It changes with updates and is
	// no part of what is compared.
	Version string `json:"version"`
}

// String is the form in which identities are kept and compared.
func (i Identity) String() string { return i.System + "/" + i.Database }

// Snapshot is a schema in a form that can be compared and read.
type Snapshot struct {
	Text string `json:"text"`
	Hash string `json:"hash"`
}

// base is a target of either engine: what does not depend on the engine.
type base struct {
	engine
	o Options
}

func (b *base) Apply(ctx context.Context, run Run, watch Watch) (Result, error) {
	return apply(ctx, b.engine, b.o, run, watch)
}

// Close: connections last as long as a call.
func (b *base) Close() {}

// look opens a connection that only looks, hands it to do, and closes it.
func (b *base) look(ctx context.Context, do func(s session) error) error {
	s, err := b.open(ctx, b.o.ApplicationName)
	if err != nil {
		return b.connectFailure(err)
	}
	defer s.close()
	return do(s)
}

func (b *base) History(ctx context.Context) (list []Entry, err error) {
	err = b.look(ctx, func(s session) error {
		list, err = s.ledger().history(ctx)
		return err
	})
	return list, err
}

func (b *base) Identity(ctx context.Context) (id Identity, err error) {
	err = b.look(ctx, func(s session) error {
		id, err = s.identity(ctx)
		return err
	})
	return id, err
}

func (b *base) Snapshot(ctx context.Context) (snap Snapshot, err error) {
	err = b.look(ctx, func(s session) error {
		snap, err = s.snapshot(ctx)
		return err
	})
	return snap, err
}

func (b *base) Sizes(ctx context.Context) (sizes map[string]int64, err error) {
	err = b.look(ctx, func(s session) error {
		sizes, err = s.sizes(ctx)
		return err
	})
	return sizes, err
}

func (b *base) Activity(ctx context.Context, application string) (list []Session, err error) {
	err = b.look(ctx, func(s session) error {
		list, err = s.activity(ctx, application)
		return err
	})
	return list, err
}

func (b *base) Cancel(ctx context.Context, application string, terminate bool) (n int, err error) {
	err = b.look(ctx, func(s session) error {
		list, err := s.activity(ctx, application)
		if err != nil {
			return err
		}
		for _, one := range list {
			reached, err := s.stop(ctx, one.ID, terminate)
			if err != nil {
				return err
			}
			if reached {
				n++
			}
		}
		return nil
	})
	return n, err
}
