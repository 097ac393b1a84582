package schema_test

import "testing"

// TestReferenceGolden compares the reference of the SQL API with the comments
// and signatures in the catalogue.
func TestReferenceGolden(t *testing.T) {
	compare(t, "../docs/reference/sql.md", "# SQL reference\n\nWritten from the database by `go test ./schema -run Golden -rewrite`. The guide is [the SQL API](../sql.md).\n"+
		"`at` is for tests: only the owner of the schema may set it. Functions without a role are for the server and for administrators.\n", "## ", []part{
		{"Functions", `
			select format(E'### %s\n%s%s\n\n` + "```sql" + `\nweir.%s(%s)\n  returns %s\n` + "```" + `\n', p.proname, obj_description(p.oid, 'pg_proc'),
				coalesce((select E'\n\nRole: ' || string_agg(format('` + "`%s`" + `', r.rolname), ', ' order by r.rolname) || '.' from aclexplode(p.proacl) a join pg_roles r on r.oid = a.grantee
					where r.rolname in ('weir_client', 'weir_worker')), ''),
				p.proname, pg_get_function_arguments(p.oid), pg_get_function_result(p.oid))
			from pg_proc p where p.pronamespace = 'weir'::regnamespace and p.proname not like '\_%' order by p.proname`},
		{"Views", `
			select format(E'### %s\n%s\n\n%s\n', c.relname, obj_description(c.oid, 'pg_class'),
				string_agg(format('` + "`%s`" + ` %s', a.attname, format_type(a.atttypid, a.atttypmod)), ', ' order by a.attnum))
			from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0
			where c.relnamespace = 'weir'::regnamespace and c.relkind = 'v' and c.relname not like '\_%' group by c.oid, c.relname order by c.relname`},
		{"Fields of a task", `
			select string_agg(format('- ` + "`%s`" + ` %s', a.attname, format_type(a.atttypid, a.atttypmod)), E'\n' order by a.attnum)
			from pg_attribute a where a.attrelid = 'weir.task_spec'::regclass and a.attnum > 0`},
		{"The state machine", `
			select E'| was | event | becomes |\n|---|---|---|\n' || string_agg(format('| %s | %s | %s |', coalesce(was::text, '–'), event, becomes), E'\n' order by was nulls first, event) from weir.transition`},
	})
}
