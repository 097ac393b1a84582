package schema_test

import (
	"context"
	"errors"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir/internal/pg"
	"github.com/weirhq/weir/internal/testdb"
	"github.com/weirhq/weir/schema"
)

var rewrite = flag.Bool("rewrite", false, "write the files again")

func TestMain(m *testing.M) { testdb.Main(m) }

// part is a heading and the query whose lines stand below it.
type part struct{ title, sql string }

// parts are the queries whose lines make up golden.sql. They read the catalogue
// and not pg_dump, whose output changes from version to version. Partitions by
// date are left out: they are data.
var parts = []part{
	{"Types", `
		select line from (select format('enum %s: %s', t.typname, string_agg(e.enumlabel, ', ' order by e.enumsortorder))
		from pg_type t join pg_enum e on e.enumtypid = t.oid where t.typnamespace = 'weir'::regnamespace group by t.typname
		union all
		select format(E'type %s\n', c.relname) || string_agg(format('  %s %s', a.attname, format_type(a.atttypid, a.atttypmod)), E'\n' order by a.attnum)
		from pg_class c join pg_attribute a on a.attrelid = c.oid where c.relnamespace = 'weir'::regnamespace and c.relkind = 'c' group by c.relname
		) t (line) order by line collate "C"`},
	{"States", `select format('%s -%s-> %s', coalesce(was::text, 'nothing'), event, becomes) from weir.transition order by was nulls first, event`},
	{"Tables", `
		select format('table %s%s%s%s', c.relname, case when c.relkind = 'p' then ' partition by ' || pg_get_partkeydef(c.oid) else '' end,
			case when c.relispartition then ' default of ' || (select inhparent::regclass from pg_inherits where inhrelid = c.oid) else '' end,
			' with (' || array_to_string(c.reloptions, ', ') || ')')
			|| case when c.relispartition then '' else coalesce((
				select E'\n' || string_agg(format('  %s %s%s%s', a.attname, format_type(a.atttypid, a.atttypmod), case when a.attnotnull then ' not null' else '' end,
					case when a.attidentity <> '' then ' identity' else coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), '') end), E'\n' order by a.attnum)
				from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped), '')
			|| coalesce((select E'\n' || string_agg('  constraint ' || pg_get_constraintdef(k.oid), E'\n' order by k.contype desc, pg_get_constraintdef(k.oid) collate "C") from pg_constraint k
				where k.conrelid = c.oid and k.contype in ('p', 'u', 'f', 'c')), '')
			|| coalesce((select E'\n' || string_agg('  index ' || regexp_replace(pg_get_indexdef(i.indexrelid), '^CREATE (UNIQUE )?INDEX (\S+) ON (ONLY )?\S+ USING ', '\2 \1'), E'\n' order by i.indexrelid::regclass::text collate "C")
				from pg_index i where i.indrelid = c.oid and not i.indisprimary and not exists (select from pg_constraint k where k.conindid = i.indexrelid)), '') end
		from pg_class c where c.relnamespace = 'weir'::regnamespace and c.relkind in ('r', 'p') and (not c.relispartition or c.relname like '%\_default') order by c.relname`},
	{"Sequences", `select format('sequence %s', relname) from pg_class where relnamespace = 'weir'::regnamespace and relkind = 'S' order by relname`},
	{"Views", `
		select format(E'view %s: %s\n', c.relname, coalesce(obj_description(c.oid, 'pg_class'), 'no comment'))
			|| string_agg(format('  %s %s', a.attname, format_type(a.atttypid, a.atttypmod)), E'\n' order by a.attnum)
		from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 where c.relnamespace = 'weir'::regnamespace and c.relkind = 'v' group by c.oid, c.relname order by c.relname`},
	{"Views of schema flow", `
		select format(E'view flow.%s: %s\n', c.relname, coalesce(obj_description(c.oid, 'pg_class'), 'no comment'))
			|| string_agg(format('  %s %s', a.attname, format_type(a.atttypid, a.atttypmod)), E'\n' order by a.attnum)
			|| coalesce((select E'\n' || string_agg('  ' || regexp_replace(pg_get_triggerdef(g.oid), '^CREATE TRIGGER ', 'trigger '), E'\n' order by g.tgname) from pg_trigger g where g.tgrelid = c.oid), '')
		from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 where c.relnamespace = 'flow'::regnamespace and c.relkind = 'v' group by c.oid, c.relname order by c.relname`},
	{"Views of schema fleet", `
		select format(E'view fleet.%s: %s\n', c.relname, coalesce(obj_description(c.oid, 'pg_class'), 'no comment'))
			|| string_agg(format('  %s %s', a.attname, format_type(a.atttypid, a.atttypmod)), E'\n' order by a.attnum)
			|| coalesce((select E'\n' || string_agg('  ' || regexp_replace(pg_get_triggerdef(g.oid), '^CREATE TRIGGER ', 'trigger '), E'\n' order by g.tgname) from pg_trigger g where g.tgrelid = c.oid), '')
		from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 where c.relnamespace = 'fleet'::regnamespace and c.relkind = 'v' group by c.oid, c.relname order by c.relname`},
	{"Functions", `
		select format(E'function %s%s(%s) returns %s\n  %s %s%s%s: %s', case when p.pronamespace = 'fleet'::regnamespace then 'fleet.' else '' end, p.proname, pg_get_function_arguments(p.oid), pg_get_function_result(p.oid), l.lanname,
			case p.provolatile when 'i' then 'immutable' when 's' then 'stable' else 'volatile' end, case when p.prosecdef then ' security definer' else '' end,
			coalesce(' set ' || (select string_agg(s, ', ' order by s) from unnest(p.proconfig) s), ''), coalesce(obj_description(p.oid, 'pg_proc'), 'no comment'))
		from pg_proc p join pg_language l on l.oid = p.prolang where p.pronamespace in ('weir'::regnamespace, 'fleet'::regnamespace) order by p.proname collate "C", 1`},
	{"Grants", `
		select format('%s: %s on %s', coalesce(r.rolname, 'public'), string_agg(distinct lower(a.privilege_type), ', '), o.what) from (
			select 'schema ' || nspname as what, nspacl as acl from pg_namespace where nspname in ('weir', 'flow', 'fleet')
			union all select case when relkind = 'S' then 'sequence flow.' else 'view flow.' end || relname, relacl from pg_class where relnamespace = 'flow'::regnamespace
			union all select 'view fleet.' || relname, relacl from pg_class where relnamespace = 'fleet'::regnamespace
			union all select 'function fleet.' || proname, coalesce(proacl, acldefault('f', proowner)) from pg_proc where pronamespace = 'fleet'::regnamespace
			union all select case when relkind = 'S' then 'sequence ' else 'table or view ' end || relname, relacl from pg_class where relnamespace = 'weir'::regnamespace and not relispartition
			union all select 'function ' || proname, coalesce(proacl, acldefault('f', proowner)) from pg_proc where pronamespace = 'weir'::regnamespace
		) o, aclexplode(o.acl) a left join pg_roles r on r.oid = a.grantee
		where a.grantee <> a.grantor group by r.rolname, o.what order by (coalesce(r.rolname, 'public') || o.what) collate "C"`},
}

// TestGolden compares the schema that the files of this folder make with
// golden.sql. The database is a public surface: a change of it is read in review
// as a diff of that file.
func TestGolden(t *testing.T) {
	compare(t, "golden.sql", "-- The schema that migrations, functions, views and grants make, as the catalogue tells it. Not to be run.\n"+
		"-- Written by: go test ./schema -run Golden -rewrite\n", "-- ", parts)
}

// TestGoldenVersions wants a version of their own for functions, views and grants
// that have changed: servers of two versions beside each other go by it.
func TestGoldenVersions(t *testing.T) {
	line, err := pg.NextVersion(schema.FS)
	if err != nil {
		t.Fatal(err)
	}
	if line == "" {
		return
	}
	if !*rewrite {
		t.Fatal("functions, views or grants changed, and versions.txt has no line for that: go test ./schema -run Golden -rewrite adds it")
	}
	file, err := os.OpenFile("versions.txt", os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = file.WriteString(line + "\n")
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// compare holds a file to what the catalogue says. -rewrite writes it again.
func compare(t *testing.T, file, head, mark string, parts []part) {
	t.Helper()
	db := testdb.New(t)
	text := strings.Builder{}
	text.WriteString(head)
	for _, part := range parts {
		rows, err := db.Pool.Query(context.Background(), part.sql)
		if err != nil {
			t.Fatalf("%s: %v", part.title, err)
		}
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatalf("%s: %v", part.title, err)
		}
		text.WriteString("\n" + mark + part.title + "\n" + strings.Join(lines, "\n") + "\n")
	}
	if *rewrite {
		if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	golden, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	was, is := strings.Split(string(golden), "\n"), strings.Split(text.String(), "\n")
	for i := range max(len(was), len(is)) {
		if i >= len(was) || i >= len(is) || was[i] != is[i] {
			t.Fatalf("the schema moved at line %d of %s:\nwas: %s\n is: %s\nIf that is meant: go test ./schema -run Golden -rewrite", i+1, file, line(was, i), line(is, i))
		}
	}
}

func line(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "(the end)"
}
