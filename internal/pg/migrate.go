package pg

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"github.com/weirhq/weir/internal/dsn"
)

// ErrSchemaNewer means that a newer Weir changed the schema in a way that this binary
// cannot work with.
var ErrSchemaNewer = errors.New("the database schema is newer than this Weir")

// ErrSchemaOlder means that the database lacks a part of the schema of this binary.
var ErrSchemaOlder = errors.New("the database schema is older than this Weir: run weir migrate")

// migrateLock is the advisory lock that lets one migrator work at a time.
const migrateLock = 0x77656972 // "weir"

// Report is the result of a Migrate. All its lists are empty if there was nothing to do.
type Report struct {
	// Migrations are the files of migrations/ that ran, in order.
	Migrations []string
	// Objects are the files of functions/ and views/ that were applied.
	Objects []string
	// Retired are files that the database has and this binary no longer has. Their
	// objects stay for servers of the version before.
	Retired []string
	// Dropped are functions and views that were replaced by ones with other
	// arguments, or that were retired long ago.
	Dropped []string
	// Version is the highest applied version, after the migration.
	Version int64
	// ObjectVersion is the version of functions, views and grants, after it.
	ObjectVersion int64
}

// Changed reports whether the database was written to.
func (r Report) Changed() bool {
	return len(r.Migrations)+len(r.Objects)+len(r.Retired)+len(r.Dropped) > 0
}

// Status compares a database with the schema of this binary.
type Status struct {
	// Version is the highest applied version; zero in an empty database.
	Version int64
	// Target is the highest version that this binary has.
	Target int64
	// Pending are migrations that have not run yet.
	Pending []string
	// ObjectVersion is the version of functions, views and grants that the
	// database has; ObjectTarget the one that this binary has.
	ObjectVersion, ObjectTarget int64
	// Changed are files of functions/ and views/ that Migrate would apply, Removed those
	// that it would retire, Retired those whose objects it would drop. All are empty if a
	// newer binary has applied its files.
	Changed, Removed, Retired []string
	// Unknown are migrations of a newer binary, Breaking the ones among them
	// that this binary cannot work with.
	Unknown, Breaking []string
	// same means that the database has the content of this binary, draft that the content
	// of this binary is not a released version, alone that no other server uses the
	// database, unnumbered that it has no table for versions yet.
	same, draft, alone, unnumbered bool
}

// plan is what Migrate does with functions, views and grants.
type plan int

const (
	leave plan = iota // a newer or an equal binary has applied its files
	apply             // apply those that differ, remove nothing
	raise             // this is a newer version: apply, retire, drop
)

// plan lets the version only go up. Equal numbers with other content happen where a
// developer works on the functions: a draft is applied wherever it is started, and on a
// private database so is everything, because no other server uses it. Otherwise the
// present content stays.
func (s Status) plan() plan {
	switch {
	case len(s.Unknown) > 0 || s.ObjectTarget < s.ObjectVersion:
		return leave
	case s.ObjectTarget > s.ObjectVersion:
		return raise
	case s.same || s.draft || s.alone:
		return apply
	}
	return leave
}

// Current reports whether Migrate would have nothing to do.
func (s Status) Current() bool {
	return len(s.Pending) == 0 && len(s.Changed) == 0 && s.plan() != raise
}

// Err returns ErrSchemaNewer with its reason if this binary must not touch or use the
// database, else nil.
func (s Status) Err() error {
	if len(s.Breaking) == 0 {
		return nil
	}
	return fmt.Errorf("%w: it has the breaking migrations %v, and this binary ends at version %d. Install the Weir that made them, or a newer one",
		ErrSchemaNewer, s.Breaking, s.Target)
}

// MigrationStatus compares the database at url with the schema in fsys. It
// writes nothing.
func MigrationStatus(ctx context.Context, url string, fsys fs.FS) (Status, error) {
	m, err := newMigrator(ctx, url, fsys)
	if err != nil {
		return Status{}, fmt.Errorf("migration status: %w", err)
	}
	defer m.close()
	status, err := m.status(ctx, m.conn)
	if err != nil {
		return status, fmt.Errorf("migration status: %w", err)
	}
	return status, nil
}

// Migrate brings the database at url to the schema in fsys (folders migrations,
// functions and views). Any number of processes may call it at once; one works,
// the others wait and then find nothing to do. A migrate with nothing to do
// takes no lock and writes nothing.
//
// The lock belongs to a transaction, so it also holds through PgBouncer in
// transaction mode, where a session's lock would be left behind on a shared
// connection.
func Migrate(ctx context.Context, url string, fsys fs.FS) (Report, error) {
	return migrate(ctx, url, fsys, false)
}

// MigrateOwn is Migrate for a database that only one server uses: the private one of
// `weir up`. There, functions of equal version and other content are always replaced by
// those of this binary, because no other server needs them.
func MigrateOwn(ctx context.Context, url string, fsys fs.FS) (Report, error) {
	return migrate(ctx, url, fsys, true)
}

func migrate(ctx context.Context, url string, fsys fs.FS, alone bool) (Report, error) {
	m, err := newMigrator(ctx, url, fsys)
	if err != nil {
		return Report{}, fmt.Errorf("migrate: %w", err)
	}
	defer m.close()
	m.alone = alone
	report, err := m.migrate(ctx)
	if err != nil {
		return report, fmt.Errorf("migrate: %w", err)
	}
	return report, nil
}

// migrator is one call of Migrate or MigrationStatus.
type migrator struct {
	source *source
	conn   *pgx.Conn
	alone  bool
}

func newMigrator(ctx context.Context, url string, fsys fs.FS) (*migrator, error) {
	source, err := readSource(fsys)
	if err != nil {
		return nil, err
	}
	address, err := dsn.Parse(url)
	if err != nil {
		return nil, err
	}
	config := address.Config.ConnConfig
	// The simple protocol is used for two reasons. Behind a pooler, prepared statements
	// would stay on a connection that is no longer ours. And the extended protocol leaves
	// a portal with its snapshot open until the next statement, for which a CREATE INDEX
	// CONCURRENTLY of our own other connection would wait.
	config.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	config.RuntimeParams["application_name"] = "weir migrate"
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	return &migrator{source: source, conn: conn}, nil
}

func (m *migrator) close() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_ = m.conn.Close(ctx) // everything that matters is committed
}

func (m *migrator) migrate(ctx context.Context) (Report, error) {
	status, err := m.status(ctx, m.conn)
	if err == nil {
		err = status.Err()
	}
	if err != nil || status.Current() {
		return Report{Version: status.Version, ObjectVersion: status.ObjectVersion}, err
	}
	tx, err := m.lock(ctx)
	if err != nil {
		return Report{}, err
	}
	report, err := m.migrateLocked(ctx, tx)
	if err != nil {
		return report, errors.Join(err, tx.Rollback(context.WithoutCancel(ctx)))
	}
	return report, tx.Commit(ctx)
}

// lock opens the transaction that holds the lock. It polls instead of waiting inside a
// statement, because a waiting statement holds a snapshot, and a CREATE INDEX
// CONCURRENTLY of the process that holds the lock would wait for that.
func (m *migrator) lock(ctx context.Context) (pgx.Tx, error) {
	for {
		tx, err := m.conn.Begin(ctx)
		if err != nil {
			return nil, err
		}
		var got bool
		if err = tx.QueryRow(ctx, `select pg_try_advisory_xact_lock($1)`, migrateLock).Scan(&got); err == nil && got {
			_, err = tx.Exec(ctx, `set local idle_in_transaction_session_timeout = 0`)
			if err == nil {
				return tx, nil
			}
		}
		if err = errors.Join(err, tx.Rollback(context.WithoutCancel(ctx))); err != nil {
			return nil, err
		}
		if !pause(ctx, 20*time.Millisecond+rand.N(80*time.Millisecond)) { // #nosec G404 -- only spreads the load
			return nil, fmt.Errorf("wait for another migrator: %w", ctx.Err())
		}
	}
}

// migrateLocked runs the migrations, each in its own transaction on a second
// connection, and then the objects in the transaction that holds the lock.
func (m *migrator) migrateLocked(ctx context.Context, tx pgx.Tx) (Report, error) {
	var report Report
	status, err := m.status(ctx, tx)
	if err == nil {
		err = status.Err()
	}
	if err != nil {
		return report, err
	}
	if len(status.Pending) > 0 {
		if report.Migrations, err = m.runMigrations(ctx); err != nil {
			return report, err
		}
		// A migration may have dropped objects that must be made again.
		if status, err = m.status(ctx, tx); err != nil {
			return report, err
		}
	}
	report.Version, report.ObjectVersion = status.Version, status.ObjectVersion
	if status.plan() == leave || status.Current() {
		return report, nil
	}
	report.ObjectVersion = status.ObjectTarget
	return report, applyObjects(ctx, tx, m.source, status, &report)
}

func (m *migrator) runMigrations(ctx context.Context) ([]string, error) {
	db := stdlib.OpenDB(*m.conn.Config())
	defer db.Close()
	provider, err := goose.NewProvider(goose.DialectCustom, db, m.source.migrationsFS,
		goose.WithStore(versionTable{m.source}), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return nil, err
	}
	results, err := provider.Up(ctx)
	if partial := new(goose.PartialError); errors.As(err, &partial) {
		results = partial.Applied
		err = fmt.Errorf("migrations/%s: %w", partial.Failed.Source.Path, partial.Err)
	}
	var ran []string
	for _, r := range results {
		ran = append(ran, r.Source.Path)
	}
	return ran, err
}
