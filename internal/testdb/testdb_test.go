package testdb_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/weirhq/weir/internal/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m) }

func TestEachTestHasItsOwnMigratedDatabase(t *testing.T) {
	ctx := context.Background()
	one, two := testdb.New(t), testdb.New(t)
	if _, err := one.Pool.Exec(ctx, `create table weir.only_here ()`); err != nil {
		t.Fatal(err)
	}
	var migrated, shared bool
	err := two.Pool.QueryRow(ctx, `select to_regclass('weir.schema_version') is not null, to_regclass('weir.only_here') is not null`).Scan(&migrated, &shared)
	if err != nil {
		t.Fatal(err)
	}
	if !migrated || shared {
		t.Errorf("migrated = %v, sees the other test's table = %v", migrated, shared)
	}
}

func TestManyAtOnce(t *testing.T) {
	for range 8 {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			testdb.NewEmpty(t)
		})
	}
}

// recorder stands in for a test and keeps what New reports to it.
type recorder struct {
	testing.TB
	cleanups []func()
	errors   []string
}

func (r *recorder) Helper()          {}
func (r *recorder) Cleanup(f func()) { r.cleanups = append(r.cleanups, f) }
func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}

func (r *recorder) end() {
	for i := len(r.cleanups) - 1; i >= 0; i-- {
		r.cleanups[i]()
	}
}

const sickDoctor = `
	do $$ declare f regprocedure; begin
		for f in select oid from pg_proc where proname = 'doctor' and pronamespace = 'weir'::regnamespace loop
			execute 'drop function ' || f || ' cascade';
		end loop;
	end $$;
	create function weir.doctor() returns table (name text, ok boolean, detail text)
	language sql as $$ values ('lease', false, 'two leases'), ('order', true, '') $$`

func TestDoctorFailsTheTest(t *testing.T) {
	r := &recorder{TB: t}
	db := testdb.New(r)
	if _, err := db.Pool.Exec(context.Background(), sickDoctor, pgx.QueryExecModeSimpleProtocol); err != nil {
		t.Fatal(err)
	}
	r.end()
	if got := strings.Join(r.errors, "\n"); got != "doctor: lease: two leases" {
		t.Errorf("the test heard %q", got)
	}
	if _, err := pgx.Connect(context.Background(), db.URL); err == nil {
		t.Error("the database of an ended test is still there")
	}
}

func TestSkipDoctor(t *testing.T) {
	r := &recorder{TB: t}
	db := testdb.New(r)
	db.SkipDoctor("it is about a broken database")
	if _, err := db.Pool.Exec(context.Background(), sickDoctor, pgx.QueryExecModeSimpleProtocol); err != nil {
		t.Fatal(err)
	}
	r.end()
	if len(r.errors) > 0 {
		t.Errorf("the test heard %q", r.errors)
	}
}

// A verifier accepts its password and no other.
func TestVerifier(t *testing.T) {
	db := testdb.NewEmpty(t)
	config := db.Pool.Config().ConnConfig.Copy()
	config.User, config.Password = "weir_verifier_"+strings.ToLower(rand.Text()), "seven boats in a bottle"
	if _, err := db.Pool.Exec(t.Context(), `create role `+config.User+` login password '`+testdb.Verifier(config.Password)+`'`); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := db.Pool.Exec(context.Background(), `drop role `+config.User); err != nil {
			t.Error(err)
		}
	})
	conn, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	config.Password = "eight boats in a bottle"
	refused := new(pgconn.PgError)
	if _, err := pgx.ConnectConfig(t.Context(), config); !errors.As(err, &refused) || refused.Code != "28P01" {
		t.Errorf("a wrong password: %v", err)
	}
}
