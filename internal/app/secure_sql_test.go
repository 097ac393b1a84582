package app

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/testdb"
)

// lacks fails for every row of a query: each is something that must not be.
func lacks(t *testing.T, db *testdb.DB, what, sql string) {
	t.Helper()
	rows, err := db.Pool.Query(t.Context(), sql)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	for _, row := range found {
		t.Errorf("%s: %s", what, row)
	}
}

// The functions run with the rights of the owner. None of them finds its names
// where somebody else put them, and PUBLIC may call none; the two roles reach
// neither the tables of auth nor what is the server's own.
func TestSecureFunctions(t *testing.T) {
	t.Parallel()
	db := testdb.New(t)
	const ours = `from pg_proc p where p.pronamespace = 'weir'::regnamespace`
	var definers int
	if err := db.Pool.QueryRow(t.Context(), `select count(*) `+ours+` and p.prosecdef`).Scan(&definers); err != nil || definers < 40 {
		t.Fatalf("only %d functions run as their owner: nothing was tested (%v)", definers, err)
	}
	lacks(t, db, "has no fixed search_path", `select p.oid::regprocedure::text `+ours+` and p.prosecdef and not coalesce(p.proconfig, '{}') && array['search_path=weir, pg_temp', 'search_path=pg_catalog, weir, pg_temp']`)
	lacks(t, db, "may be called by PUBLIC", `select p.oid::regprocedure::text `+ours+` and has_function_privilege('public', p.oid, 'execute')`)
	lacks(t, db, "is not the owner's of the schema", `select p.oid::regprocedure::text `+ours+` and p.proowner <> (select nspowner from pg_namespace where nspname = 'weir')`)
	lacks(t, db, "is written in a language that is not trusted", `select p.oid::regprocedure::text `+ours+` and not (select lanpltrusted or lanname in ('internal') from pg_language l where l.oid = p.prolang)`)
	lacks(t, db, "PUBLIC reaches the schema by", `select priv from unnest(array['usage', 'create']) priv where has_schema_privilege('public', 'weir', priv)`)
	const roles = `unnest(array['weir_client', 'weir_worker', 'public']) who`
	lacks(t, db, "can make things in the schema", `select who from `+roles+` where has_schema_privilege(who, 'weir', 'create')`)
	const tables = `pg_class c where c.relnamespace = 'weir'::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'f')`
	lacks(t, db, "writes a table", `select who || ' ' || priv || ' ' || c.relname from `+roles+`, unnest(array['insert', 'update', 'delete', 'truncate', 'references', 'trigger']) priv, `+tables+` and has_table_privilege(who, c.oid, priv)`)
	lacks(t, db, "PUBLIC or a worker reads", `select who || ' ' || c.relname from `+roles+`, `+tables+` and who <> 'weir_client' and has_any_column_privilege(who, c.oid, 'select')`)
	lacks(t, db, "a client reads what is auth's", `select c.relname from `+tables+` and has_any_column_privilege('weir_client', c.oid, 'select')
		and c.relname in ('users', 'sessions', 'tokens', 'links', 'joins', 'node_credentials', 'login_attempts', 'oidc_visits', 'secrets')`)
	lacks(t, db, "is the server's own, and may be called", `select who || ' ' || p.oid::regprocedure from `+roles+`, pg_proc p where p.pronamespace = 'weir'::regnamespace and has_function_privilege(who, p.oid, 'execute')
		and (p.proname in ('lead', 'resign', 'fenced', 'fire_schedule', 'drop_partitions', 'ensure_partitions', 'mark_exported', 'adopt_restore', 'repair_floors', 'tally', 'doctor',
			'fire_schedules', 'note_wake', 'plan_wakes', 'put_secret', 'drop_secret', 'reseal_secret', 'analyze_parents', 'fleet_tidy', 'set_fleet_policy', 'set_slots') or p.proname ~ '^(workflow|rollout|device)_'
			or p.proname ~ '^_' and p.proname not in ('_id_time', '_pc_reason', '_pc_state', '_pc_slots', '_device_reason', '_device_answer', '_fleet_timeout', '_fleet_reserved_words',
				'_sentence', '_format_argument', '_words', '_span', '_instant'))`) // the views use these, and a view's functions run as the reader
	publicReachesNoFlow(t, db)
	// A client cannot put a function of its own in the way of ours.
	err := pgx.BeginFunc(t.Context(), db.Pool, func(tx pgx.Tx) error {
		for _, sql := range []string{
			`set local role weir_client`, `create temp table tasks (id uuid)`, `create temp table pools (name text)`, `create function pg_temp.now() returns timestamptz language sql as $$ select 'epoch'::timestamptz $$`,
			`set local search_path = pg_temp, weir`, `select weir.submit('safe')`,
		} {
			if _, err := tx.Exec(t.Context(), sql); err != nil {
				return fmt.Errorf("%s: %w", sql, err)
			}
		}
		var found, planted int
		if err := tx.QueryRow(t.Context(), `select (select count(*) from weir.task where service = 'safe'), (select count(*) from pg_temp.tasks)`).Scan(&found, &planted); err != nil {
			return err
		}
		if found != 1 || planted != 0 {
			return fmt.Errorf("%d tasks, %d in the table that a client planted", found, planted)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// publicReachesNoFlow looks at schema flow, which has views and triggers for
// those who come from another workflow core, and no functions of its own.
func publicReachesNoFlow(t *testing.T, db *testdb.DB) {
	t.Helper()
	const views = `pg_class c where c.relnamespace = 'flow'::regnamespace`
	var n int
	if err := db.Pool.QueryRow(t.Context(), `select count(*) from `+views+` and c.relkind = 'v'`).Scan(&n); err != nil || n < 5 {
		t.Fatalf("flow has %d views: nothing was tested (%v)", n, err)
	}
	const roles = `unnest(array['weir_client', 'weir_worker', 'public']) who`
	lacks(t, db, "reaches schema flow", `select who || ' ' || priv from `+roles+`, unnest(array['usage', 'create']) priv where has_schema_privilege(who, 'flow', priv) and (who, priv) <> ('weir_client', 'usage')`)
	lacks(t, db, "is in schema flow and no view or sequence", `select c.oid::regclass::text from `+views+` and c.relkind not in ('v', 'S')`)
	lacks(t, db, "is a function of schema flow", `select p.oid::regprocedure::text from pg_proc p where p.pronamespace = 'flow'::regnamespace`)
	lacks(t, db, "PUBLIC or a worker uses of flow", `select who || ' ' || c.relname from `+roles+`, unnest(array['select', 'insert', 'update', 'delete', 'truncate', 'references', 'trigger']) priv, `+views+`
		and c.relkind = 'v' and who <> 'weir_client' and has_table_privilege(who, c.oid, priv)`)
	lacks(t, db, "somebody else may change the sequence of flow", `select who || ' ' || c.relname from `+roles+`, `+views+` and c.relkind = 'S' and has_sequence_privilege(who, c.oid, 'update')`)
	lacks(t, db, "writes to flow without a trigger of ours", `select c.relname from `+views+` and c.relkind = 'v' and not exists (
		select from pg_trigger g join pg_proc p on p.oid = g.tgfoid where g.tgrelid = c.oid and g.tgtype & 64 <> 0 and p.pronamespace = 'weir'::regnamespace)`)
	// A view reads with the rights of its owner: none of flow reaches what is kept from clients.
	lacks(t, db, "a view reads what is the server's own", `select distinct v.view_schema || '.' || v.view_name from information_schema.view_table_usage v where v.table_schema = 'weir'
		and v.table_name in ('users', 'sessions', 'tokens', 'links', 'joins', 'node_credentials', 'login_attempts', 'oidc_visits', 'secrets')`)
	// A client cannot put tables of its own in the way of the triggers.
	err := pgx.BeginFunc(t.Context(), db.Pool, func(tx pgx.Tx) error {
		for _, sql := range []string{
			`set local role weir_client`, `create temp table workflows (id uuid, name text, version int, active boolean)`, `create temp table jobs (id uuid)`,
			`create function pg_temp.jsonb_typeof(jsonb) returns text language sql as $$ select 'array' $$`, `set local search_path = pg_temp, flow, weir`,
			`insert into flow.workflows (name, version, steps) values ('safe', 1, '[{"key": "a", "service": "s"}]')`,
			`insert into flow.jobs (workflow_id) select id from flow.workflows where name = 'safe'`,
		} {
			if _, err := tx.Exec(t.Context(), sql); err != nil {
				return fmt.Errorf("%s: %w", sql, err)
			}
		}
		var found, planted int
		if err := tx.QueryRow(t.Context(), `select (select count(*) from weir.jobs where name = 'safe'), (select count(*) from pg_temp.jobs) + (select count(*) from pg_temp.workflows)`).Scan(&found, &planted); err != nil {
			return err
		}
		if found != 1 || planted != 0 {
			return fmt.Errorf("%d jobs, %d rows where a client planted tables", found, planted)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// injections are texts that would mean something where SQL is put together. The
// first ones end a text, a name, a quoted block, an escape or an expression.
var injections = []string{
	`'; drop table weir.tasks cascade; --`, `"; drop schema weir cascade; --`, `$$; drop schema weir cascade; $$`, `\'; select pg_sleep(100); --`, `1) union select hash::text from weir.tokens --`, `%s%d%!`,
	`' or '1'='1`, `%27%20or%201=1`, `{"a": "'"}`, `'||(select password from weir.users limit 1)||'`, `_%`, `$1`, `public.x`, `::regclass`, `E'\x27'`, "a\u2028b", "‘", `\`,
}

// document is as much of OpenAPI as this needs.
type document struct {
	Paths map[string]map[string]struct {
		Parameters []struct {
			Name, In string
			Schema   map[string]any
		}
		RequestBody struct {
			Content map[string]struct{ Schema map[string]any }
		}
	}
	Components struct{ Schemas map[string]map[string]any }
}

// fill is a value of a schema with the text wherever a text may stand.
func (d *document) fill(schema map[string]any, text string, depth int) any {
	if ref, ok := schema["$ref"].(string); ok {
		schema = d.Components.Schemas[ref[strings.LastIndex(ref, "/")+1:]]
	}
	if values, ok := schema["enum"].([]any); ok && len(values) > 0 {
		return values[0]
	}
	kind, _ := schema["type"].(string)
	switch {
	case depth > 6:
		return nil
	case kind == "object":
		out := map[string]any{}
		properties, _ := schema["properties"].(map[string]any)
		for name, p := range properties {
			if sub, ok := p.(map[string]any); ok {
				out[name] = d.fill(sub, text, depth+1)
			}
		}
		if more, ok := schema["additionalProperties"].(map[string]any); ok {
			out[text] = d.fill(more, text, depth+1)
		}
		return out
	case kind == "array":
		items, _ := schema["items"].(map[string]any)
		return []any{d.fill(items, text, depth+1)}
	case kind == "integer" || kind == "number":
		return 1
	case kind == "boolean":
		return true
	case schema["format"] == "date-time":
		return "2030-01-01T00:00:00Z"
	}
	return text
}

// endings are how many injections every route gets; of the others it gets a third in
// turn.
const endings = 6

// Every text field of every route of the API, in the path, the query, the
// headers and the body, all at once and each alone.
func TestSecureInjection(t *testing.T) {
	t.Parallel()
	f := besiege(t)
	admin := f.person(auth.Admin)
	f.furnish("thing")
	var doc document
	if err := json.Unmarshal([]byte(f.wants(http.StatusOK, "GET", apiPrefix+"/openapi.json").body), &doc); err != nil {
		t.Fatal(err)
	}
	// The server itself makes, seals and drops partitions meanwhile.
	const lasting = `select count(*)::text from pg_class where relnamespace = 'weir'::regnamespace and not relispartition and relkind in ('r', 'p', 'v', 'S')`
	tables := f.text(lasting)
	hashes := f.text(`select string_agg(encode(hash, 'hex'), ' ') || ' ' || (select string_agg(password, ' ') from weir.users) from weir.tokens`)
	sent := 0
	for n, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		methods := doc.Paths[path]
		if strings.HasSuffix(path, "/events") && !strings.Contains(path, "{") || strings.HasSuffix(path, "/logout") || strings.HasSuffix(path, "/login") {
			continue
		}
		for method, op := range methods {
			for i, text := range injections {
				if i >= endings && (n+i)%3 != 0 {
					continue
				}
				target, query, headers := path, url.Values{}, []way{with(admin)}
				for _, p := range op.Parameters {
					value := fmt.Sprint(doc.fill(p.Schema, text, 0))
					switch p.In {
					case "path":
						target = strings.ReplaceAll(target, "{"+p.Name+"}", url.PathEscape(value))
					case "query":
						query.Set(p.Name, value)
					case "header":
						headers = append(headers, header(p.Name, strings.Map(fieldByte, value)))
					}
				}
				if schema := op.RequestBody.Content["application/json"].Schema; schema != nil {
					body, _ := json.Marshal(doc.fill(schema, text, 0)) // maps and texts always become JSON
					headers = append(headers, sending("application/json", string(body)))
				}
				targets := []string{target + "?" + query.Encode()}
				// Each parameter by itself as well, in turn with a sixth of the texts.
				for j, name := range slices.Sorted(maps.Keys(query)) {
					if (i+j)%6 == 0 {
						targets = append(targets, target+"?"+url.Values{name: query[name]}.Encode())
					}
				}
				for _, to := range slices.Compact(targets) {
					got := f.ask(strings.ToUpper(method), to, headers...)
					sent++
					if got.StatusCode >= 500 || strings.Contains(got.body, "syntax error") || strings.Contains(got.body, "$argon2id$") {
						t.Errorf("%s %s with %q: status %d: %.300s", method, path, text, got.StatusCode, got.body)
					}
					for _, hash := range strings.Fields(hashes) {
						if strings.Contains(got.body, hash) {
							t.Errorf("%s %s with %q tells a hash", method, path, text)
						}
					}
				}
			}
		}
	}
	if sent < 1500 {
		t.Errorf("only %d requests were sent", sent)
	}
	if now := f.text(lasting); now != tables {
		t.Errorf("there were %s tables, views and sequences, now %s", tables, now)
	}
	for _, word := range []string{"SQLSTATE 42601", "syntax error"} {
		if strings.Contains(f.log.String(), word) {
			t.Errorf("the log says %s", word)
		}
	}
}
