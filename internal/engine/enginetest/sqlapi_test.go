package enginetest

import (
	"context"
	"crypto/rand"
	"errors"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// login makes a login that is a member of the given roles and of nothing else,
// and returns its URL.
func (e *engine) login(roles ...string) string {
	e.Helper()
	name, password := "test_"+strings.ToLower(rand.Text()), rand.Text()
	e.exec(`create role ` + name + ` login password '` + password + `' in role ` + strings.Join(roles, ", "))
	e.Cleanup(func() {
		// Roles belong to the cluster: the database goes by itself, they do not.
		if _, err := e.Pool.Exec(context.Background(), `drop owned by `+name+`; drop role `+name); err != nil {
			e.Errorf("drop role: %v", err)
		}
	})
	u, err := url.Parse(e.URL)
	if err != nil {
		e.Fatal(err)
	}
	u.User = url.UserPassword(name, password)
	return u.String()
}

// as opens a connection with only these roles.
func (e *engine) as(roles ...string) *pgx.Conn {
	e.Helper()
	conn, err := pgx.Connect(context.Background(), e.login(roles...))
	if err != nil {
		e.Fatal(err)
	}
	e.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

// program runs a real process and returns what it printed. A program that is
// not there is a loud skip, and a failure in CI.
func (e *engine) program(name string, args ...string) string {
	e.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		missing(e, name)
	}
	cmd := exec.Command(path, args...)
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		e.Fatalf("%s %s: %v\n%s", name, strings.Join(args[:len(args)-1], " "), err, out)
	}
	return string(out)
}

func missing(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s is missing", what)
	}
	t.Skipf("SKIPPED: %s is missing; make test installs it", what)
}

const examples = "../../../examples/"

// TestExamplePsql runs the examples for psql with a client's and a worker's
// login.
func TestExamplePsql(t *testing.T) {
	t.Parallel()
	e := start(t)
	out := e.program("psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-f", examples+"psql/submit.sql", e.login("weir_client"))
	for _, want := range []string{"submitted: available", "pool: pool scanner is full: 1 of 1", "hold: held by the editor", "released: available"} {
		if !strings.Contains(out, want) {
			t.Errorf("submit.sql does not print %q:\n%s", want, out)
		}
	}
	out = e.program("psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-f", examples+"psql/worker.sql", e.login("weir_worker"))
	for _, want := range []string{`claimed: {"image": "cat.png"}`, "progress: ok", "finish: ok", "finish again: repeated", "finish with another token: lease_lost"} {
		if !strings.Contains(out, want) {
			t.Errorf("worker.sql does not print %q:\n%s", want, out)
		}
	}
}

// TestExamplePython runs the submitter and the worker in Python with logins that
// have one role each.
func TestExamplePython(t *testing.T) {
	t.Parallel()
	const python = "/usr/bin/python3" // the distribution's: it has the distribution's psycopg2
	if err := exec.Command(python, "-c", "import psycopg2").Run(); err != nil {
		missing(t, python+" with psycopg2")
	}
	e := start(t)
	client := e.login("weir_client")
	out := e.program(python, examples+"python/submit.py", client)
	if want := "needs closed waits for 2 of 2: red (available), blue (available)"; !strings.Contains(out, want) {
		t.Errorf("submit.py does not print %q:\n%s", want, out)
	}
	e.program(python, examples+"python/submit.py", client) // the mail only once
	e.program(python, examples+"python/worker.py", e.login("weir_worker"), "--drain")
	if n := one[int](e, `select count(*)::int from weir.task where state = 'done' and result is not null`); n != 7 {
		t.Errorf("%d tasks are done, want 7: one mail and two jobs of three", n)
	}
}

// TestRolesReachNothingElse holds a client and a worker to the functions of
// their role: no writing, no private function, no function of the other. A
// client may read.
func TestRolesReachNothingElse(t *testing.T) {
	t.Parallel()
	e := start(t)
	id := e.submit(0, spec{"service": "s"})
	for role, forbidden := range map[string][]string{
		"weir_client": {
			`select weir.claim('w', '{s}')`, `select weir.finish('` + id + `', 1, gen_random_uuid())`,
			// Who submits must not say how the work of others ends, or what it is.
			`select weir.decide('` + id + `', 'done')`, `select weir.plan_task('` + id + `')`, `select weir.wait_for('` + id + `', '{a}')`,
			`select weir.relabel('` + id + `', '{}')`, `select weir.set_job_note('` + id + `', 'x')`,
		},
		"weir_worker": {`select weir.submit('s')`, `select weir.cancel('` + id + `')`, `select from weir.task`, `select from weir.tasks`},
	} {
		conn := e.as(role)
		for _, sql := range append(forbidden, `delete from weir.running`, `truncate weir.events`, `select weir.drop_partitions('1 day')`,
			`select weir.lead('coordinator', 'me')`, `select weir._close('{}')`, `select nextval('weir.order_seq')`, `create table weir.mine ()`, `alter function weir.why rename to who`) {
			_, err := conn.Exec(context.Background(), sql)
			if got := sqlstate(err); got != "42501" {
				t.Errorf("%s may: %s (%v)", role, sql, err)
			}
		}
		open, err := ask[string](conn, `
			select 'table ' || relname from pg_class where relnamespace = 'weir'::regnamespace and relkind in ('r', 'p')
				and (has_table_privilege(oid, 'insert, update, delete, truncate, references, trigger') or has_table_privilege(oid, 'select') and pg_has_role('weir_worker', 'member'))
			union all
			select 'function ' || proname from pg_proc where pronamespace = 'weir'::regnamespace and proname like '\_%' and has_function_privilege(oid, 'execute')
				and proname not in ('_id_time', '_pc_reason', '_pc_state', '_pc_slots', '_device_reason', '_device_answer', '_fleet_timeout', '_fleet_reserved_words',
				'_sentence', '_format_argument', '_words', '_span', '_instant') -- the views use them, and a view's functions run as the reader`)
		if err != nil {
			t.Fatal(err)
		}
		for _, what := range open {
			t.Errorf("%s has rights on %s", role, what)
		}
	}
}

// TestRolesReachWhatTheyNeed reads every view and calls why as a client.
func TestRolesReachWhatTheyNeed(t *testing.T) {
	t.Parallel()
	e := start(t)
	id := e.submit(0, spec{"service": "s"})
	conn := e.as("weir_client")
	for _, sql := range []string{
		`select * from weir.task`, `select * from weir.job`, `select * from weir.event`, `select * from weir.pool`, `select * from weir.node`, `select * from weir.worker`,
		`select * from weir.why('` + id + `')`, `select * from weir.task_events('` + id + `')`, `select * from weir.events_after()`, `select weir.events_tail()`,
	} {
		if _, err := conn.Exec(context.Background(), sql); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

// TestSearchPathHijack plants functions, operators and tables where a function
// that trusted the caller's search_path would find them first.
func TestSearchPathHijack(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.exec(`create schema evil; grant all on schema evil to public`)
	conn := e.as("weir_client", "weir_worker")
	run := func(sql string) error {
		_, err := conn.Exec(context.Background(), sql)
		return err
	}
	for _, sql := range []string{
		`create function evil.trap() returns void language plpgsql as $$ begin raise exception 'trapped as %', current_user using errcode = 'EVIL1'; end $$`,
		`create function evil.coalesce_at(a timestamptz) returns timestamptz language sql as $$ select evil.trap(); select a $$`,
		`create function evil.clock_timestamp() returns timestamptz language sql as $$ select evil.trap(); select now() $$`,
		`create function evil.jsonb_typeof(jsonb) returns text language sql as $$ select evil.trap(); select 'array' $$`,
		`create function evil.nextval(regclass) returns bigint language sql as $$ select evil.trap(); select 1::bigint $$`,
		`create function evil.eq(text, text) returns boolean language sql as $$ select evil.trap(); select true $$`,
		`create operator evil.= (leftarg = text, rightarg = text, function = evil.eq)`,
		`create temporary table tasks (id uuid)`,
		`create temporary table classes (id int, service text)`,
		`create temporary table pg_proc (proname text)`,
		`set search_path = evil, pg_temp, pg_catalog, weir`,
	} {
		if err := run(sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	for _, sql := range []string{
		`select weir.set_pool('p', 1)`, `select weir.submit('s', pool => 'p', lane => 'l')`, `select weir.submit_job('[{"service": "s", "key": "a"}, {"service": "s", "needs": ["a"]}]', 'j')`,
		`select weir.open_gates()`, `select weir.finish(task, attempt, token) from weir.claim('w', '{s}', 5)`, `select weir.tend(true)`, `select weir.expire()`,
		`select weir.events_after()`, `select weir.heartbeat('w')`, `select weir.stop_worker('w')`,
	} {
		if err := run(sql); err != nil && !errors.Is(err, pgx.ErrNoRows) {
			t.Errorf("%s: %v", sql, err)
		}
	}
	// Every function that runs with the owner's rights fixes its path, and the
	// temporary schema comes last in it.
	for _, name := range all[string](e, `select proname::text from pg_proc where pronamespace = 'weir'::regnamespace and prosecdef
		and not coalesce(proconfig @> array['search_path=weir, pg_temp'], false)`) {
		t.Errorf("weir.%s has the owner's rights and no fixed search_path", name)
	}
}
