package workspace_test

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Whose each column of weir.workspaces is. The controller's are written under the term of
// the leader; people's by what people, the proxy and the clock ask for.
var (
	atBirth      = words(`id owner provider created_at`)
	peoples      = words(`name description image desired desired_by desired_at generation deleted_at last_access_at last_activity busy_until standby_ttl archive_ttl`)
	controllers  = words(`conditions observed_at observed_generation started_generation phase phase_changed_at operation op_id op_started_at op_progress_at op_progress op_retry_at archive_op_id archive_key archive_meta archive_generation archive_of volume_generation mounted had_home error_reason error_message error_count home_ctx`)
	byPeople     = words(`workspace_want workspace_touch workspace_busy workspace_patch`)
	byController = words(`workspace_see workspace_begin workspace_end workspace_progress workspace_archived workspace_unknown workspace_resume`)
	// A row is born by these.
	byBirth = words(`workspace_create workspace_import`)
	// A person clears an error, and says what its home is from now on. That is an answer to
	// the controller, which asked by failing: it has nothing under way then.
	answers = map[string][]string{"workspace_recover": words(`error_reason error_message error_count had_home archive_key archive_meta archive_generation archive_of volume_generation mounted generation`)}
)

func words(text string) []string { return strings.Fields(text) }

var (
	updates = regexp.MustCompile(`(?is)update\s+weir\.workspaces\s+\w+\s+set\s+(.*?)\s(?:from|where)\s`)
	assigns = regexp.MustCompile(`(?s)(\w+)\s*=`)
	inserts = regexp.MustCompile(`(?i)insert\s+into\s+weir\.workspaces\b`)
	deletes = regexp.MustCompile(`(?i)delete\s+from\s+weir\.workspaces\b`)
)

// written are the columns that a SET names: those before an equals sign that is in no
// parentheses and in no CASE.
func written(set string) (columns []string) {
	depth, start := 0, 0
	var parts []string
	for i, r := range set {
		switch {
		case r == '(':
			depth++
		case r == ')':
			depth--
		case r == ',' && depth == 0:
			parts, start = append(parts, set[start:i]), i+1
		}
	}
	for _, part := range append(parts, set[start:]) {
		columns = append(columns, assigns.FindStringSubmatch(part)[1])
	}
	return columns
}

// Every column has one kind of writer: what people want is written by people's functions,
// what was seen and done by the controller's. This reads what every function of the
// database says.
func TestEveryColumnHasOneWriter(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	rows, err := d.db.Pool.Query(t.Context(), `select p.proname, p.prosrc from pg_proc p join pg_namespace n on n.oid = p.pronamespace where n.nspname in ('weir', 'flow', 'fleet') and p.prosrc ~* 'weir\.workspaces\y'`)
	d.ok(err)
	functions := map[string]string{}
	var name, source string
	_, err = pgx.ForEachRow(rows, []any{&name, &source}, func() error { functions[name] = source; return nil })
	d.ok(err)
	writers := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(functions)) {
		source := functions[name]
		if deletes.MatchString(source) {
			t.Errorf("%s deletes workspaces: their rows stay, so that nobody takes their archives for his own", name)
		}
		if inserts.MatchString(source) && !slices.Contains(byBirth, name) {
			t.Errorf("%s makes workspaces", name)
		}
		for _, found := range updates.FindAllStringSubmatch(source, -1) {
			for _, column := range written(found[1]) {
				writers[column] = append(writers[column], name)
			}
		}
		if n, all := len(updates.FindAllString(source, -1)), len(regexp.MustCompile(`(?i)update\s+(only\s+)?weir\.workspaces\b`).FindAllString(source, -1)); n != all {
			t.Errorf("%s has %d updates, and %d can be read", name, all, n)
		}
	}
	rows, err = d.db.Pool.Query(t.Context(), `select attname from pg_attribute where attrelid = 'weir.workspaces'::regclass and attnum > 0 and not attisdropped`)
	d.ok(err)
	columns, err := pgx.CollectRows(rows, pgx.RowTo[string])
	d.ok(err)
	for _, column := range columns {
		var may []string
		switch {
		case slices.Contains(peoples, column):
			may = byPeople
		case slices.Contains(controllers, column):
			may = byController
		case !slices.Contains(atBirth, column):
			t.Errorf("nobody says whose %s is", column)
		}
		for _, writer := range writers[column] {
			if !slices.Contains(may, writer) && !slices.Contains(answers[writer], column) {
				t.Errorf("%s writes %s, which is not its own", writer, column)
			}
		}
		if len(writers[column]) == 0 && !slices.Contains(atBirth, column) && column != "home_ctx" {
			t.Errorf("nobody writes %s", column)
		}
	}
	for _, function := range slices.Concat(byPeople, byController, byBirth, slices.Collect(maps.Keys(answers))) {
		if functions[function] == "" {
			t.Errorf("there is no function %s", function)
		}
	}
}

// Nobody but the owner of the schema writes the table, or asks for what is not theirs.
func TestOnlyTheServerWrites(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for _, role := range []string{"weir_client", "weir_worker"} {
		if n := d.count(`select count(*) from unnest(array['weir.workspaces', 'weir.workspace_policy', 'weir.workspace_archives', 'weir.workspace_codes', 'weir.workspace_visits']) t (name)
			where has_table_privilege($1, t.name, 'insert, update, delete, truncate') or has_any_column_privilege($1, t.name, 'insert, update')`, role); n > 0 {
			t.Errorf("%s may write %d tables", role, n)
		}
		if n := d.count(`select count(*) from pg_proc p join pg_namespace n on n.oid = p.pronamespace where n.nspname = 'weir' and p.proname ~ '^(workspace_|set_workspace_|_workspace_)' and has_function_privilege($1, p.oid, 'execute')`, role); n > 0 {
			t.Errorf("%s may call %d functions", role, n)
		}
	}
	// Who calls one of them cannot make it see tables of his own.
	if n := d.count(`select count(*) from pg_proc p join pg_namespace n on n.oid = p.pronamespace where n.nspname = 'weir' and p.proname ~ 'workspace' and not coalesce('search_path=weir, pg_temp' = any (p.proconfig), false)`); n > 0 {
		t.Errorf("%d functions look wherever their caller does", n)
	}
	if n := d.count(`select count(*) from pg_proc p join pg_namespace n on n.oid = p.pronamespace where n.nspname = 'weir' and p.proname ~ '^(set_)?workspace_'`); n < 20 {
		t.Errorf("only %d functions were looked at", n)
	}
	for _, table := range []string{"weir.workspace_codes", "weir.workspace_visits"} {
		if n := d.count(`select count(*) from unnest(array['weir_client', 'weir_worker']) r (name) where has_table_privilege(r.name, $1, 'select') or has_any_column_privilege(r.name, $1, 'select')`, table); n > 0 {
			t.Errorf("%s can be read", table)
		}
	}
}
