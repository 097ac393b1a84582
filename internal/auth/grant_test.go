package auth

import (
	"errors"
	"regexp"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/weirhq/weir/internal/testdb"
	"github.com/weirhq/weir/schema"
)

// Neither role of the database reads or writes any table of auth. The tables are
// read from the migration, so that a new one is not forgotten in the grants.
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
