package app

import (
	"net/url"
	"os"
	"os/exec"
	"slices"
	"testing"

	"github.com/weirhq/weir/internal/pg"
	"github.com/weirhq/weir/internal/testdb"
)

// TestMigrateGrantsAnewAfterARestore loads a dump into a cluster that has no role
// of Weir: pg_restore goes on without the grants, and without the revokes, so
// everybody may call everything. The doctor says so, and a migrate mends it.
func TestMigrateGrantsAnewAfterARestore(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	from := testdb.New(t)
	cluster, stop, err := testdb.StartCluster(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	}()
	file := t.TempDir() + "/dump"
	if said, err := postgresProgram(t, from.URL, "pg_dump", "--format=custom", "--no-owner", "--file="+file).CombinedOutput(); err != nil {
		t.Fatalf("pg_dump: %v\n%s", err, said)
	}
	if err := cluster.EnsureDatabase(ctx, "weir"); err != nil {
		t.Fatal(err)
	}
	at := cluster.URL("weir")
	// It fails at each grant to a role that is not there, and goes on.
	if said, err := postgresProgram(t, at, "pg_restore", "--no-owner", file).CombinedOutput(); err == nil {
		t.Fatalf("pg_restore found the roles:\n%s", said)
	}
	pool, err := pg.Open(ctx, at, pg.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	ask := func(sql string) (yes bool) {
		t.Helper()
		if err := pool.QueryRow(ctx, sql).Scan(&yes); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		return yes
	}
	config := Config{DatabaseURL: at}.Defaults()
	const healthy = `select coalesce(bool_and(ok), false) from weir.doctor() where name = 'roles and grants are in place'`
	mended := func(after string) {
		t.Helper()
		if ask(healthy) {
			t.Errorf("%s: the doctor finds nothing", after)
		}
		if status, err := MigrationStatus(ctx, at); err != nil || status.Current() {
			t.Errorf("%s: the status says that all is well: %+v, %v", after, status, err)
		}
		if done, err := Migrate(ctx, config, at); err != nil || !slices.Equal(done.Objects, []string{"grants.sql"}) {
			t.Fatalf("%s: the migrate applied %q: %v", after, done.Objects, err)
		}
		for what, sql := range map[string]string{
			"a client may not use the schema": `select has_schema_privilege('weir_client', 'weir', 'usage')`,
			"a client may not submit":         `select bool_and(has_function_privilege('weir_client', p.oid, 'execute')) from pg_proc p where p.proname = 'submit'`,
			"a client reads no task":          `select has_table_privilege('weir_client', 'weir.tasks', 'select')`,
			"a worker may not claim":          `select bool_and(has_function_privilege('weir_worker', p.oid, 'execute')) from pg_proc p where p.pronamespace = 'weir'::regnamespace and p.proname = 'claim'`,
			"a client reads secrets":          `select not has_table_privilege('weir_client', 'weir.secrets', 'select')`,
			"everybody may call a function": `select not exists (select from pg_proc p, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
				where p.pronamespace in ('weir'::regnamespace, 'flow'::regnamespace, 'fleet'::regnamespace) and a.grantee = 0)`,
			"the doctor is not content": healthy,
		} {
			if !ask(sql) {
				t.Errorf("%s: %s", after, what)
			}
		}
		if status, err := MigrationStatus(ctx, at); err != nil || !status.Current() {
			t.Errorf("%s: there is still something to do: %+v, %v", after, status, err)
		}
	}
	mended("after the restore")
	for what, sql := range map[string]string{
		"one function is everybody's":  `grant execute on function weir.finish to public`,
		"one function is granted less": `revoke execute on function weir.claim from weir_worker`,
		"one schema is shut":           `revoke usage on schema fleet from weir_worker`,
		"tasks are not to be read":     `revoke select on weir.tasks from weir_client`,
		"a role is gone":               `drop owned by weir_worker; drop role weir_worker`,
	} {
		if _, err := pool.Exec(ctx, sql); err != nil {
			t.Fatal(err)
		}
		mended(what)
	}
}

// postgresProgram is a program of PostgreSQL that works on a database. The password goes
// to it by the environment, because others read command lines.
func postgresProgram(t *testing.T, database, name string, args ...string) *exec.Cmd {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	password, _ := u.User.Password()
	u.User = url.User(u.User.Username())
	cmd := exec.CommandContext(t.Context(), name, append([]string{"--dbname=" + u.String()}, args...)...) // #nosec G204 -- ours
	cmd.Env = append(os.Environ(), "PGPASSWORD="+password)
	return cmd
}
