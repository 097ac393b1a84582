package pg_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/pg"
	"github.com/weirhq/weir/internal/testdb"
)

// The binaries of a roll-out: newer has one more function, another text of one
// and another argument of a third, and no migration.
var (
	older = base.with(files{
		"functions/add.sql":  `create or replace function weir.add(a int, b int) returns int language sql as $$ select a + b $$;`,
		"functions/last.sql": `create or replace function weir.last() returns int language sql as $$ select 1 $$;`,
		"grants.sql":         `revoke all on function weir.add from public;`,
	})
	newer = older.with(files{
		"functions/shout.sql": `create or replace function weir.shout(x text) returns text language sql as $$ select 'NEW ' || x $$;`,
		"functions/add.sql":   `create or replace function weir.add(a int, b int, c int default 0) returns int language sql as $$ select a + b + c $$;`,
		"functions/brand.sql": `create or replace function weir.brand_new() returns int language sql as $$ select 2 $$;`,
		"functions/last.sql":  "",
	})
)

// serves checks whether each of the binaries can work with the database, and that all
// functions which any of them calls exist.
func serves(t *testing.T, db *testdb.DB, binaries ...files) {
	t.Helper()
	for i, f := range binaries {
		if err := pg.Serves(context.Background(), db.Pool, f.fs()); err != nil {
			t.Errorf("binary %d is not ready: %v", i, err)
		}
	}
	if got := get[int](t, db.Pool, `select weir.add(1, 2) + weir.last()`); got != 4 {
		t.Errorf("the functions of the older version answer %d", got)
	}
}

func newest(t *testing.T, db *testdb.DB) {
	t.Helper()
	if got := get[string](t, db.Pool, `select weir.shout('a') || weir.brand_new()`); got != "NEW a2" {
		t.Errorf("the functions of the newer version answer %q", got)
	}
}

// longAgo makes retired files a week older.
func longAgo(t *testing.T, db *testdb.DB) {
	t.Helper()
	if _, err := db.Pool.Exec(context.Background(), `update weir.schema_object set retired_at = retired_at - interval '8 days'`); err != nil {
		t.Fatal(err)
	}
}

func TestRollOutOfFunctions(t *testing.T) {
	db := testdb.NewEmpty(t)
	v1, v2 := older.version(t, 1), newer.version(t, 2)
	migrate(t, db, v1)

	report := migrate(t, db, v2)
	same(t, "retired", report.Retired, []string{"functions/last.sql"})
	same(t, "dropped", report.Dropped, []string{"routine weir.add(pg_catalog.int4,pg_catalog.int4)"})
	serves(t, db, v1, v2)
	newest(t, db)
	for what, binary := range map[string]files{"an older server is restarted": v1, "a newer server is restarted": v2} {
		if report := migrate(t, db, binary); report.Changed() || report.ObjectVersion != 2 {
			t.Errorf("%s: %+v", what, report)
		}
		serves(t, db, v1, v2)
		newest(t, db)
	}

	// The abort: all servers older again, then a third version that has what the second
	// had removed.
	longAgo(t, db)
	migrate(t, db, v1)
	serves(t, db, v1)
	v3 := newer.with(files{"functions/last.sql": older["functions/last.sql"]}).version(t, 3)
	report = migrate(t, db, v3)
	same(t, "what came back", report.Objects, []string{"functions/last.sql", "grants.sql"})
	same(t, "dropped", report.Dropped, nil)
	serves(t, db, v1, v2, v3)
}

func TestOrderOfStartsDoesNotMatter(t *testing.T) {
	db := testdb.NewEmpty(t)
	v1, v2 := older.version(t, 1), newer.version(t, 2)
	migrate(t, db, v2)
	if report := migrate(t, db, v1); report.Changed() {
		t.Errorf("an older server did %+v", report)
	}
	newest(t, db)
	if err := pg.Serves(context.Background(), db.Pool, v1.fs()); err != nil {
		t.Error(err)
	}
}

func TestRetiredIsDroppedAWeekLater(t *testing.T) {
	db := testdb.NewEmpty(t)
	schema := base.with(files{
		"functions/pair.sql": `
create or replace function weir.pair(a int, b int) returns int language sql as $$ select a + b $$;
create or replace procedure weir.pair_up(a weir.thing[]) language plpgsql as $$ begin end $$;`,
		"functions/overloaded.sql": `create or replace function weir.pair(a text) returns text language sql as $$ select a $$;`,
		"functions/used.sql":       `create or replace function weir.used() returns int language sql as $$ select 1 $$;`,
		"views/paired.sql":         `create or replace view weir.paired as select weir.pair(id, id) as twice from weir.thing;`,
	})
	migrate(t, db, schema.version(t, 1))
	if _, err := db.Pool.Exec(context.Background(), `create view public.of_a_user as select weir.used()`); err != nil {
		t.Fatal(err)
	}
	without := schema.with(files{
		"functions/pair.sql": "", "views/paired.sql": "", "functions/used.sql": "",
		"functions/shout.sql": "", "functions/voice.sql": base["functions/shout.sql"],
	})
	report := migrate(t, db, without.version(t, 2))
	same(t, "retired", report.Retired, []string{"functions/pair.sql", "functions/shout.sql", "functions/used.sql", "views/paired.sql"})
	same(t, "dropped at once", report.Dropped, nil)
	same(t, "dropped within the week", migrate(t, db, without.version(t, 3)).Dropped, nil)
	longAgo(t, db)
	report = migrate(t, db, without.version(t, 3))
	same(t, "dropped by the same version", report.Dropped, nil)
	report = migrate(t, db, without.version(t, 4))
	same(t, "dropped", report.Dropped, []string{
		"view weir.paired", "routine weir.pair_up(weir._thing)", "routine weir.pair(pg_catalog.int4,pg_catalog.int4)",
	})
	if got := get[string](t, db.Pool, `select weir.pair('the other one stays') || weir.shout('moved') || (select used from public.of_a_user)`); got == "" {
		t.Error("something that is in use is gone")
	}
}

// A developer who changes functions without raising their version works on a draft: a
// server started from it applies its functions, whatever was there, and removes nothing.
func TestDrafts(t *testing.T) {
	db := testdb.NewEmpty(t)
	v1 := older.version(t, 1)
	draft := newer.with(files{"versions.txt": v1["versions.txt"]})
	migrate(t, db, v1)
	report := migrate(t, db, draft)
	same(t, "objects", report.Objects, []string{"functions/add.sql", "functions/brand.sql", "functions/shout.sql", "grants.sql"})
	serves(t, db, v1, draft)
	newest(t, db)

	// A server of the version itself leaves them.
	if report := migrate(t, db, v1); report.Changed() {
		t.Errorf("it did %+v", report)
	}
	serves(t, db, v1, draft)
	newest(t, db)

	// On a database that no other server uses, the private one of weir up, they are
	// replaced.
	report, err := pg.MigrateOwn(context.Background(), db.URL, v1.fs())
	if err != nil || len(report.Objects) == 0 || len(report.Retired) != 0 {
		t.Errorf("it did %+v, %v", report, err)
	}
	if got := get[string](t, db.Pool, `select weir.shout('a') || weir.brand_new()`); got != "A!2" {
		t.Errorf("got %q", got)
	}
	// A newer version is left even there.
	migrate(t, db, newer.version(t, 2))
	if report, err := pg.MigrateOwn(context.Background(), db.URL, v1.fs()); err != nil || report.Changed() {
		t.Errorf("it did %+v, %v", report, err)
	}
	newest(t, db)
}

func TestServes(t *testing.T) {
	db := testdb.NewEmpty(t)
	ctx := context.Background()
	v1 := older.version(t, 1)
	if err := pg.Serves(ctx, db.Pool, v1.fs()); !errors.Is(err, pg.ErrSchemaOlder) {
		t.Errorf("an empty database: %v", err)
	}
	migrate(t, db, v1)
	for what, f := range map[string]files{
		"functions": newer.version(t, 2),
		"migration": v1.with(files{"migrations/0002_more.sql": "-- +goose Up\nselect 1;"}),
	} {
		if err := pg.Serves(ctx, db.Pool, f.fs()); !errors.Is(err, pg.ErrSchemaOlder) {
			t.Errorf("%s that the database lacks: %v", what, err)
		}
	}
	migrate(t, db, v1.with(files{"migrations/0002_more.sql": "-- +goose Up\nselect 1;"}))
	if err := pg.Serves(ctx, db.Pool, v1.fs()); err != nil {
		t.Errorf("a newer migration: %v", err)
	}
	breaking := v1.with(files{"migrations/0002_more.sql": "-- +goose Up\nselect 1;", "migrations/0003_other.sql": "-- weir:breaking\n-- +goose Up\nselect 1;"})
	migrate(t, db, breaking)
	if err := pg.Serves(ctx, db.Pool, v1.fs()); !errors.Is(err, pg.ErrSchemaNewer) || !strings.Contains(err.Error(), "0003_other.sql") {
		t.Errorf("a breaking one: %v", err)
	}
	if err := pg.Serves(ctx, db.Pool, breaking.fs()); err != nil {
		t.Error(err)
	}
}
