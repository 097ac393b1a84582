package testdb

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir/internal/pg"
	"github.com/weirhq/weir/schema"
)

// templateLock is the advisory lock under which one process makes the template. It is
// taken in the maintenance database, which all processes share.
const templateLock = 0x74706c // "tpl"

const templatePrefix, draftSuffix = "weir_template_", "_draft"

// template returns the name of the migrated template, and makes it if necessary. A
// template that exists under its name is complete, because it is made under another name.
func template(ctx context.Context, admin *pgx.Conn, adminURL string) (string, error) {
	hash, err := currentSchema()
	if err != nil {
		return "", err
	}
	name := templatePrefix + hash
	if exists, err := hasDatabase(ctx, admin, name); exists || err != nil {
		return name, err
	}
	if _, err := admin.Exec(ctx, `select pg_advisory_lock($1)`, templateLock); err != nil {
		return "", err
	}
	defer admin.Exec(context.WithoutCancel(ctx), `select pg_advisory_unlock($1)`, templateLock) //nolint:errcheck // a connection that breaks loses it
	if exists, err := hasDatabase(ctx, admin, name); exists || err != nil {
		return name, err
	}
	from, err := nearest(ctx, admin)
	if err != nil {
		return "", err
	}
	draft := name + draftSuffix
	if err := execAll(ctx, admin, `drop database if exists `+draft+` with (force)`, `create database `+draft+` template `+from); err != nil {
		return "", err
	}
	if err := fill(ctx, withDatabase(adminURL, draft)); err != nil {
		return "", err
	}
	return name, execAll(ctx, admin, `alter database `+draft+` rename to `+name)
}

// SchemaVariable names the environment variable with a folder whose schema replaces the
// embedded one. Package mutate sets it, so that one test binary serves every change of
// the SQL.
const SchemaVariable = "WEIR_TEST_SCHEMA"

// source returns the schema that templates are made of.
func source() fs.FS {
	if dir := os.Getenv(SchemaVariable); dir != "" {
		return os.DirFS(dir)
	}
	return schema.FS
}

// nearest returns the database to start a template from: that of the embedded schema, if
// it exists and the folder differs from it only in functions and views. Applying one file
// is much less work than applying all.
func nearest(ctx context.Context, admin *pgx.Conn) (string, error) {
	const empty = "template1"
	if os.Getenv(SchemaVariable) == "" {
		return empty, nil
	}
	var sums [2]string
	for i, fsys := range []fs.FS{schema.FS, source()} {
		migrations, err := fs.Sub(fsys, "migrations")
		if err != nil {
			return "", err
		}
		if sums[i], err = schemaHash(migrations); err != nil {
			return "", err
		}
	}
	hash, err := schemaHash(schema.FS)
	if err != nil || sums[0] != sums[1] {
		return empty, err
	}
	if exists, err := hasDatabase(ctx, admin, templatePrefix+hash); !exists || err != nil {
		return empty, err
	}
	return templatePrefix + hash, nil
}

// DropTemplate removes the template of a schema that is not needed again.
func DropTemplate(ctx context.Context, adminURL string, fsys fs.FS) error {
	hash, err := schemaHash(fsys)
	if err != nil {
		return err
	}
	admin, err := pgx.Connect(ctx, adminURL)
	if err != nil {
		return err
	}
	defer admin.Close(context.WithoutCancel(ctx))
	name := templatePrefix + hash
	return execAll(ctx, admin, `drop database if exists `+name+draftSuffix+` with (force)`, `drop database if exists `+name+` with (force)`)
}

// fill does what `weir migrate` does: it applies the schema, and makes the partitions for
// now.
func fill(ctx context.Context, address string) error {
	if _, err := pg.Migrate(ctx, address, source()); err != nil {
		return err
	}
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return execAll(ctx, conn, `select weir.ensure_partitions()`)
}

func execAll(ctx context.Context, conn *pgx.Conn, statements ...string) error {
	for _, s := range statements {
		if _, err := conn.Exec(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
	}
	return nil
}

func hasDatabase(ctx context.Context, conn *pgx.Conn, name string) (exists bool, err error) {
	err = conn.QueryRow(ctx, `select exists (select from pg_database where datname = $1)`, name).Scan(&exists)
	return exists, err
}

// currentSchema names the schema of this process. It is cached because every test needs
// it.
var currentSchema = sync.OnceValues(func() (string, error) { return schemaHash(source()) })

// schemaHash names a schema by its content.
func schemaHash(fsys fs.FS) (string, error) {
	sum := sha256.New()
	err := fs.WalkDir(fsys, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(fsys, path)
		fmt.Fprintf(sum, "%s %d\n%s", path, len(text), text)
		return err
	})
	return hex.EncodeToString(sum.Sum(nil))[:16], err
}

// withDatabase returns the URL of another database of the same cluster.
func withDatabase(address, database string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address // the connection error says what is wrong
	}
	u.Path = "/" + database
	return u.String()
}
