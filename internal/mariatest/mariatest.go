package mariatest

import (
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
)

// shared is the server of this process.
var shared struct {
	sync.Mutex
	server *server
	// failed remembers that no server can run here, because each try takes seconds.
	failed error
}

// DB is the database of one test.
type DB struct {
	// Name is the name of the database, and Address is the server's host:port.
	Name, Address string
	// DSN is that of a user with all rights.
	DSN string
	// SQL is closed when the test ends.
	SQL *sql.DB
}

// New gives the test an empty database.
func New(t testing.TB) *DB {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	defer cancel()
	shared.Lock()
	if shared.server == nil && shared.failed == nil {
		shared.server, shared.failed = launch(ctx)
	}
	s, err := shared.server, shared.failed
	shared.Unlock()
	if err != nil {
		missing(t, err)
	}
	name := "weir_test_" + strings.ToLower(rand.Text())
	if err := s.admin(ctx, "create database "+name); err != nil {
		t.Fatalf("create the test's database: %v", err)
	}
	db := &DB{Name: name, Address: s.address, DSN: s.dsn(name)}
	if db.SQL, err = sql.Open("mysql", db.DSN); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.SQL.Close(); err != nil {
			t.Error(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := s.admin(ctx, "drop database if exists "+name); err != nil {
			t.Errorf("drop the test's database: %v", err)
		}
	})
	return db
}

// Through returns the DSN with another address, such as a proxy's.
func (db *DB) Through(address string) string {
	return strings.Replace(db.DSN, db.Address, address, 1)
}

func (s *server) dsn(database string) string {
	return fmt.Sprintf("weir:%s@tcp(%s)/%s", s.password, s.address, database)
}

func (s *server) answers(ctx context.Context) error { return s.admin(ctx, "do 1") }

// admin runs a statement on its own connection.
func (s *server) admin(ctx context.Context, statement string) error {
	config, err := mysql.ParseDSN(s.dsn(""))
	if err != nil {
		return err
	}
	config.Logger = &mysql.NopLogger{}
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return err
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	_, err = db.ExecContext(ctx, statement)
	return err
}

// missing skips or fails the test, which cannot run here.
func missing(t testing.TB, why error) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("no MariaDB: %v", why)
	}
	t.Skipf("SKIPPED, no MariaDB: %v", why)
}
