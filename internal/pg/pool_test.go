package pg_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir/internal/pg"
	"github.com/weirhq/weir/internal/testdb"
)

func TestOpen(t *testing.T) {
	db := testdb.NewEmpty(t)
	for name, c := range map[string]struct {
		query string
		opts  pg.Options
		want  map[string]string
		max   int32
		mode  pgx.QueryExecMode
	}{
		"zero options": {"", pg.Options{}, map[string]string{
			"application_name": "weir", "statement_timeout": "0", "idle_in_transaction_session_timeout": "1min",
		}, 0, pgx.QueryExecModeCacheStatement},
		"all of them": {
			"",
			pg.Options{Name: "coordinator", MaxConns: 3, StatementTimeout: 5 * time.Second, ExecMode: pgx.QueryExecModeDescribeExec},
			map[string]string{"application_name": "coordinator", "statement_timeout": "5s"},
			3, pgx.QueryExecModeDescribeExec,
		},
		"the URL speaks": {"&application_name=mine&pool_max_conns=5", pg.Options{}, map[string]string{"application_name": "mine"}, 5, pgx.QueryExecModeCacheStatement},
		"the URL says pooler": {"&pooler=transaction", pg.Options{StatementTimeout: time.Second}, map[string]string{
			"application_name": "weir", "statement_timeout": "0", "idle_in_transaction_session_timeout": "0",
		}, 0, pgx.QueryExecModeCacheDescribe},
		"the URL says none": {"&pooler=none", pg.Options{}, map[string]string{"idle_in_transaction_session_timeout": "1min"}, 0, pgx.QueryExecModeCacheStatement},
		"the URL says how":  {"&pooler=transaction&default_query_exec_mode=simple_protocol", pg.Options{}, nil, 0, pgx.QueryExecModeSimpleProtocol},
		"configure":         {"", pg.Options{Configure: func(c *pgxpool.Config) { c.MaxConns = 2 }}, nil, 2, pgx.QueryExecModeCacheStatement},
	} {
		t.Run(name, func(t *testing.T) {
			pool, err := pg.Open(context.Background(), db.URL+c.query, c.opts)
			if err != nil {
				t.Fatal(err)
			}
			defer pool.Close()
			for setting, want := range c.want {
				if got := get[string](t, pool, `select current_setting($1)`, setting); got != want {
					t.Errorf("%s is %q, want %q", setting, got, want)
				}
			}
			if got := pool.Config().MaxConns; c.max != 0 && got != c.max || got < 1 {
				t.Errorf("at most %d connections, want %d", got, c.max)
			}
			if got := pool.Config().ConnConfig.DefaultQueryExecMode; got != c.mode {
				t.Errorf("exec mode %v, want %v", got, c.mode)
			}
		})
	}
	for name, url := range map[string]string{
		"not a URL":     "postgres://%zz",
		"nobody there":  "postgres://127.0.0.1:1/none?sslmode=disable&connect_timeout=1",
		"no such base":  strings.Replace(db.URL, "/weir_test_", "/weir_never_", 1),
		"wrong options": db.URL + "&pool_max_conns=many",
		"wrong pooler":  db.URL + "&pooler=session",
	} {
		if _, err := pg.Open(context.Background(), url, pg.Options{}); err == nil || !strings.HasPrefix(err.Error(), "open database: ") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
