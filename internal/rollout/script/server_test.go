package script_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/weirhq/weir/internal/rollout/script"
	"github.com/weirhq/weir/internal/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// ground is what the statements below find.
const ground = `
	create table t (id int primary key, a int, b text, constraint c check (a > 0) not valid);
	create table other (id int primary key, x int);
	create table parent (id int, k int) partition by list (k);
	create table part1 partition of parent for values in (1);
	create table part2 (id int, k int);
	create table child (id int);
	create index t_a on t (a);
	create materialized view m as select id from t;
	create unique index m_id on m (id);
	create view v as select id from t;
	create sequence q;
	create type mood as enum ('sad');
	create function f() returns trigger language plpgsql as 'begin return new; end';
	create trigger g before update on t for each row execute function f();
	create policy p on t using (true);
`

// transactional are statements that a server takes inside of a transaction.
var transactional = []string{
	"alter table t add column n int",
	"alter table t add column n int references other",
	"alter table t drop column b",
	"alter table t alter column a type bigint",
	"alter table t alter column a set not null",
	"alter table t alter column a drop not null",
	"alter table t alter column a set default 1",
	"alter table t alter column a set statistics 10",
	"alter table t set (fillfactor = 70)",
	"alter table t validate constraint c",
	"alter table t drop constraint c",
	"alter table t add constraint k foreign key (a) references other (id)",
	"alter table t add constraint k foreign key (a) references other (id) not valid",
	"alter table t add constraint k check (a > 1)",
	"alter table t add unique (a)",
	"alter table t disable trigger g",
	"alter table t enable row level security",
	"alter table t cluster on t_a",
	"alter table t rename to t2",
	"alter table t rename column a to a2",
	"alter table t alter column a set statistics 10, add column n int",
	"alter table t owner to current_user",
	"alter table parent attach partition part2 for values in (2)",
	"alter table parent detach partition part1",
	"alter table child inherit other_parent",
	"create table part3 partition of parent for values in (3)",
	"create table n (id int references other)",
	"create table n (like t)",
	"create table n as select * from t",
	"create index on t (b)",
	"drop table other",
	"drop view v",
	"drop materialized view m",
	"drop sequence q",
	"drop trigger g on t",
	"drop policy p on t",
	"alter policy p on t using (false)",
	"create policy p2 on t using (true)",
	"create trigger g2 before insert on t for each row execute function f()",
	"create rule r as on insert to other do nothing",
	"create statistics st on a, b from t",
	"comment on table t is 'x'",
	"comment on column t.a is 'x'",
	"truncate other",
	"lock table t in share row exclusive mode",
	"lock table t",
	"analyze t",
	"cluster t using t_a",
	"reindex table t",
	"refresh materialized view m",
	"refresh materialized view concurrently m",
	"create or replace view v as select id from t",
	"alter sequence q restart",
	"alter view v rename to v2",
	"insert into t values (1, 1, 'x')",
	"insert into t select id, x, '' from other",
	"update t set a = 1 from other where other.id = t.id",
	"delete from t using other where other.id = t.id",
	"with gone as (delete from other returning *) insert into t select id, x, '' from gone",
	"merge into t using other on t.id = other.id when matched then delete",
	"select * from t, other for update of t",
	"select * from t for share",
	"select * from t x join other y using (id) for update of x",
	"select * from t x join other y using (id) for update",
	"select * from (select * from t) s for update",
	"with t as (select 1 as id) select * from t, other",
	"select 1 from other t",
	"select count(*) from t join other using (id)",
	"alter type mood rename value 'sad' to 'low'",
	"do $$ begin perform 1; end $$",
	"set local work_mem = '1MB'",
}

// alone are statements that a server refuses inside of a transaction.
var alone = []string{
	"create index concurrently on t (b)",
	"drop index concurrently t_a",
	"reindex index concurrently t_a",
	"reindex table concurrently t",
	"reindex schema public",
	"vacuum t",
	"vacuum full t",
	"cluster",
	"create database weir_script_test",
	"drop database weir_script_test",
	"alter system set work_mem = '8MB'",
	"create tablespace weir_script_test location '/nowhere'",
	"drop tablespace weir_script_test",
	"alter table parent detach partition part1 concurrently",
	"discard all",
}

// TestLocksOfServer compares the locks that are told with those that a server
// takes.
func TestLocksOfServer(t *testing.T) {
	conn := connect(t)
	before := relations(t, conn)
	for _, sql := range transactional {
		statements, err := script.Split(script.Postgres, sql)
		if err != nil || len(statements) != 1 {
			t.Fatalf("%s: %v", sql, err)
		}
		if statements[0].Alone {
			t.Errorf("%s: said to be alone", sql)
		}
		told := map[string]string{}
		for _, lock := range statements[0].Locks {
			if before[lock.Object] == "" {
				continue // "the table of …"
			}
			told[lock.Object] = lock.Mode
		}
		taken := locksOf(t, conn, sql, before)
		maps.DeleteFunc(taken, func(table, mode string) bool {
			// What a view reads is not in the statement.
			return mode == "AccessShareLock" && told[table] == ""
		})
		if !maps.Equal(told, taken) {
			t.Errorf("%s:\ntold  %v\ntaken %v", sql, told, taken)
		}
	}
}

// TestAloneOfServer: what is said to be alone is what a server refuses.
func TestAloneOfServer(t *testing.T) {
	conn := connect(t)
	for _, sql := range alone {
		statements, err := script.Split(script.Postgres, sql)
		if err != nil || len(statements) != 1 || !statements[0].Alone {
			t.Errorf("%s: not alone (%v)", sql, err)
		}
		tx, err := conn.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		_, err = tx.Exec(t.Context(), sql)
		if err := tx.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
		var refused *pgconn.PgError
		if !errors.As(err, &refused) || refused.Code != "25001" {
			t.Errorf("%s: the server says %v", sql, err)
		}
	}
}

func connect(t *testing.T) *pgx.Conn {
	t.Helper()
	db := testdb.NewEmpty(t)
	conn, err := pgx.Connect(t.Context(), db.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	if _, err := conn.Exec(t.Context(), ground+"create table other_parent (id int);"); err != nil {
		t.Fatal(err)
	}
	return conn
}

// relations are the tables, views and sequences that are there.
func relations(t *testing.T, conn *pgx.Conn) map[string]string {
	t.Helper()
	rows, err := conn.Query(t.Context(), "select relname, relkind::text from pg_class where relnamespace = 'public'::regnamespace and relkind <> 'i'")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	var name, kind string
	if _, err := pgx.ForEachRow(rows, []any{&name, &kind}, func() error { out[name] = kind; return nil }); err != nil {
		t.Fatal(err)
	}
	return out
}

// locksOf runs a statement in a transaction that is rolled back, and reads the
// strongest lock on each relation that was there before. Names are those of
// before: a rename shows to its own transaction.
func locksOf(t *testing.T, conn *pgx.Conn, sql string, before map[string]string) map[string]string {
	t.Helper()
	names := map[uint32]string{}
	rows, err := conn.Query(t.Context(), "select oid, relname from pg_class where relnamespace = 'public'::regnamespace and relkind <> 'i'")
	if err != nil {
		t.Fatal(err)
	}
	var oid uint32
	var text string
	if _, err := pgx.ForEachRow(rows, []any{&oid, &text}, func() error { names[oid] = text; return nil }); err != nil {
		t.Fatal(err)
	}
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := tx.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
	}()
	if _, err := tx.Exec(t.Context(), sql); err != nil {
		t.Errorf("%s: %v", sql, err)
		return nil
	}
	rows, err = tx.Query(t.Context(), "select relation, mode from pg_locks where pid = pg_backend_pid() and locktype = 'relation'")
	if err != nil {
		t.Fatal(err)
	}
	order := strings.Fields("AccessShareLock RowShareLock RowExclusiveLock ShareUpdateExclusiveLock ShareLock ShareRowExclusiveLock ExclusiveLock AccessExclusiveLock")
	out := map[string]string{}
	if _, err := pgx.ForEachRow(rows, []any{&oid, &text}, func() error {
		name := names[oid]
		if name != "" && before[name] != "" && slices.Index(order, text) > slices.Index(order, out[name]) {
			out[name] = text
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return out
}
