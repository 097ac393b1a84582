package dsn_test

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir/internal/dsn"
	"github.com/weirhq/weir/internal/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m) }

func TestParse(t *testing.T) {
	for text, want := range map[string]struct {
		pooler dsn.Pooler
		most   int32
	}{
		"postgres://u@h/d?pooler=transaction&pool_max_conns=3":                              {dsn.Transaction, 3},
		"host=h user=u dbname=d pooler=none pool_max_conns=4 pool_max_conn_lifetime=1h":     {dsn.None, 4},
		"postgres://u@h/d?pool_min_conns=1&pool_max_conns=5&pool_max_conn_idle_time=2m&a=b": {dsn.Unknown, 5},
	} {
		a, err := dsn.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if a.Pooler != want.pooler || a.Config.MaxConns != want.most {
			t.Errorf("%s: pooler %q, at most %d connections", text, a.Pooler, a.Config.MaxConns)
		}
		for name := range a.Config.ConnConfig.RuntimeParams {
			if name != "a" {
				t.Errorf("%s: %s would be sent to the server", text, name)
			}
		}
	}
	if _, err := dsn.Parse("postgres://u@h/d?pooler=maybe"); err == nil {
		t.Error("a pooler of another kind is taken")
	}
}

// What an address leads to is found out, unless it says so.
func TestSettle(t *testing.T) {
	db := testdb.NewEmpty(t)
	through := testdb.Bounce(t, db.URL, "pool_mode = transaction")
	for url, want := range map[string]struct {
		pooled bool
		mode   pgx.QueryExecMode
	}{
		db.URL:                          {false, pgx.QueryExecModeCacheStatement},
		db.URL + "&pooler=transaction":  {true, pgx.QueryExecModeCacheDescribe},
		through:                         {true, pgx.QueryExecModeCacheDescribe},
		through + "&pooler=none":        {false, pgx.QueryExecModeCacheStatement},
		through + "&pooler=transaction": {true, pgx.QueryExecModeCacheDescribe},
		through + "&default_query_exec_mode=simple_protocol": {true, pgx.QueryExecModeSimpleProtocol},
	} {
		a, err := dsn.Parse(url)
		if err != nil {
			t.Fatal(err)
		}
		pooled, err := a.Settle(t.Context())
		if mode := a.Config.ConnConfig.DefaultQueryExecMode; err != nil || pooled != want.pooled || mode != want.mode {
			t.Errorf("%s: pooled %v, mode %s, %v", url, pooled, mode, err)
		}
	}
}
