package pg

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/pressly/goose/v3/database"
)

// versionTable is weir.schema_version, which goose maintains through this type. The mark
// of a breaking migration is written in the migration's own transaction, so no crash can
// separate the two.
type versionTable struct{ source *source }

// hasVersionTable reads the catalog itself, because to_regclass would remember, for the
// rest of a transaction, that there was no schema at its beginning.
const hasVersionTable = `
	select exists (
		select from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
		where n.nspname = 'weir' and c.relname = 'schema_version')`

var _ database.StoreExtender = versionTable{}

func (versionTable) Tablename() string { return "weir.schema_version" }

func (versionTable) CreateVersionTable(ctx context.Context, db database.DBTxConn) error {
	_, err := db.ExecContext(ctx, `
		create schema if not exists weir;
		create table weir.schema_version (
			version    bigint primary key,
			name       text not null,
			breaking   boolean not null,
			applied_at timestamptz not null default now()
		);
		comment on table weir.schema_version is 'The migrations that ran. A binary that lacks a breaking one refuses to work.';
		create table weir.schema_object (
			file       text primary key,
			hash       text not null,
			makes      text[] not null,
			applied_at timestamptz not null default now()
		);
		comment on table weir.schema_object is 'The function and view files that were applied, with what each made.';`)
	return err
}

func (versionTable) TableExists(ctx context.Context, db database.DBTxConn) (exists bool, err error) {
	err = db.QueryRowContext(ctx, hasVersionTable).Scan(&exists)
	return exists, err
}

func (t versionTable) Insert(ctx context.Context, db database.DBTxConn, req database.InsertRequest) error {
	if req.Version == 0 {
		return nil // goose's mark of an empty database; the table itself shows that
	}
	m, _ := t.source.migration(req.Version)
	_, err := db.ExecContext(ctx, `insert into weir.schema_version (version, name, breaking) values ($1, $2, $3)`,
		m.version, m.name, m.breaking)
	return err
}

func (versionTable) Delete(context.Context, database.DBTxConn, int64) error {
	return errors.New("migrations go forward only")
}

func (versionTable) GetMigration(ctx context.Context, db database.DBTxConn, version int64) (*database.GetMigrationResult, error) {
	result := &database.GetMigrationResult{IsApplied: true}
	err := db.QueryRowContext(ctx, `select applied_at from weir.schema_version where version = $1`, version).Scan(&result.Timestamp)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, database.ErrVersionNotFound
	}
	return result, err
}

func (versionTable) GetLatestVersion(ctx context.Context, db database.DBTxConn) (int64, error) {
	var version int64
	err := db.QueryRowContext(ctx, `select coalesce(max(version), 0) from weir.schema_version`).Scan(&version)
	return version, err
}

func (versionTable) ListMigrations(ctx context.Context, db database.DBTxConn) ([]*database.ListMigrationsResult, error) {
	rows, err := db.QueryContext(ctx, `select version from weir.schema_version union all select 0 order by version desc`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []*database.ListMigrationsResult
	for rows.Next() {
		item := &database.ListMigrationsResult{IsApplied: true}
		if err := rows.Scan(&item.Version); err != nil {
			return nil, err
		}
		list = append(list, item)
	}
	return list, rows.Err()
}

// querier is a connection or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// status reads the state of the database and compares.
func (m *migrator) status(ctx context.Context, db querier) (Status, error) {
	var s Status
	if n := len(m.source.migrations); n > 0 {
		s.Target = m.source.migrations[n-1].version
	}
	applied, err := appliedMigrations(ctx, db)
	if err != nil {
		return s, err
	}
	for _, a := range applied {
		s.Version = max(s.Version, a.version)
		if _, known := m.source.migration(a.version); known {
			continue
		}
		s.Unknown = append(s.Unknown, a.name)
		if a.breaking {
			s.Breaking = append(s.Breaking, a.name)
		}
	}
	for _, own := range m.source.migrations {
		if !slices.ContainsFunc(applied, func(a migration) bool { return a.version == own.version }) {
			s.Pending = append(s.Pending, own.name)
		}
	}
	s.ObjectTarget, s.draft, s.alone = m.source.version, m.source.draft, m.alone
	hash := ""
	if s.ObjectVersion, hash, err = appliedObjects(ctx, db); err != nil {
		return s, err
	}
	s.same, s.unnumbered = hash == m.source.hash, s.ObjectVersion < 0
	s.ObjectVersion = max(s.ObjectVersion, 0)
	if err = compareObjects(ctx, db, m.source, applied != nil, &s); err != nil {
		return s, err
	}
	switch s.plan() {
	case leave:
		s.Changed, s.Removed, s.Retired = nil, nil, nil
	case apply:
		s.Removed, s.Retired = nil, nil
	}
	return s, nil
}

// objectVersionTable is made by the migrator and not by a migration, because the migrator
// needs it whatever the migrations are.
const objectVersionTable = `
	create table weir.object_version (
		version    bigint primary key,
		hash       text not null,
		applied_at timestamptz not null default now()
	);
	comment on table weir.object_version is 'The versions of functions, views and grants that were applied. The highest is the one that is there.';
	alter table weir.schema_object add column retired_at timestamptz;
	comment on column weir.schema_object.retired_at is 'Since then no version has the file. What it made is dropped a week later, by the next version.';`

// appliedObjects returns the version of functions, views and grants of the database; -1
// if it has no table for it.
func appliedObjects(ctx context.Context, db querier) (version int64, hash string, err error) {
	var exists bool
	err = db.QueryRow(ctx, `
		select exists (
			select from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
			where n.nspname = 'weir' and c.relname = 'object_version')`).Scan(&exists)
	if err != nil || !exists {
		return -1, "", err
	}
	err = db.QueryRow(ctx, `select v.version, v.hash from weir.object_version v order by v.version desc limit 1`).Scan(&version, &hash)
	if errors.Is(err, pgx.ErrNoRows) {
		err = nil
	}
	return version, hash, err
}

// Serves returns nil if this binary can work with the schema of the database: it has all
// migrations of this binary and no breaking one of a newer, and functions of its version
// or a newer one. It is cheap and takes no lock.
func Serves(ctx context.Context, db querier, fsys fs.FS) error {
	applied, err := appliedMigrations(ctx, db)
	if err != nil {
		return err
	}
	entries, err := fs.ReadDir(fsys, "migrations")
	if err != nil {
		return err
	}
	var s Status
	own := map[string]bool{}
	for _, e := range entries {
		own[e.Name()] = true
		if m := migrationName.FindStringSubmatch(e.Name()); m != nil {
			s.Target, _ = strconv.ParseInt(m[1], 10, 64) // only for the message
		}
	}
	for _, a := range applied {
		if !own[a.name] && a.breaking {
			s.Breaking = append(s.Breaking, a.name)
		}
		delete(own, a.name)
	}
	if err := s.Err(); err != nil {
		return err
	}
	lines, err := versionLines(fsys)
	if err != nil {
		return err
	}
	version, _, err := appliedObjects(ctx, db)
	if err != nil {
		return err
	}
	if missing := len(own); missing > 0 || version < int64(len(lines)) {
		return fmt.Errorf("%w: %d of its migrations are missing, and functions are of version %d where it has %d", ErrSchemaOlder, missing, max(version, 0), len(lines))
	}
	return nil
}

// appliedMigrations returns nil for a database that was never migrated.
func appliedMigrations(ctx context.Context, db querier) ([]migration, error) {
	var exists bool
	if err := db.QueryRow(ctx, hasVersionTable).Scan(&exists); err != nil || !exists {
		return nil, err
	}
	rows, err := db.Query(ctx, `select version, name, breaking from weir.schema_version order by version`)
	if err != nil {
		return nil, err
	}
	applied := []migration{}
	var a migration
	_, err = pgx.ForEachRow(rows, []any{&a.version, &a.name, &a.breaking}, func() error {
		applied = append(applied, a)
		return nil
	})
	return applied, err
}
