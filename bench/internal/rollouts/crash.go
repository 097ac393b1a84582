package rollouts

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir/internal/loop"
)

// Points are where a tool is killed.
var Points = []string{
	"before begin", "after the change, before the version row", "after commit, before the report",
	"during create index concurrently, which ends by itself", "during create index concurrently, its session ends too",
}

// Crashed is the observation of one tool killed at one point.
type Crashed struct {
	Point string `json:"point"`
	Tool  string `json:"tool"`
	// Left is what the kill left behind, Again is the output of a second run, and After
	// is the state after that.
	Left  string `json:"left"`
	Again string `json:"again"`
	After string `json:"after"`
}

// versions are the tables in which the tools record what they applied.
var versions = map[string]string{Goose: "goose_db_version", Migrate: "schema_migrations", Target: "weir_history"}

// stop is a lock that the change of a crash waits for at its end.
const stop = 4711

// crash is one kill.
type crash struct {
	tool, url, dir string
	// admin observes, and blocker holds the lock that the victim waits for.
	admin, blocker *pgx.Conn
	list           []Migration
}

// Crash kills a tool at a point in the empty database at url, runs it again, and returns
// the observations.
func Crash(ctx context.Context, tool, point, url string) (found Crashed, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	found = Crashed{Point: point, Tool: tool}
	c := &crash{tool: tool, url: url}
	if c.dir, err = os.MkdirTemp("", "weir-bench-"); err != nil {
		return found, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(c.dir)) }()
	for _, conn := range []**pgx.Conn{&c.admin, &c.blocker} {
		if *conn, err = pgx.Connect(ctx, url); err != nil {
			return found, err
		}
		defer (*conn).Close(context.WithoutCancel(ctx))
	}
	// The first migration succeeds, so that the tool's tables exist.
	c.list = []Migration{{Version: 1, SQL: "create table base (id int);\ninsert into base values (1);"}}
	if err = c.files(); err == nil {
		err = apply(ctx, tool, url, c.dir, c.list, 1)
	}
	if err != nil {
		return found, fmt.Errorf("before the crash: %w", err)
	}
	if strings.HasPrefix(point, "during") {
		err = c.index(ctx, point == Points[4])
	} else {
		err = c.change(ctx, point)
	}
	if err != nil {
		return found, fmt.Errorf("%s, %s: %w", tool, point, err)
	}
	if found.Left, err = c.state(ctx); err != nil {
		return found, err
	}
	found.Again = "ok"
	if err := apply(ctx, tool, url, c.dir, c.list, 2); err != nil {
		found.Again = strings.Join(strings.Fields(err.Error()), " ")
	}
	found.After, err = c.state(ctx)
	return found, err
}

// files rewrites the migrations.
func (c *crash) files() error { return write(c.dir, c.list) }

// next adds the migration that the victim should apply, and starts it.
func (c *crash) next(ctx context.Context, m Migration) (*process, error) {
	c.list = append(c.list, m)
	if err := c.files(); err != nil {
		return nil, err
	}
	return victim{c.tool, c.url, c.dir, c.list}.start(ctx)
}

// change kills at a point of a change that fits into a transaction.
func (c *crash) change(ctx context.Context, point string) error {
	if _, err := c.admin.Exec(ctx, `select pg_advisory_lock($1)`, stop); err != nil {
		return err
	}
	tx, err := c.blocker.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) //nolint:errcheck // it only keeps others waiting
	if point == Points[0] {
		if _, err := tx.Exec(ctx, `lock table `+versions[c.tool]+` in access exclusive mode`); err != nil {
			return err
		}
	}
	p, err := c.next(ctx, Migration{Version: 2, SQL: "create table a (id int);\ninsert into base values (2);\nselect pg_advisory_xact_lock(" + fmt.Sprint(stop) + ");"})
	if err != nil {
		return err
	}
	release := func() error {
		_, err := c.admin.Exec(ctx, `select pg_advisory_unlock($1)`, stop)
		return err
	}
	switch point {
	case Points[0]:
		err = c.waits(ctx, "relation")
	case Points[1]:
		if err = c.waits(ctx, "advisory"); err != nil {
			break
		}
		if _, err = tx.Exec(ctx, `lock table `+versions[c.tool]+` in share row exclusive mode`); err == nil {
			err = errors.Join(release(), c.waits(ctx, "relation"))
		}
	default:
		err = errors.Join(release(), p.finished())
	}
	err = errors.Join(err, p.kill(), tx.Rollback(ctx))
	if point == Points[0] {
		err = errors.Join(err, release())
	}
	return errors.Join(err, c.gone(ctx))
}

// index kills while the server builds an index, which a transaction of another session
// keeps from ending.
func (c *crash) index(ctx context.Context, session bool) error {
	tx, err := c.blocker.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) //nolint:errcheck // it only keeps others waiting
	if _, err := tx.Exec(ctx, `insert into base values (3)`); err != nil {
		return err
	}
	p, err := c.next(ctx, Migration{Version: 2, SQL: "create index concurrently base_id on base (id);", Alone: true})
	if err != nil {
		return err
	}
	err = errors.Join(c.until(ctx, "an index that is not valid", `select exists (select from pg_index where indexrelid = to_regclass('base_id') and not indisvalid)`), p.kill())
	if session && err == nil {
		_, err = c.admin.Exec(ctx, `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> all ($1)`, c.own())
		err = errors.Join(err, c.gone(ctx))
	}
	return errors.Join(err, tx.Commit(ctx), c.gone(ctx))
}

// own returns the sessions that are not the victim's.
func (c *crash) own() []int32 {
	return []int32{int32(c.admin.PgConn().PID()), int32(c.blocker.PgConn().PID())}
} // #nosec G115 -- pids are small

// waits returns when a session of the victim waits for a lock of this kind.
func (c *crash) waits(ctx context.Context, kind string) error {
	return c.until(ctx, "a session that waits for a lock: "+kind, `select exists (select from pg_stat_activity where datname = current_database() and pid <> all ($1)
		and wait_event_type = 'Lock' and wait_event = $2)`, c.own(), kind)
}

// gone returns when no session of the victim is left.
func (c *crash) gone(ctx context.Context) error {
	return c.until(ctx, "the end of the victim's sessions", `select not exists (select from pg_stat_activity where datname = current_database() and pid <> all ($1) and backend_type = 'client backend')`, c.own())
}

func (c *crash) until(ctx context.Context, what, query string, args ...any) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	for {
		var yes bool
		if err := c.admin.QueryRow(ctx, query, args...).Scan(&yes); err != nil {
			return fmt.Errorf("wait for %s: %w", what, err)
		}
		if yes {
			return nil
		}
		if !loop.Wait(ctx, 2*time.Millisecond, nil) {
			return fmt.Errorf("no %s", what)
		}
	}
}

// state returns what the database has of the migration.
func (c *crash) state(ctx context.Context) (string, error) {
	var table bool
	var rows, marks int
	var index *bool
	err := c.admin.QueryRow(ctx, `select to_regclass('a') is not null, (select count(*) from base where id = 2), (select indisvalid from pg_index where indexrelid = to_regclass('base_id'))`).Scan(&table, &rows, &index)
	if err != nil {
		return "", err
	}
	row := map[string]string{Goose: `version_id = 2`, Migrate: `version = 2`, Target: `version = '2'`}[c.tool]
	if err := c.admin.QueryRow(ctx, `select count(*) from `+versions[c.tool]+` where `+row).Scan(&marks); err != nil {
		return "", err
	}
	parts := []string{fmt.Sprintf("%d version rows", marks)}
	if marks == 1 {
		parts[0] = "version row"
	}
	if c.tool == Migrate && marks > 0 {
		var dirty bool
		if err := c.admin.QueryRow(ctx, `select dirty from schema_migrations`).Scan(&dirty); err != nil {
			return "", err
		}
		if dirty {
			parts[0] += ", dirty"
		}
	}
	switch {
	case index != nil && *index:
		parts = append(parts, "valid index")
	case index != nil:
		parts = append(parts, "INVALID index")
	case c.list[1].Alone:
		parts = append(parts, "no index")
	case table:
		parts = append(parts, fmt.Sprintf("change there %d×", rows))
	default:
		parts = append(parts, "change not there")
	}
	return strings.Join(parts, ", "), nil
}
