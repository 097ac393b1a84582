package mariatest_test

import (
	"testing"

	"github.com/weirhq/weir/internal/mariatest"
)

func TestTwoDatabasesOfOneServer(t *testing.T) {
	a, b := mariatest.New(t), mariatest.New(t)
	if a.Address != b.Address || a.Name == b.Name {
		t.Fatalf("%s on %s and %s on %s: want two databases of one server", a.Name, a.Address, b.Name, b.Address)
	}
	if _, err := a.SQL.ExecContext(t.Context(), "create table only_here (id int primary key)"); err != nil {
		t.Fatal(err)
	}
	var n int
	query := "select count(*) from information_schema.tables where table_schema = database() and table_name = 'only_here'"
	for db, want := range map[*mariatest.DB]int{a: 1, b: 0} {
		if err := db.SQL.QueryRowContext(t.Context(), query).Scan(&n); err != nil || n != want {
			t.Errorf("%s has %d such tables (%v), want %d", db.Name, n, err, want)
		}
	}
}
