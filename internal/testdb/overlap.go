package testdb

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/weirhq/weir/internal/testwait"
)

// Overlap is two transactions: the second starts when the first has done its part and is
// still open. So a test plays exactly the interleaving that needs a lock.
type Overlap struct {
	Name string
	// First runs and stays open, then Second runs, then the first commits.
	First, Second string
	// Passes means that the second ends while the first is open.
	Passes bool
	// Free is a statement that succeeds while the second waits, because the second has
	// not locked those rows yet.
	Free string
	// Code is the SQLSTATE with which the second ends; empty means success.
	Code string
	// Then is a query that returns true when both are over. Without it the second is
	// rolled back, and the data is as before.
	Then string
}

// Play plays overlaps one after the other. words are replaced in all statements.
func (db *DB) Play(t testing.TB, words *strings.Replacer, overlaps ...Overlap) {
	t.Helper()
	var conns [3]*pgx.Conn
	for i := range conns {
		conn, err := pgx.Connect(t.Context(), db.direct)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(context.Background())
		conns[i] = conn
	}
	for _, o := range overlaps {
		o.play(t, words, conns[0], conns[1], conns[2])
	}
}

func (o Overlap) play(t testing.TB, words *strings.Replacer, one, other, watcher *pgx.Conn) {
	t.Helper()
	ctx := t.Context()
	must := func(c *pgx.Conn, sql string) {
		t.Helper()
		if _, err := c.Exec(ctx, sql); err != nil {
			t.Fatalf("%s: %s: %v", o.Name, sql, err)
		}
	}
	must(one, "begin")
	must(one, words.Replace(o.First))
	must(other, "begin")
	done := make(chan error, 1)
	go func() {
		_, err := other.Exec(ctx, words.Replace(o.Second))
		done <- err
	}()
	waited, patience := false, time.Now().Add(10*time.Second)
	testwait.Every(t, time.Millisecond, o.Name+": the second ends or waits", func() bool {
		err := watcher.QueryRow(ctx, `select cardinality(pg_blocking_pids($1)) > 0`, other.PgConn().PID()).Scan(&waited)
		if err != nil {
			t.Fatal(err)
		}
		return waited && (!o.Passes || time.Now().After(patience)) || len(done) > 0
	})
	switch {
	case o.Passes && len(done) == 0:
		t.Errorf("%s: the second waits for the first", o.Name)
	case !waited && !o.Passes:
		t.Errorf("%s: the second does not wait for the first", o.Name)
	case o.Free != "":
		if _, err := watcher.Exec(ctx, words.Replace(o.Free)); err != nil {
			t.Errorf("%s: while the second waits, %s: %v", o.Name, o.Free, err)
		}
	}
	must(one, "commit")
	err := <-done
	state := new(pgconn.PgError)
	if err != nil && !errors.As(err, &state) {
		t.Fatalf("%s: %v", o.Name, err)
	}
	if state.Code != o.Code {
		t.Errorf("%s: the second ends with %q, want %q: %v", o.Name, state.Code, o.Code, err)
	}
	if o.Then == "" || err != nil {
		must(other, "rollback")
	} else if _, err := other.Exec(ctx, "commit"); err != nil {
		t.Errorf("%s: %v", o.Name, err)
	}
	if o.Then == "" {
		return
	}
	var so bool
	if err := watcher.QueryRow(ctx, words.Replace(o.Then)).Scan(&so); err != nil {
		t.Fatalf("%s: %s: %v", o.Name, o.Then, err)
	}
	if !so {
		t.Errorf("%s: it is not so that %s", o.Name, words.Replace(o.Then))
	}
}
