package rollouts

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir/internal/rollout/script"
)

// rows is how many rows one migration inserts.
const rows = 100

// Migration is a migration that every tool applies.
type Migration struct {
	Version int
	SQL     string
	// Alone means that it must not run inside a transaction.
	Alone bool
}

// Mix makes n migrations: a table, a column of it, an index on it, rows in it.
func Mix(n int) []Migration {
	list := make([]Migration, n)
	for i := range list {
		table := fmt.Sprintf("t%d", i/4)
		list[i] = Migration{Version: i + 1, SQL: []string{
			"create table " + table + " (id bigint generated always as identity primary key, name text not null);",
			"alter table " + table + " add column note text;",
			"create index " + table + "_name on " + table + " (name);",
			fmt.Sprintf("insert into %s (name) select 'n' || i from generate_series(1, %d) i;", table, rows),
		}[i%4]}
	}
	return list
}

// Check returns an error unless the database at url has exactly what [Mix] makes.
func Check(ctx context.Context, url string, list []Migration) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	var want, has [4]int
	for i := range list {
		want[i%4]++
	}
	want[3] *= rows
	if err := conn.QueryRow(ctx, `select count(*) filter (where relkind = 'r' and relname ~ '^t[0-9]+$'), count(*) filter (where relkind = 'i' and relname ~ '^t[0-9]+_name$') from pg_class`).Scan(&has[0], &has[2]); err != nil {
		return fmt.Errorf("check the migrations: %w", err)
	}
	if err := conn.QueryRow(ctx, `select count(*) from pg_attribute where attname = 'note' and attrelid::regclass::text ~ '^t[0-9]+$'`).Scan(&has[1]); err != nil {
		return fmt.Errorf("check the migrations: %w", err)
	}
	for i := range want[0] {
		var n int
		if err := conn.QueryRow(ctx, fmt.Sprintf(`select count(*) from t%d`, i)).Scan(&n); err != nil {
			return fmt.Errorf("check the migrations: %w", err)
		}
		has[3] += n
	}
	if has != want {
		return fmt.Errorf("the database has %v tables, columns, indexes and rows, not %v", has, want)
	}
	return nil
}

// change returns the migration in the form of Weir.
func (m Migration) change() (script.Change, error) {
	return script.Read(fmt.Sprintf("V%03d__m.sql", m.Version), []byte(m.SQL))
}

// write writes the migrations into folders in the forms of goose and golang-migrate.
func write(dir string, list []Migration) error {
	for _, tool := range []string{"goose", "migrate"} {
		if err := os.MkdirAll(filepath.Join(dir, tool), 0o700); err != nil {
			return err
		}
	}
	for _, m := range list {
		head := "-- +goose Up\n"
		if m.Alone {
			head = "-- +goose NO TRANSACTION\n" + head
		}
		if err := os.WriteFile(filepath.Join(dir, "goose", fmt.Sprintf("%05d_m.sql", m.Version)), []byte(head+m.SQL+"\n"), 0o600); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, "migrate", fmt.Sprintf("%05d_m.up.sql", m.Version)), []byte(m.SQL+"\n"), 0o600); err != nil {
			return err
		}
	}
	return nil
}
