package pg_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir/internal/pg"
	"github.com/weirhq/weir/internal/testdb"
)

// files is a schema as file names and texts.
type files map[string]string

func (f files) fs() fstest.MapFS {
	fsys := fstest.MapFS{}
	for name, text := range f {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fsys
}

// with returns a copy with some files changed; an empty text removes one.
func (f files) with(changes files) files {
	next := maps.Clone(f)
	for name, text := range changes {
		if next[name] = text; text == "" {
			delete(next, name)
		}
	}
	return next
}

// version returns a copy that is version n of its functions and views.
func (f files) version(t *testing.T, n int) files {
	t.Helper()
	line, err := pg.NextVersion(f.fs())
	if err != nil {
		t.Fatal(err)
	}
	return f.with(files{"versions.txt": strings.Repeat("earlier\n", n-1) + line + "\n"})
}

// base needs its objects in an order that is not the order of their names: a function
// returns rows of a view, which reads another view, which calls a function.
var base = files{
	"migrations/0001_tables.sql": `
-- +goose Up
create table weir.thing (id int primary key, name text);
insert into weir.thing values (1, 'one'), (2, 'two');`,
	"functions/a_list.sql": `
create or replace function weir.a_list() returns setof weir.loud language sql as $$ select * from weir.loud order by id $$;
comment on function weir.a_list is 'All, loudly.';`,
	"functions/shout.sql": `create or replace function weir.shout(x text) returns text language sql as $$ select upper(x) || '!' $$;`,
	"views/loud.sql":      `create or replace view weir.loud as select id, name from weir.shouted;`,
	"views/shouted.sql":   `create or replace view weir.shouted as select id, weir.shout(name) as name from weir.thing;`,
}

func migrate(t *testing.T, db *testdb.DB, f files) pg.Report {
	t.Helper()
	report, err := pg.Migrate(context.Background(), db.URL, f.fs())
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func get[T any](t *testing.T, pool *pgxpool.Pool, sql string, args ...any) T {
	t.Helper()
	var value T
	// Nothing is cached, because functions change under the pool here.
	args = append([]any{pgx.QueryExecModeExec}, args...)
	if err := pool.QueryRow(context.Background(), sql, args...).Scan(&value); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return value
}

func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

func TestMigrateFromNothing(t *testing.T) {
	db := testdb.NewEmpty(t)
	before, err := pg.MigrationStatus(context.Background(), db.URL, base.fs())
	if err != nil {
		t.Fatal(err)
	}
	if before.Version != 0 || before.Target != 1 || len(before.Pending) != 1 || len(before.Changed) != 4 || before.Current() {
		t.Errorf("status of an empty database: %+v", before)
	}
	if get[bool](t, db.Pool, `select to_regnamespace('weir') is not null`) {
		t.Error("asking for the status wrote to the database")
	}
	report := migrate(t, db, base)
	same(t, "migrations", report.Migrations, []string{"0001_tables.sql"})
	same(t, "objects", report.Objects, []string{"functions/a_list.sql", "functions/shout.sql", "views/loud.sql", "views/shouted.sql"})
	if report.Version != 1 || !report.Changed() {
		t.Errorf("report %+v", report)
	}
	if got := get[string](t, db.Pool, `select string_agg(name, ' ') from weir.a_list()`); got != "ONE! TWO!" {
		t.Errorf("the function answers %q", got)
	}
	after, err := pg.MigrationStatus(context.Background(), db.URL, base.fs())
	if err != nil || !after.Current() || after.Version != 1 {
		t.Errorf("status afterwards: %+v, %v", after, err)
	}
}

func TestMigrateWithNothingToDoWritesNothing(t *testing.T) {
	// The shared cluster has other tests that write; a cluster of its own does not.
	cluster, stop, err := testdb.StartCluster(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	}()
	pool, err := pg.Open(context.Background(), cluster.URL("postgres"), pg.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	if _, err := pg.Migrate(context.Background(), cluster.URL("postgres"), base.fs()); err != nil {
		t.Fatal(err)
	}
	xid := `select txid_snapshot_xmax(txid_current_snapshot())`
	before := get[int64](t, pool, xid)
	report, err := pg.Migrate(context.Background(), cluster.URL("postgres"), base.fs())
	if err != nil || report.Changed() || report.Version != 1 {
		t.Errorf("report %+v, %v", report, err)
	}
	if after := get[int64](t, pool, xid); after != before {
		t.Errorf("%d transactions wrote something", after-before)
	}
}

func TestTwentyMigratorsAtOnce(t *testing.T) {
	db := testdb.NewEmpty(t)
	schema := base.with(files{
		// Outside a transaction, and waiting for every older snapshot.
		"migrations/0002_index.sql": "-- +goose NO TRANSACTION\n-- +goose Up\ncreate index concurrently thing_name on weir.thing (name);",
		"migrations/0003_more.sql":  "-- +goose Up\ninsert into weir.thing values (3, 'three');",
	})
	var wait sync.WaitGroup
	reports, errs := make([]pg.Report, 20), make([]error, 20)
	for i := range reports {
		wait.Go(func() { reports[i], errs[i] = pg.Migrate(context.Background(), db.URL, schema.fs()) })
	}
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	ran, applied := 0, 0
	for _, r := range reports {
		ran += len(r.Migrations)
		applied += len(r.Objects)
		if r.Version != 3 {
			t.Errorf("a migrator ended at version %d", r.Version)
		}
	}
	if ran != 3 || applied != 4 {
		t.Errorf("together they ran %d migrations and %d objects, want 3 and 4", ran, applied)
	}
}

func TestMigrateAppliesWhatChanged(t *testing.T) {
	db := testdb.NewEmpty(t)
	migrate(t, db, base)

	louder := base.with(files{"functions/shout.sql": `create or replace function weir.shout(x text) returns text language sql as $$ select upper(x) || '!!' $$;`})
	same(t, "a changed body", migrate(t, db, louder).Objects, []string{"functions/shout.sql"})
	if got := get[string](t, db.Pool, `select weir.shout('a')`); got != "A!!" {
		t.Errorf("got %q", got)
	}

	wider := louder.with(files{"views/loud.sql": `create or replace view weir.loud as select id, name, length(name) as size from weir.shouted;`})
	same(t, "a view with one more column", migrate(t, db, wider).Objects, []string{"views/loud.sql"})

	if _, err := db.Pool.Exec(context.Background(), `drop function weir.a_list`); err != nil {
		t.Fatal(err)
	}
	same(t, "a function that somebody dropped", migrate(t, db, wider).Objects, []string{"functions/a_list.sql"})

	// A migration that drops a view makes room for other columns, and the objects that
	// were dropped with the view come back.
	reshaped := wider.with(files{
		"migrations/0002_reshape.sql": "-- +goose Up\ndrop view weir.loud cascade;",
		"views/loud.sql":              `create or replace view weir.loud as select name, id from weir.shouted;`,
	})
	report := migrate(t, db, reshaped)
	same(t, "after a cascade", report.Objects, []string{"functions/a_list.sql", "views/loud.sql"})
	same(t, "after a cascade", report.Migrations, []string{"0002_reshape.sql"})
}

// TestMigrateSchemaFlow has views of the second schema, one of them with the
// name of a view of the first.
func TestMigrateSchemaFlow(t *testing.T) {
	db := testdb.NewEmpty(t)
	flow := base.with(files{
		"migrations/0002_flow.sql": "-- +goose Up\ncreate schema flow;",
		"views/flow_loud.sql":      `create or replace view flow.loud as select id, name || '?' as name from weir.loud;`,
	})
	migrate(t, db, flow)
	if report := migrate(t, db, flow); report.Changed() {
		t.Errorf("the second migrate did %+v", report)
	}
	report := migrate(t, db, flow.with(files{"views/flow_loud.sql": `create or replace view flow.loud as select id, name || '??' as name from weir.loud;`}))
	same(t, "objects", report.Objects, []string{"views/flow_loud.sql"})
	if got := get[string](t, db.Pool, `select string_agg(name, ' ' order by id) from flow.loud`); got != "ONE!?? TWO!??" {
		t.Errorf("the view shows %q", got)
	}
	migrate(t, db, flow.with(files{"views/flow_loud.sql": ""}).version(t, 1))
	longAgo(t, db)
	report = migrate(t, db, flow.with(files{"views/flow_loud.sql": ""}).version(t, 2))
	same(t, "dropped", report.Dropped, []string{"view flow.loud"})
	if got := get[string](t, db.Pool, `select string_agg(name, ' ' order by id) from weir.loud`); got != "ONE! TWO!" {
		t.Errorf("the other view shows %q", got)
	}
}

func TestMigrateReplacesSignatures(t *testing.T) {
	db := testdb.NewEmpty(t)
	schema := base.with(files{"functions/add.sql": `
create or replace function weir.add(a int, b int) returns int language sql as $$ select a + b $$;
comment on function weir.add is 'Adds.';`})
	migrate(t, db, schema)
	for what, text := range map[string]string{
		"another result":         `create or replace function weir.add(a int, b int) returns bigint language sql as $$ select (a + b)::bigint $$;`,
		"other argument names":   `create or replace function weir.add(x int, y int) returns int language sql as $$ select x + y $$;`,
		"one more, with default": `create or replace function weir.add(a int, b int, c int default 0) returns int language sql as $$ select a + b + c $$;`,
	} {
		t.Run(what, func(t *testing.T) {
			migrate(t, db, schema.with(files{"functions/add.sql": text + "\ncomment on function weir.add is 'Adds.';"}))
			if got := get[int](t, db.Pool, `select weir.add(1, 2)`); got != 3 {
				t.Errorf("got %d", got)
			}
			if n := get[int](t, db.Pool, `select count(*) from pg_proc where proname = 'add' and pronamespace = 'weir'::regnamespace`); n != 1 {
				t.Errorf("%d functions of that name", n)
			}
		})
	}
}

func TestMigrateErrorsNameTheFileAndChangeNothing(t *testing.T) {
	db := testdb.NewEmpty(t)
	migrate(t, db, base)
	for name, c := range map[string]struct {
		change files
		want   []string
	}{
		"syntax": {
			files{"functions/bad.sql": "create or replace function weir.bad() returns int language sql\nas $$ select 1 $$ oops;"},
			[]string{"functions/bad.sql:2", "oops"},
		},
		"body names a missing table": {
			files{"functions/bad.sql": `create or replace function weir.bad() returns int language sql as $$ select x from weir.nowhere $$;`},
			[]string{"functions/bad.sql", "weir.nowhere"},
		},
		"two views that need each other": {
			files{
				"views/x.sql": `create or replace view weir.x as select * from weir.y;`,
				"views/y.sql": `create or replace view weir.y as select * from weir.x;`,
			},
			[]string{"views/x.sql", "weir.y"},
		},
		"a view loses a column": {
			files{"views/loud.sql": `create or replace view weir.loud as select id from weir.shouted;`},
			[]string{"views/loud.sql", "only ever added at its end"},
		},
		"nothing made":       {files{"functions/bad.sql": `select 1;`}, []string{"functions/bad.sql", "CREATE OR REPLACE"}},
		"bad migration name": {files{"migrations/tables.sql": "-- +goose Up\n"}, []string{"migrations/tables.sql", "0001_"}},
		"bad migration":      {files{"migrations/0002_bad.sql": "-- +goose Up\ncreate table weir.half ();\nselect 1/0;"}, []string{"migrations/0002_bad.sql", "division by zero"}},
		"version zero":       {files{"migrations/0000_early.sql": "-- +goose Up\nselect 1;"}, []string{"migrations/0000_early.sql", "from 1 on"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := pg.Migrate(context.Background(), db.URL, base.with(c.change).fs())
			for _, part := range c.want {
				if err == nil || !strings.Contains(err.Error(), part) {
					t.Errorf("got %v, want it to say %q", err, part)
				}
			}
			status, err := pg.MigrationStatus(context.Background(), db.URL, base.fs())
			if err != nil || !status.Current() || status.Version != 1 {
				t.Errorf("status afterwards: %+v, %v", status, err)
			}
			if get[bool](t, db.Pool, `select to_regclass('weir.half') is not null`) {
				t.Error("half a migration is left")
			}
		})
	}
}

func TestOlderBinary(t *testing.T) {
	db := testdb.NewEmpty(t)
	newer := base.with(files{
		"migrations/0002_more.sql": "-- +goose Up\ninsert into weir.thing values (3, 'three');",
		"functions/shout.sql":      `create or replace function weir.shout(x text) returns text language sql as $$ select 'NEW ' || x $$;`,
	})
	migrate(t, db, newer)

	report := migrate(t, db, base)
	if report.Changed() || report.Version != 2 {
		t.Errorf("an older binary did %+v", report)
	}
	if got := get[string](t, db.Pool, `select weir.shout('a')`); got != "NEW a" {
		t.Errorf("an older binary put its function back: %q", got)
	}

	breaking := newer.with(files{"migrations/0003_rename.sql": "-- weir:breaking\n-- +goose Up\nalter table weir.thing add column extra int;"})
	migrate(t, db, breaking)
	for name, old := range map[string]files{"one back": newer, "two back": base} {
		t.Run(name, func(t *testing.T) {
			_, err := pg.Migrate(context.Background(), db.URL, old.fs())
			if !errors.Is(err, pg.ErrSchemaNewer) || !strings.Contains(fmt.Sprint(err), "0003_rename.sql") {
				t.Errorf("got %v, want ErrSchemaNewer", err)
			}
			status, err := pg.MigrationStatus(context.Background(), db.URL, old.fs())
			if err != nil || !errors.Is(status.Err(), pg.ErrSchemaNewer) {
				t.Errorf("status %+v, %v", status, err)
			}
		})
	}
	migrate(t, db, breaking)
	migrate(t, db, breaking.with(files{"migrations/0004_x.sql": "-- +goose Up\nselect 1;"}))
}

func TestLateMigrationIsRefused(t *testing.T) {
	db := testdb.NewEmpty(t)
	ahead := base.with(files{"migrations/0003_c.sql": "-- +goose Up\nselect 1;"})
	migrate(t, db, ahead)
	_, err := pg.Migrate(context.Background(), db.URL, ahead.with(files{"migrations/0002_b.sql": "-- +goose Up\nselect 1;"}).fs())
	if err == nil || !strings.Contains(err.Error(), "version 2") {
		t.Errorf("got %v", err)
	}
}

// A file may move to the folder of a domain: it is the same object, and nothing is applied
// again. Two files of one name are refused.
func TestFoldersOfDomains(t *testing.T) {
	t.Parallel()
	db := testdb.NewEmpty(t)
	before := base.version(t, 1)
	if _, err := pg.Migrate(t.Context(), db.URL, before.fs()); err != nil {
		t.Fatal(err)
	}
	after := before.with(files{"functions/shout.sql": "", "functions/voice/shout.sql": before["functions/shout.sql"]})
	report, err := pg.Migrate(t.Context(), db.URL, after.fs())
	if err != nil || len(report.Objects) > 0 || len(report.Retired) > 0 || report.ObjectVersion != 1 {
		t.Errorf("moved: %+v, %v", report, err)
	}
	twice := before.with(files{"functions/voice/shout.sql": before["functions/shout.sql"]})
	if _, err := pg.Migrate(t.Context(), db.URL, twice.fs()); err == nil || !strings.Contains(err.Error(), "functions/voice/shout.sql have the same name") {
		t.Errorf("one name twice: %v", err)
	}
}
