package rollouts

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/golang-migrate/migrate/v4"
	migratepgx "github.com/golang-migrate/migrate/v4/database/pgx/v5"
	"github.com/golang-migrate/migrate/v4/source/iofs"
	"github.com/jackc/pgx/v5"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver of goose
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"github.com/weirhq/weir/internal/rollout/script"
	"github.com/weirhq/weir/internal/rollout/target"
)

// The tools, as tables name them.
const (
	Bare    = "bare SQL"
	Goose   = "goose"
	Migrate = "golang-migrate"
	Target  = "weir, target alone"
	Weir    = "weir, rollout"
)

// apply applies migrations to the database at url with a tool in this process. dir has
// them as files; attempt is for Weir, which counts attempts.
func apply(ctx context.Context, tool, url, dir string, list []Migration, attempt int) error {
	switch tool {
	case Bare:
		return applyBare(ctx, url, list)
	case Goose:
		return applyGoose(ctx, url, dir)
	case Migrate:
		return applyMigrate(url, dir)
	default:
		return applyTarget(ctx, url, list, attempt)
	}
}

// applyBare does only what is indispensable: a transaction for each.
func applyBare(ctx context.Context, url string, list []Migration) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	for _, m := range list {
		if _, err := conn.Exec(ctx, m.SQL, pgx.QueryExecModeSimpleProtocol); err != nil {
			return fmt.Errorf("migration %d: %w", m.Version, err)
		}
	}
	return nil
}

// applyGoose runs goose with a lock, as its manual says for several servers.
func applyGoose(ctx context.Context, url, dir string) (err error) {
	db, err := sql.Open("pgx", url)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	locker, err := lock.NewPostgresSessionLocker()
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider(goose.DialectPostgres, db, os.DirFS(filepath.Join(dir, "goose")), goose.WithSessionLocker(locker))
	if err != nil {
		return err
	}
	_, err = provider.Up(ctx)
	return err
}

// applyMigrate runs golang-migrate, which always takes a lock.
func applyMigrate(url, dir string) (err error) {
	db, err := sql.Open("pgx", url)
	if err != nil {
		return err
	}
	driver, err := migratepgx.WithInstance(db, &migratepgx.Config{})
	if err != nil {
		return errors.Join(err, db.Close())
	}
	source, err := iofs.New(os.DirFS(filepath.Join(dir, "migrate")), ".")
	if err != nil {
		return errors.Join(err, driver.Close())
	}
	m, err := migrate.NewWithInstance("iofs", source, "pgx5", driver)
	if err != nil {
		return errors.Join(err, driver.Close())
	}
	defer func() {
		a, b := m.Close()
		err = errors.Join(err, a, b)
	}()
	if err := m.Up(); !errors.Is(err, migrate.ErrNoChange) {
		return err
	}
	return nil
}

// applyTarget runs the part of Weir that connects to a database: lock, fence, timeouts
// and history, without plan, engine and executor.
func applyTarget(ctx context.Context, url string, list []Migration, attempt int) error {
	t, err := target.Open(ctx, script.Postgres, url, target.Options{})
	if err != nil {
		return err
	}
	defer t.Close()
	for _, m := range list {
		run, err := m.run(attempt)
		if err != nil {
			return err
		}
		if _, err := t.Apply(ctx, run, silent{}); err != nil {
			return err
		}
	}
	return nil
}

func (m Migration) run(attempt int) (target.Run, error) {
	c, err := m.change()
	if err != nil {
		return target.Run{}, err
	}
	steps, err := script.Steps(script.Postgres, c)
	return target.Run{
		Rollout: "bench", Task: fmt.Sprintf("task-%d", m.Version), Attempt: attempt, Token: fmt.Sprint("token ", attempt),
		Change: c, Steps: steps, By: "bench",
	}, err
}

// silent is an observer that does nothing.
type silent struct{}

func (silent) Phase(context.Context, target.Phase) error       { return nil }
func (silent) Statement(context.Context, target.StatementDone) {}
func (silent) Waiting(_ context.Context, _ string)             {}
