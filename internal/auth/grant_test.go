package auth

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/weirhq/weir/internal/testdb"
	"github.com/weirhq/weir/schema"
)

// Neither role of the database reads or writes any table of auth. The test reads the
// tables from the migration, so that a new one is not forgotten in the grants.
func TestGrants(t *testing.T) {
	text, err := schema.FS.ReadFile("migrations/0002_auth.sql")
	must(t, err)
	tables := regexp.MustCompile(`create table (weir\.\w+)`).FindAllStringSubmatch(string(text), -1)
	if len(tables) < 8 {
		t.Fatalf("only %d tables were found", len(tables))
	}
	db := testdb.New(t)
	for _, role := range []string{"weir_client", "weir_worker"} {
		for _, table := range tables {
			for _, sql := range []string{`select from ` + table[1], `delete from ` + table[1], `insert into ` + table[1] + ` default values`} {
				err := pgx.BeginFunc(t.Context(), db.Pool, func(tx pgx.Tx) error {
					if _, err := tx.Exec(t.Context(), `set local role `+role); err != nil {
						t.Fatal(err)
					}
					_, err := tx.Exec(t.Context(), sql)
					return err
				})
				var state *pgconn.PgError
				if !errors.As(err, &state) || state.Code != "42501" {
					t.Errorf("%s: %s: %v", role, sql, err)
				}
			}
		}
	}
}

// The token of a lease allows reports in the name of its worker, so neither a client nor a
// worker reads one: not from a table, not from a view, not from the timeline.
func TestNobodyReadsLeaseTokens(t *testing.T) {
	db := testdb.New(t)
	ctx := t.Context()
	exec := func(sql string, args ...any) {
		t.Helper()
		if _, err := db.Pool.Exec(ctx, sql, args...); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	exec(`select weir.submit('a'), weir.submit('a')`)
	exec(`select weir.claim('w', array['a'], 2, claim_id => '01234567-89ab-7def-8123-456789abcdef')`)
	// The run of a rollout has the token of its lease.
	exec(`select weir.rollout_put_database('shop', 'postgres', 'test', 'SHOP')`)
	exec(`select weir.rollout_start(weir.rollout_create(jsonb_build_object('name', 'r', 'stages', '[{"name": "test"}]'::jsonb, 'changes',
		jsonb_build_array(jsonb_build_object('name', 'x', 'kind', 'ddl', 'checksum', s.sum))), jsonb_build_object(s.sum, 'select 1')))
		from (select encode(sha256('select 1'), 'hex') as sum) s`)
	exec(`select weir.tend(true)`)
	exec(`select weir.rollout_brief(c.task, c.attempt, c.token) from weir.claim('x', array['rollout'], claim_id => '01234567-89ab-7def-8123-456789abcdee') c`)
	// Report with a stale attempt of one task; the token is live.
	exec(`select weir.finish(r.task, r.attempt + 7, r.token) from weir.running r limit 1`)
	var relations []string
	rows, err := db.Pool.Query(ctx, `select c.oid::regclass::text || '(' || string_agg(quote_ident(a.attname), ', ') || ')' from pg_class c
		join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
		where c.relkind in ('r', 'v', 'p') and c.relnamespace in ('weir'::regnamespace, 'flow'::regnamespace, 'fleet'::regnamespace) and has_column_privilege('weir_client', c.oid, a.attnum, 'select')
		group by c.oid`)
	must(t, err)
	relations, err = pgx.CollectRows(rows, pgx.RowTo[string])
	must(t, err)
	if len(relations) < 30 {
		t.Fatalf("a client reads only %d relations: nothing was tested", len(relations))
	}
	for _, relation := range relations {
		at := strings.Index(relation, "(")
		err := pgx.BeginFunc(ctx, db.Pool, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, `set local role weir_client`); err != nil {
				return err
			}
			var found int
			err := tx.QueryRow(ctx, `select count(*) from (select row`+relation[at:]+`::text as line from `+relation[:at]+`) x where x.line like '%01234567-89ab-7def%'`).Scan(&found)
			if err == nil && found > 0 {
				t.Errorf("a client reads a live token in %s", relation)
			}
			return err
		})
		must(t, err)
	}
	err = pgx.BeginFunc(ctx, db.Pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `set local role weir_client`); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `select token from weir.running`)
		return err
	})
	if state, ok := errors.AsType[*pgconn.PgError](err); !ok || state.Code != "42501" {
		t.Errorf("a client reads the column: %v", err)
	}
}

// A role acts for the nodes that it registered, and for no other role's.
func TestNodesBelongToARole(t *testing.T) {
	db := testdb.New(t)
	ctx := t.Context()
	tx, err := db.Pool.Begin(ctx)
	must(t, err)
	defer func() { _ = tx.Rollback(ctx) }() // roles belong to the whole cluster
	exec := func(sql string) error {
		_, err := tx.Exec(ctx, `savepoint s`)
		must(t, err)
		_, said := tx.Exec(ctx, sql)
		if said != nil {
			_, err = tx.Exec(ctx, `rollback to s`)
			must(t, err)
		}
		return said
	}
	as := func(role string, sql ...string) (said error) {
		t.Helper()
		must(t, exec(`set local role `+role))
		for _, one := range sql {
			if err := exec(one); err != nil && said == nil {
				said = err
			}
		}
		must(t, exec(`reset role`))
		return said
	}
	for _, sql := range []string{
		`create role weir_test_one in role weir_worker`, `create role weir_test_two in role weir_worker`,
		`select weir.register_node('joined')`, `insert into weir.node_credentials (node, hash, created_at) values ('joined', sha256('x'), now())`, `select weir.register_node('owned')`,
		`select weir.register_node('old')`, `update weir.nodes set registered_by = null where name = 'old'`,
	} {
		must(t, exec(sql))
	}
	must(t, as("weir_test_one", `select weir.register_node('pc1', '{"zone": "eu"}', '{"a": 2}')`, `select weir.register_worker('w1', '{a}', 'pc1')`, `select weir.heartbeat('w1')`,
		`select weir.register_node('pc1', '{"zone": "us"}')`, `select weir.register_node('old')`, `select weir.fleet_report('pc1', '[]', 3)`))
	for _, sql := range []string{
		`select weir.register_node('pc1', '{}')`, `select weir.register_worker('w2', '{a}', 'pc1')`, `select weir.heartbeat('w1')`, `select weir.stop_worker('w1')`,
		`select weir.register_node('joined')`, `select weir.register_node('owned')`, `select weir.register_node('old')`,
		`select weir.fleet_report('pc1', '[]')`, `select weir.fleet_trouble('pc1', 'x')`,
	} {
		err := as("weir_test_two", sql)
		if state, ok := errors.AsType[*pgconn.PgError](err); !ok || state.Code != "42501" || !strings.Contains(state.Message, "was registered by") {
			t.Errorf("%s: %v", sql, err)
		}
	}
	must(t, exec(`select weir.register_node('pc1', '{"zone": "eu"}')`)) // a server acts for all nodes
	must(t, as("weir_test_one", `select weir.heartbeat('w1')`))
}
