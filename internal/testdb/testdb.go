package testdb

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir/internal/pg"
	"github.com/weirhq/weir/internal/testwait"
)

// DB is the database of one test.
type DB struct {
	// Pool is closed when the test ends.
	Pool *pgxpool.Pool
	// URL is the superuser's, for further pools and processes. See PoolerVariable.
	URL string

	// direct leads to PostgreSQL itself.
	direct     string
	skipDoctor string
}

// SkipDoctor skips the doctor because the test leaves the database broken on purpose;
// reason says why.
func (db *DB) SkipDoctor(reason string) { db.skipDoctor = reason }

// Settle waits until all events of this database can be read. A reader of the timeline
// stays behind the oldest transaction of the whole server, and other tests have long
// ones.
func (db *DB) Settle(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for settled := false; !settled; {
		err := db.Pool.QueryRow(ctx, `select coalesce(max(xid), 0) < pg_snapshot_xmin(pg_current_snapshot())::text::bigint from weir.events`).Scan(&settled)
		if err != nil {
			t.Fatalf("wait for other transactions of the server: %v", err)
		}
	}
}

// New gives the test a database with the current schema.
func New(t testing.TB) *DB {
	t.Helper()
	db := create(t, template)
	t.Cleanup(func() { db.doctor(t) })
	return db
}

// NewEmpty gives the test a database without Weir's schema.
func NewEmpty(t testing.TB) *DB {
	t.Helper()
	return create(t, func(context.Context, *pgx.Conn, string) (string, error) { return "template1", nil })
}

// create clones the template that from names. Its cleanup runs after every cleanup of the
// test itself.
func create(t testing.TB, from func(context.Context, *pgx.Conn, string) (string, error)) *DB {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	adminURL, err := clusterURL(ctx)
	if err != nil {
		t.Fatal(err)
	}
	name := "weir_test_" + strings.ToLower(rand.Text())
	err = asAdmin(ctx, adminURL, func(admin *pgx.Conn) error {
		source, err := from(ctx, admin, adminURL)
		if err != nil {
			return fmt.Errorf("make the template database: %w", err)
		}
		return execAll(ctx, admin, `create database `+name+` template `+source+` strategy file_copy`)
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dropDatabase(t, adminURL, name) })
	direct := withDatabase(adminURL, name)
	db := &DB{URL: direct, direct: direct}
	if Pooled() {
		db.URL = Bounce(t, direct, "pool_mode = transaction", "default_pool_size = 10", "max_client_conn = 200")
	}
	if db.Pool, err = pg.Open(ctx, direct, pg.Options{Name: "test"}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Pool.Close)
	return db
}

func dropDatabase(t testing.TB, adminURL, name string) {
	ctx, cancel := context.WithTimeout(context.Background(), testwait.Limit)
	defer cancel()
	err := asAdmin(ctx, adminURL, func(admin *pgx.Conn) error {
		return execAll(ctx, admin, `drop database if exists `+name+` with (force)`)
	})
	if err != nil {
		t.Error(err)
	}
}

// doctor fails the test for every failing row, except rows about transactions of the
// whole cluster, because other tests have some. It uses its own connection because the
// test may have closed the pool.
func (db *DB) doctor(t testing.TB) {
	if db.skipDoctor != "" {
		t.Logf("doctor skipped: %s", db.skipDoctor)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), testwait.Limit)
	defer cancel()
	conn, err := pgx.Connect(ctx, db.direct)
	if err != nil {
		t.Errorf("doctor: %v", err)
		return
	}
	defer conn.Close(ctx)
	var exists bool
	err = conn.QueryRow(ctx, `select exists (select from pg_proc where proname = 'doctor' and pronamespace = to_regnamespace('weir'))`).Scan(&exists)
	if err != nil || !exists {
		if err != nil {
			t.Errorf("doctor: %v", err)
		}
		return
	}
	rows, err := conn.Query(ctx, `select name, coalesce(detail::text, '') from weir.doctor() where ok is not true
		and name not in ('no old transaction holds the timeline back', 'no old snapshot keeps dead rows')`)
	if err != nil {
		t.Errorf("doctor: %v", err)
		return
	}
	var name, detail string
	if _, err := pgx.ForEachRow(rows, []any{&name, &detail}, func() error {
		t.Errorf("doctor: %s: %s", name, detail)
		return nil
	}); err != nil {
		t.Errorf("doctor: %v", err)
	}
}
