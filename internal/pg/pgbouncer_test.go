package pg_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir/internal/pg"
	"github.com/weirhq/weir/internal/testdb"
)

func TestThroughPgBouncer(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	db := testdb.NewEmpty(t)
	url := testdb.Bounce(t, db.URL, "pool_mode = transaction", "default_pool_size = 4", "max_client_conn = 100")

	errs := make([]error, 10)
	var wait sync.WaitGroup
	for i := range errs {
		wait.Go(func() { _, errs[i] = pg.Migrate(ctx, url, base.fs()) })
	}
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	if n := get[int](t, db.Pool, `select count(*) from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())`); n != 0 {
		t.Errorf("%d advisory locks are left on PgBouncer's connections", n)
	}

	pool, err := pg.Open(ctx, url, pg.Options{MaxConns: 12, StatementTimeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	for i := range 12 {
		wait.Go(func() {
			for range 50 {
				if err := pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
					var name string
					return tx.QueryRow(ctx, `select name from weir.thing where id = $1 and name <> $2`, 1+i%2, strings.Repeat("x", i)).Scan(&name)
				}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wait.Wait()
}
