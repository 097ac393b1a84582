package fleettest

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir/internal/testdb"
)

// TestRights checks the grants of schema fleet: PUBLIC has none, a client submits and
// reads, a worker does what the runner of a PC does.
func TestRights(t *testing.T) {
	t.Parallel()
	db := testdb.New(t)
	const views = ` from pg_class c where c.relnamespace = 'fleet'::regnamespace`
	const functions = ` from pg_proc p where p.pronamespace = 'fleet'::regnamespace`
	for what, want := range map[string]struct {
		sql  string
		rows []string
	}{
		"views":                              {`select relname::text` + views + ` and c.relkind = 'v' order by 1`, []string{"devices", "execution_logs", "pc_device_summary", "task_devices", "tasks", "workers"}},
		"neither view nor function":          {`select relname::text` + views + ` and c.relkind <> 'v'`, nil},
		"views without a trigger of ours":    {`select relname::text` + views + ` and not exists (select from pg_trigger g join pg_proc p on p.oid = g.tgfoid where g.tgrelid = c.oid and g.tgtype & 64 <> 0 and p.pronamespace = 'weir'::regnamespace)`, nil},
		"what PUBLIC reaches":                {`select relname::text` + views + ` and has_table_privilege('public', c.oid, 'select, insert, update, delete') union all select proname` + functions + ` and has_function_privilege('public', p.oid, 'execute')`, nil},
		"who makes things in it":             {`select who from unnest(array['weir_client', 'weir_worker', 'public']) who where has_schema_privilege(who, 'fleet', 'create')`, nil},
		"functions without the owner's path": {`select proname::text` + functions + ` and not (p.prosecdef and coalesce(p.proconfig, '{}') && array['search_path=weir, pg_temp'])`, nil},
		"functions of a client":              {`select proname::text` + functions + ` and has_function_privilege('weir_client', p.oid, 'execute')`, nil},
		"functions of a worker": {`select proname::text` + functions + ` and has_function_privilege('weir_worker', p.oid, 'execute') order by 1`, []string{
			"claim_task_devices_for_pc", "complete_task_device", "fail_or_retry_task_device", "fn_timeout_tasks_and_task_devices", "renew_task_device_lease",
		}},
		"what a client cannot read":   {`select relname::text` + views + ` and not has_table_privilege('weir_client', c.oid, 'select')`, nil},
		"what a worker cannot read":   {`select relname::text` + views + ` and not has_table_privilege('weir_worker', c.oid, 'select')`, []string{"execution_logs"}},
		"what only a client writes":   {`select relname::text` + views + ` and has_table_privilege('weir_client', c.oid, 'insert') and not has_table_privilege('weir_worker', c.oid, 'insert')`, []string{"tasks"}},
		"what only a worker writes":   {`select relname::text` + views + ` and has_table_privilege('weir_worker', c.oid, 'insert') and not has_table_privilege('weir_client', c.oid, 'insert') order by 1`, []string{"devices", "execution_logs", "workers"}},
		"what a view tells of others": {`select distinct table_name::text from information_schema.view_table_usage where view_schema = 'fleet' and table_name in ('users', 'sessions', 'tokens', 'links', 'joins', 'node_credentials', 'secrets', 'snapshots')`, nil},
	} {
		rows, err := db.Pool.Query(t.Context(), want.sql)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		got, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if !slices.Equal(got, want.rows) {
			t.Errorf("%s: %q, wanted %q", what, got, want.rows)
		}
	}
}

// A worker that reads the history, which it may only write, is told of the view and not of
// a function inside it.
func TestAWorkerIsToldWhatItMayNotRead(t *testing.T) {
	t.Parallel()
	worker, err := pgx.Connect(t.Context(), login(t, testdb.New(t), "weir_worker"))
	if err != nil {
		t.Fatal(err)
	}
	defer worker.Close(context.Background())
	_, err = worker.Exec(t.Context(), `select count(*) from fleet.execution_logs`)
	if err == nil || !strings.Contains(err.Error(), "permission denied for view execution_logs") {
		t.Errorf("it is told: %v", err)
	}
}
