package target_test

import (
	"testing"

	"github.com/weirhq/weir/internal/rollout/target"
)

func TestRule4EverySessionHasLimitsAndAName(t *testing.T) {
	t.Run("postgres", func(t *testing.T) {
		p := onPostgres(t)
		const look = "insert into seen select current_setting('lock_timeout'), current_setting('statement_timeout'), current_setting('idle_in_transaction_session_timeout'), current_setting('application_name');\n"
		for file, c := range map[string]struct{ text, want string }{
			"V1__default.sql":   {look, "1s 1h 30s weir/task-V1__default.sql/1"},
			"V2__own.sql":       {"-- weir: lock_timeout=2s statement_timeout=10m\n" + look, "2s 10min 30s weir/task-V2__own.sql/1"},
			"V3__unlimited.sql": {"-- weir: statement_timeout=unlimited\n" + look, "1s 0 30s weir/task-V3__unlimited.sql/1"},
			// As a dump begins. Off is off only by name.
			"V4__dump.sql": {"set statement_timeout = 0;\nset lock_timeout = 0;\nset idle_in_transaction_session_timeout = 0;\n" + look, "1s 1h 30s weir/task-V4__dump.sql/1"},
			"V5__set.sql":  {"set lock_timeout = '3s';\n" + look, "3s 1h 30s weir/task-V5__set.sql/1"},
		} {
			p.exec(t, "drop table if exists seen", "create table seen (a text, b text, c text, d text)")
			run := p.change(t, 1, file, c.text)
			run.OutOfOrder = true
			if _, err := p.open(t, target.Options{}).Apply(t.Context(), run, &watch{}); err != nil {
				t.Fatal(err)
			}
			p.expect(t, c.want, "select concat_ws(' ', a, b, c, d) from seen")
		}
	})
	t.Run("mariadb", func(t *testing.T) {
		p := onMaria(t)
		const look = "insert into seen select @@lock_wait_timeout, @@innodb_lock_wait_timeout, @@max_statement_time, @@idle_transaction_timeout;\n"
		for file, c := range map[string]struct{ text, want string }{
			"V1__default.sql":   {look, "1 1 3600 30"},
			"V2__own.sql":       {"-- weir: lock_timeout=1500ms statement_timeout=10m\n" + look, "2 2 600 30"},
			"V3__unlimited.sql": {"-- weir: statement_timeout=unlimited\n" + look, "1 1 0 30"},
			"V4__dump.sql":      {"set max_statement_time = 0, idle_transaction_timeout = 0;\n" + look, "1 1 3600 30"},
		} {
			p.exec(t, "drop table if exists seen", "create table seen (a int, b int, c int, d int)")
			run := p.change(t, 1, file, c.text)
			run.OutOfOrder = true
			if _, err := p.open(t, target.Options{}).Apply(t.Context(), run, &watch{}); err != nil {
				t.Fatal(err)
			}
			p.expect(t, c.want, "select concat_ws(' ', a, b, c, d) from seen")
		}
	})
}

func TestRule4AStatementThatTakesTooLong(t *testing.T) {
	onBoth(t, func(t *testing.T, p *place) {
		p.exec(t, "create table base (id int primary key)")
		text := "-- weir: statement_timeout=200ms\ninsert into base values (1);\ninsert into base select 2 from (select pg_sleep(600)) x;\n"
		if p.engine == "mysql" {
			text = "-- weir: statement_timeout=200ms\ninsert into base values (1);\ninsert into base select 2 from (select sleep(600) x) y;\n"
		}
		_, err := p.open(t, target.Options{}).Apply(t.Context(), p.change(t, 1, "V1__slow.sql", text), &watch{})
		if f := failure(t, err, target.CodeStatementTimeout); f.Unknown || f.Line != 3 {
			t.Errorf("%+v", f)
		}
		p.expect(t, "0", "select count(*) from base")
	})
}
